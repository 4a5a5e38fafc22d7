"""LlamaIndex on mnemal: the chat store of a `Memory`, and a memory block that knows what was said long ago.

Each message comes back whole and in its order. What it says is known to recall, contexts and answers.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from llama_index.core.base.llms.types import ChatMessage, TextBlock
from llama_index.core.bridge.pydantic import ConfigDict
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

from ._calls import PAGE, is_there, pages, run_to_end
from ._frames import Said
from ._items import ASSISTANT, SYSTEM, USER, Entry, Items, tool_result
from ._parts import Item
from .memory import Mnemal

MARK = "llama-index"


class _Kept(NamedTuple):
    """A message that is there, and whether it is active or archived."""

    item: Item
    status: str


class MnemalChatStore(AsyncDBChatStore):
    """The messages of conversations: `Memory.from_defaults(session_id="chat-1", chat_store=MnemalChatStore(memory=Mnemal("demo")))`.

    A key is the conversation of that name, with `user` this user's alone. What is deleted is erased for good, as is what
    `set_messages` leaves out; messages that it leaves in stay what they are. A message is deleted by its place among all.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Mnemal
    user: str | None = None

    async def get_messages(
        self,
        key: str, status: MessageStatus | None = MessageStatus.ACTIVE, limit: int | None = None, offset: int | None = None
    ) -> list[ChatMessage]:
        """Returns messages, oldest first."""
        start = offset or 0
        kept = (await self._kept(key, status))[start : None if limit is None else start + limit]
        return [_message(one.item) for one in kept]

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:
        """Returns how many messages there are."""
        return len(await self._kept(key, status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Adds a message."""
        await self.add_messages(key, [message], status)

    async def add_messages(self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Adds messages in their order."""
        await run_to_end(self._items(key).add, *(_entry(message, status) for message in messages))

    async def set_messages(self, key: str, messages: list[ChatMessage], status: MessageStatus = MessageStatus.ACTIVE) -> None:
        """Makes these the messages of a conversation, instead of all others, archived ones too."""
        await run_to_end(self._set, key, [_entry(message, status) for message in messages], status)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        """Erases the message at a place, counted from 0 among all of the conversation, and returns it."""
        return next(iter(await self._erase(key, None, lambda kept: kept[idx : idx + 1] if idx >= 0 else [])), None)

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        """Erases messages; without a status the whole conversation."""
        if status is None:
            await run_to_end(self._items(key).clear)
        else:
            await self._erase(key, status, lambda kept: kept)

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Erases the oldest active messages and returns them."""
        return await self._erase(key, MessageStatus.ACTIVE, lambda kept: kept[:n])

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """Archives the oldest active messages and returns them."""
        if oldest := (await self._kept(key, MessageStatus.ACTIVE))[:n]:
            await run_to_end(self._items(key).add, Entry({"archived": [one.item.id for one in oldest]}))
        return [_message(one.item) for one in oldest]

    async def get_keys(self) -> list[str]:
        """Returns the names of conversations that have messages."""
        client, space = self.memory.client, self.memory.space
        ask = lambda **place: client.session_list(space, user=self.user, limit=PAGE, **place)
        names = await asyncio.to_thread(lambda: [one["id"] for one in pages(ask)])
        return [name for name in names if await self._kept(name, None)]

    def _items(self, key: str) -> Items:
        return Items(self.memory, MARK, key, self.user)

    async def _kept(self, key: str, status: MessageStatus | None) -> list[_Kept]:
        return await asyncio.to_thread(_read, self._items(key), status)

    async def _erase(
        self, key: str, status: MessageStatus | None, choose: Callable[[list[_Kept]], list[_Kept]]
    ) -> list[ChatMessage]:
        def act() -> list[_Kept]:
            items = self._items(key)
            taken = [one for one in choose(_read(items, status)) if items.take(one.item)]
            items.erase_taken()
            return taken

        return [_message(one.item) for one in await run_to_end(act)]

    def _set(self, key: str, entries: list[Entry], status: MessageStatus) -> None:
        """Stores what is new together with the order of all, then erases what is left out."""
        items = self._items(key)
        old = _fold(items.read())
        known = {one.item.id for one in old}
        free: dict[str, list[str]] = {}
        for one in reversed(old):
            free.setdefault(_alike(one.item.value), []).append(one.item.id)
        order, new = [], []
        for entry in entries:
            same = free.get(_alike(entry.value))
            order.append(same.pop() if same else str(uuid.uuid4()))
            if order[-1] not in known:
                new.append(entry._replace(id=order[-1]))
        items.add(*new, Entry({"order": order, "as": status.value}))
        for one in old:
            if one.item.id not in order:
                items.take(one.item)
        items.erase_taken()


class MnemalMemoryBlock(BaseMemoryBlock[str]):
    """What matters for the conversation, of all that is known of the user: `MnemalMemoryBlock(memory=Mnemal("demo"), user="ana")`.

    It gives a context within `budget_tokens` for the last messages. What leaves the short-term memory is logged, so that it is
    known from then on; with a `MnemalChatStore` that is so anyway: then say `accept_short_term_memory=False`.
    """

    name: str = "mnemal"
    description: str | None = "What the user said and what is known of it"
    memory: Mnemal
    user: str | None = None
    budget_tokens: int = 1_000
    last: int = 3

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = [message.content or "" for message in messages or () if message.role.value == "user"][-self.last :]
        if not "".join(asked).strip():
            return ""
        told = {"text": ""}
        where = {"user": self.user, "budget_tokens": self.budget_tokens}
        # There is no space before somebody writes to it.
        await asyncio.to_thread(is_there, lambda: told.update(self.memory.context("\n".join(asked), **where)))
        return told["text"]

    async def _aput(self, messages: list[ChatMessage]) -> None:
        sessions: dict[str, list[Entry]] = {}
        for message in messages:
            more = dict(message.additional_kwargs)
            session = more.pop("session_id", None) or MARK
            entry = _entry(message.model_copy(update={"additional_kwargs": more}), MessageStatus.ARCHIVED)
            sessions.setdefault(session, []).append(entry)
        for session, entries in sessions.items():
            await run_to_end(Items(self.memory, f"{MARK}-block", session, self.user).add, *entries)


def _read(items: Items, status: MessageStatus | None) -> list[_Kept]:
    return [one for one in _fold(items.read()) if status is None or one.status == status.value]


def _fold(items: list[Item]) -> list[_Kept]:
    """Returns the messages that are there after all items, in their order."""
    kept: dict[str, _Kept] = {}
    for item in items:
        if "message" in item.value:
            kept[item.id] = _Kept(item, item.value["status"])
        elif "order" in item.value:
            kept = {name: kept[name]._replace(status=item.value["as"]) for name in item.value["order"] if name in kept}
        else:
            archived = item.value["archived"]
            kept = {name: one._replace(status="archived") if name in archived else one for name, one in kept.items()}
    return list(kept.values())


def _entry(message: ChatMessage, status: MessageStatus) -> Entry:
    value = message.model_dump(mode="json")
    tool = value["additional_kwargs"].get("name")
    kinds = {"user": USER, "assistant": ASSISTANT, "chatbot": ASSISTANT, "model": ASSISTANT}
    kind = kinds.get(message.role.value) or (tool_result(str(tool or "")) if message.role.value in ("tool", "function") else SYSTEM)
    texts = [place for place, block in enumerate(message.blocks) if isinstance(block, TextBlock) and block.text]
    said = [Said(("message", "blocks", place, "text"), kind) for place in texts]
    return Entry({"message": value, "status": status.value}, said)


def _message(item: Item) -> ChatMessage:
    return ChatMessage.model_validate(item.value["message"])


def _alike(value: Any) -> str:
    """Returns what two messages have in common that are the same."""
    return json.dumps(value["message"], sort_keys=True)
