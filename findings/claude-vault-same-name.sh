#!/usr/bin/env bash
# claude-vault 0.9.1; seen 2026-11-30: of two conversations of one day with the same name, only the later one is in the vault.
# Expected: each conversation of Claude's export becomes a file of the vault, and `verify` tells of one that is not there.
# Seen: `_generate_path` makes the name of the file from the day and the letters of the title, cut after 50, and `save` writes it whether there
# is one or not. "Trip" and "Trip?" of one day are one file, and so are all conversations of a day that have no title. The second
# overwrites the first, `sync` counts both as new and at the next time as unchanged, and `verify` finds all in order, as for each
# recorded conversation there is a file, of which it does not compare the `uuid`. Going on with the first one overwrites the second.
# For a user: quick questions without a title are gone but for the last of each day, and the export can be thrown away in good faith.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export HOME=$folder NO_COLOR=1
python3 -m venv v; v/bin/pip -q install claude-vault==0.9.1 2>/dev/null; v/bin/pip list --format=freeze | grep '^claude-vault=='
v/bin/python - <<'P' > conversations.json
import json
chats = [("c1", "Trip", "Plan Oslo"), ("c2", "Trip?", "Plan Rome"), ("c3", "", "I am allergic to nuts"), ("c4", "", "What is 2 + 2")]
print(json.dumps([{
    "uuid": id, "name": name, "created_at": f"2026-11-28T1{hour}:00:00Z", "updated_at": f"2026-11-28T1{hour}:05:00Z",
    "chat_messages": [{"uuid": f"{id}-1", "sender": "human", "text": text, "created_at": f"2026-11-28T1{hour}:00:00Z"}],
} for hour, (id, name, text) in enumerate(chats)]))
P
v/bin/claude-vault init >/dev/null 2>&1
count() { v/bin/claude-vault sync conversations.json 2>&1 | grep -oE "(New conversations|Updated|Unchanged) +│ +[0-9]+" | tr -s ' │' ' ' | paste -sd, ; }
first=$(count) second=$(count) verified=$(v/bin/claude-vault verify 2>&1 | grep -oE "All conversations verified successfully|Found.*" || true)
echo "conversations exported: 4; sync: $first; again: $second"; echo "verify: $verified"
for file in conversations/*.md; do echo "$file: $(grep -E '^uuid' "$file"), $(sed '1,/^## /d' "$file" | paste -sd' ' | tr -s ' ')"; done
[[ $first == *"New conversations 4"* && $second == *"Unchanged 4"* && $verified == All* ]]
[[ $(ls conversations | paste -sd' ') == "2026-11-28-.md 2026-11-28-Trip.md" ]]
! grep -rqE "Plan Oslo|allergic" conversations
