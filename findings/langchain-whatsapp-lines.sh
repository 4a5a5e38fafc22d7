#!/usr/bin/env bash
# langchain-community 0.4.2; seen 2026-12-01: two classes called `WhatsAppChatLoader` read other messages of one file, and neither all of them.
# Expected: both give each message of an exported chat, whole, with its writer, whoever that is; so does the loader for Telegram.
# Seen: the document loader keeps the first line of a message, and nothing of a writer whose name has a hyphen or a dot or, as for those who are
# not among the contacts, is a number with "+": "My allergies:" stays, and the list under it is gone. The chat loader
# knows these names and joins the lines; of a file whose times have no seconds, as phones with Android write it, it reads nothing, what
# WhatsApp itself says ("Ana added Dora") it writes to the end of the last message, and a message that begins with "image
# omitted" is left out whole. `TelegramChatFileLoader` leaves out every message with a link or a bold word.
# For a user: the memory does not know what people wrote in several lines, nor some of the people, and no error says so.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langchain-community==0.4.2; v/bin/pip list --format=freeze | grep '^langchain-community=='
cat > phone.txt <<'T'
[12/11/2026, 10:15:00] Ana: My allergies:
- nuts
- wool
[12/11/2026, 10:16:00] Ana-Maria: I moved to Oslo
[12/11/2026, 10:17:00] +47 912 34 567: This is Ben
[12/11/2026, 10:18:00] Dr. Kim: See you on Monday
[12/11/2026, 10:19:00] Carla: ok
[12/11/2026, 10:20:00] Ana added Dora
[12/11/2026, 10:21:00] Dora: image omitted from my talk, sorry
T
sed -E 's/^\[(.*):00\] /\1 - /' phone.txt > android.txt
cat > telegram.json <<'T'
{"name": "Trip", "type": "private_group", "id": 1, "messages": [
  {"id": 1, "type": "message", "date": "2026-11-12T10:15:00", "from": "Ana", "text": "I moved to Oslo"},
  {"id": 2, "type": "message", "date": "2026-11-12T10:16:00", "from": "Ben", "text": ["I am ", {"type": "bold", "text": "not"}, " allergic"]},
  {"id": 3, "type": "message", "date": "2026-11-12T10:17:00", "from": "Ana", "text": ["We sleep at ", {"type": "link", "text": "example.org"}]}]}
T
v/bin/python -W ignore - <<'P'
from langchain_community.chat_loaders.whatsapp import WhatsAppChatLoader as Chat
from langchain_community.document_loaders import TelegramChatFileLoader, WhatsAppChatLoader as Documents

def lines(documents): return [line for one in documents for line in one.page_content.split("\n\n") if line]
def document_loader(file): return [line.split(" on ", 1)[0] + line[line.index(": "):] for line in lines(Documents(file).load())]
def chat_loader(file): return [f"{one.additional_kwargs['sender']}: {one.content}" for chat in Chat(file).load() for one in chat["messages"]]

seen = {f"{loader.__name__}, {file}": loader(f"{file}.txt") for file in ("phone", "android") for loader in (document_loader, chat_loader)}
seen["Telegram"] = lines(TelegramChatFileLoader("telegram.json").load())
for what, answer in seen.items(): print(f"{what}: {answer}")
documents = ["Ana: My allergies:", "Carla: ok", "Dora: image omitted from my talk, sorry"]
assert list(seen.values()) == [
    documents, ["Ana: My allergies: - nuts - wool", "Ana-Maria: I moved to Oslo", "+47 912 34 567: This is Ben", "Dr. Kim: See you on Monday",
                "Carla: ok [12/11/2026, 10:20:00] Ana added Dora"],
    documents, [], ["Ana on 2026-11-12T10:15:00: I moved to Oslo"],
]
P
