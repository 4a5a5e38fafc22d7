#!/usr/bin/env bash
# chatgpt-to-sqlite 1.0.0; seen 2026-11-30: what was said aloud is not in the database that it makes of a ChatGPT export.
# Expected: the transcription, which the export holds as the `text` of an `audio_transcription` part, is the text of the message.
# Seen: only the first part of a message that is a plain string is kept. A spoken question and its spoken answer get no row, and
# nothing is printed about it; of a message of two plain parts the second is missing, and of a spoken one with a typed caption
# only the caption is there. The conversation is listed all the same, with its title and its times.
# For a user: an archive or a memory that is filled from this database lacks voice chats, and looks complete.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install chatgpt-to-sqlite==1.0.0 sqlite-utils==3.39
v/bin/pip list --format=freeze | grep -E '^(chatgpt-to-sqlite|sqlite-utils)=='
cat > make.py <<'P'
import json
def spoken(text, direction):
    return [{"content_type": "audio_transcription", "text": text, "direction": direction, "decoding_id": None},
            {"content_type": "audio_asset_pointer", "asset_pointer": "file-service://file-1", "format": "wav", "size_bytes": 9}]
turns = [
    ("user", "text", ["Hello"]),
    ("assistant", "text", ["Hello Ana"]),
    ("user", "multimodal_text", spoken("My sister Mira is allergic to peanuts", "in")),
    ("assistant", "multimodal_text", spoken("Noted: no peanuts for Mira", "out")),
    ("user", "text", ["Mira comes on Friday", "She stays for two nights"]),
    ("user", "multimodal_text", spoken("This is the cake that I mean", "in") + ["The cake"]),
]
mapping, parent = {"root": {"id": "root", "message": None, "parent": None, "children": ["m0"]}}, "root"
for number, (role, kind, parts) in enumerate(turns):
    key = f"m{number}"
    mapping[key] = {"id": key, "parent": parent, "children": [f"m{number + 1}"] if number + 1 < len(turns) else [], "message": {
        "id": key, "author": {"role": role, "name": None, "metadata": {}}, "create_time": 1760000000.0 + number, "update_time": None,
        "content": {"content_type": kind, "parts": parts}, "status": "finished_successfully", "end_turn": True, "weight": 1.0,
        "metadata": {}, "recipient": "all", "channel": None}}
    parent = key
json.dump([{"id": "c", "conversation_id": "c", "title": "Visit", "create_time": 1760000000.0, "update_time": 1760000009.0,
            "mapping": mapping, "current_node": parent}], open("conversations.json", "w"))
P
python3 make.py
v/bin/chatgpt-to-sqlite conversations.json chat.db | tee printed.txt
v/bin/sqlite-utils rows chat.db messages -c message_id -c sender -c text --nl | tee rows.txt
[ "$(cat printed.txt)" = "Loaded 1 conversations." ]
diff rows.txt - <<'R'
{"message_id": "m0", "sender": "user", "text": "Hello"}
{"message_id": "m1", "sender": "assistant", "text": "Hello Ana"}
{"message_id": "m4", "sender": "user", "text": "Mira comes on Friday"}
{"message_id": "m5", "sender": "user", "text": "The cake"}
R
