#!/usr/bin/env bash
# chat-miner 0.6.0; seen 2026-11-30: messages of an Instagram export that contain "to your message" are not read, nor words of Telegram as written.
# Expected: the parser leaves out what Instagram itself wrote, and gives every message of a person as it stands in the file.
# Seen: `InstagramJsonParser` leaves out each message that has one of six pieces of English anywhere in it, such as "to your message", "liked a
# message" and "in the poll.", whoever wrote it and whatever else it says, without a word; what Instagram writes as "Liked a message" has
# a capital letter and stays. `TelegramJsonParser` joins the parts of a message with blanks, so that a word of which a part is
# bold becomes two: a code of six letters of which three are bold is no longer found.
# For a user: "I will get to your message tonight" is lost, and "Liked a message" is what Ben said.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install chat-miner==0.6.0; v/bin/pip list --format=freeze | grep '^chat-miner=='
v/bin/python -W ignore 2>/dev/null - <<'P'
import json
from chatminer.chatparsers import InstagramJsonParser, TelegramJsonParser

def read(parser, messages):
    with open("chat.json", "w") as file: json.dump({"messages": messages}, file)
    chat = parser("chat.json")
    chat.parse_file()
    chat.parsed_messages.write_to_json("read.json")
    return [message["message"] for message in json.load(open("read.json"))]

said = ["Hi", "I will get to your message tonight", "My allergies are in the poll. Nuts!", "Nobody liked a message of mine", "Liked a message"]
instagram = read(InstagramJsonParser, [dict(sender_name="Ben", timestamp_ms=1764320000000 + at, content=text) for at, text in enumerate(said)])
text = ["the code is ", {"type": "bold", "text": "ABC"}, "DEF"]
telegram = read(TelegramJsonParser, [{"type": "message", "from": "Ben", "date_unixtime": "1764320000", "text": text}])
print("Instagram, in the file:", said); print("Instagram, read:", instagram); print("Telegram, in the file: the code is **ABC**DEF"); print("Telegram, read:", telegram)
assert instagram == ["Hi", "Liked a message"] and telegram == ["the code is  ABC DEF"]
P
