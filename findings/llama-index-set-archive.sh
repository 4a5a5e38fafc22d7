#!/usr/bin/env bash
# llama-index-core 0.14.25: setting the messages of a Memory erases its archive, and a message is deleted by the number of its row.
# Seen: `Memory.aset` of the active messages, which changes nothing of them, drops every archived one, though `set_messages` is called
# with the status `active`. `SQLAlchemyChatStore.delete_message(key, idx)` takes for `idx` the number of a row of the whole table: 0 is
# no message, and 1 is one of the first key alone; `SimpleChatStore` takes the place of the message in its conversation.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install llama-index-core==0.14.25 aiosqlite
v/bin/python -W ignore - <<'P'
import asyncio
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

async def main():
    memory = Memory.from_defaults(session_id="s", token_limit=100, token_flush_size=10, tokenizer_fn=str.split)
    for n in range(20):
        await memory.aput(ChatMessage(role=("user", "assistant")[n % 2], content=f"{n} " + "word " * 14))
    active = await memory.sql_store.get_messages("s")
    before = len(await memory.aget_all())
    await memory.aset(active)
    after = len(await memory.aget_all())
    print("active:", len(active)); print("with the archive:", before); print("after the active ones are set:", after)
    assert len(active) < before == 20 and after == len(active)
    rows, places = SQLAlchemyChatStore(table_name="t"), SimpleChatStore()
    for key in "ab":
        for n in range(3):
            await rows.add_message(key, ChatMessage(role="user", content=f"{key}{n}"))
            places.add_message(key, ChatMessage(role="user", content=f"{key}{n}"))
    seen = [getattr(await rows.delete_message("b", idx), "content", None) for idx in (0, 1, 4)]
    print("SQLAlchemyChatStore deletes 0, 1, 4 of b:", seen); print("SimpleChatStore deletes 0 of b:", places.delete_message("b", 0).content)
    assert seen == [None, None, "b0"]

asyncio.run(main())
P
