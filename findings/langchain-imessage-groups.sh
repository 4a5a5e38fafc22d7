#!/usr/bin/env bash
# langchain-community 0.4.2; seen 2026-12-01: in a group chat of iMessage each message is told once for each member, as if that member had said it.
# Expected: `IMessageChatLoader` gives every message of a chat once, under the one who wrote it.
# Seen: it joins a message with the members of its chat (`chat_handle_join`) and not with its writer (`message.handle_id`). In a group of
# three others, "I am allergic to nuts" of Ana is said by Ana, Ben and Carla, and what the owner of the phone wrote by all three
# as well, marked `is_from_me`. Where the table of members is missing, the writer is right, and what the owner wrote is left out, in
# groups and between two, as it has 0 for its writer. No message says so; a chat with one other person is right with the table.
# For a user: three people are allergic, and what one says the other has said too.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langchain-community==0.4.2; v/bin/pip list --format=freeze | grep '^langchain-community=='
v/bin/python -W ignore - <<'P'
import sqlite3
from langchain_community.chat_loaders.imessage import IMessageChatLoader

base = sqlite3.connect("chat.db")
base.executescript("""
    CREATE TABLE message (ROWID INTEGER PRIMARY KEY, text TEXT, attributedBody BLOB, handle_id INTEGER DEFAULT 0, date INTEGER, is_from_me INTEGER DEFAULT 0);
    CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT);
    CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER);
    CREATE TABLE chat_handle_join (chat_id INTEGER, handle_id INTEGER);
    INSERT INTO handle VALUES (1, 'ana'), (2, 'ben'), (3, 'carla');
    INSERT INTO chat_handle_join VALUES (1, 1), (1, 2), (1, 3), (2, 1);
    INSERT INTO message (ROWID, text, handle_id, date, is_from_me) VALUES
        (1, 'I am allergic to nuts', 1, 700000000000000000, 0), (2, 'I bring a cake', 0, 700000001000000000, 1),
        (3, 'See you, Ana', 0, 700000002000000000, 1), (4, 'See you', 1, 700000003000000000, 0);
    INSERT INTO chat_message_join VALUES (1, 1), (1, 2), (2, 3), (2, 4);
""")
def told():
    base.commit()
    return [[(one.additional_kwargs["sender"], "me" if one.additional_kwargs["is_from_me"] else "they", one.content) for one in chat["messages"]]
            for chat in IMessageChatLoader("chat.db").load()]

with_members = told()
base.execute("DROP TABLE chat_handle_join")
without = told()
for what, chats in {"with the table of members": with_members, "without it": without}.items():
    print(what)
    for chat in chats: print("  a chat:", chat)
members = ("ana", "ben", "carla")
assert with_members == [
    [("ana", "me", "See you, Ana"), ("ana", "they", "See you")],
    [(member, "they", "I am allergic to nuts") for member in members] + [(member, "me", "I bring a cake") for member in members],
]
assert without == [[("ana", "they", "See you")], [("ana", "they", "I am allergic to nuts")]]
P
