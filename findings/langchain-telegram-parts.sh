#!/usr/bin/env bash
# langchain-community 0.4.2: the Telegram loaders lose or keep raw whatever has a link, a mention or a bold word.
# Seen: in Telegram's JSON export the `text` of such a message is a list of parts. `TelegramChatFileLoader` leaves the message out without a
# word; `TelegramChatLoader` gives the list as the content, whose parts no model knows, and an empty message for "created the group".
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langchain-community==0.4.2
cat >result.json <<'J'
{"name": "Boat club", "type": "private_group", "id": 1, "messages": [
  {"id": 1, "type": "service", "date": "2026-05-01T09:00:00", "actor": "Ana", "actor_id": "user1", "action": "create_group",
   "title": "Boat club", "members": ["Ana", "Ben"], "text": "", "text_entities": []},
  {"id": 2, "type": "message", "date": "2026-05-01T09:01:00", "from": "Ana", "from_id": "user1", "text": "The boat is called Wanda.",
   "text_entities": [{"type": "plain", "text": "The boat is called Wanda."}]},
  {"id": 3, "type": "message", "date": "2026-05-01T09:02:00", "from": "Ben", "from_id": "user2",
   "text": ["Our berth is ", {"type": "bold", "text": "12"}, "."],
   "text_entities": [{"type": "plain", "text": "Our berth is "}, {"type": "bold", "text": "12"}, {"type": "plain", "text": "."}]}
]}
J
v/bin/python -W ignore - <<'P'
from langchain_community.chat_loaders.telegram import TelegramChatLoader
from langchain_community.document_loaders import TelegramChatFileLoader

text = TelegramChatFileLoader("result.json").load()[0].page_content
messages = [message for session in TelegramChatLoader("result.json").lazy_load() for message in session["messages"]]
print("document:", repr(text))
for message in messages:
    print("message:", repr(message.content), "from", repr(message.additional_kwargs["sender"]))
assert "Wanda" in text and "berth" not in text and "12" not in text
assert [message.content for message in messages] == [
    "", "The boat is called Wanda.", ["Our berth is ", {"type": "bold", "text": "12"}, "."]
]
P
