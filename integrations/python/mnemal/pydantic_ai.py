"""Pydantic AI on mnemal: a store of conversations whose messages are turns of the log, and a tool that recalls.

A save is one call of the log: messages and record together, or a `ConversationConflict`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from pydantic_ai import ModelMessagesTypeAdapter
from pydantic_ai.conversation_store import ConversationConflict, ConversationEntry, ConversationRecord, ConversationStore

from ._calls import PAGE, pages, run_to_end
from ._items import Entry, Items
from ._parts import Item
from ._pydantic_parts import recall_tool, words_of
from .memory import Mnemal

__all__ = ["MnemalConversationStore", "recall_tool"]

MARK = "pydantic-ai"
# Messages before one that it knows of: so many in a row may be erased, and the history still holds together.
LINE = 8
RECORDS: TypeAdapter[ConversationRecord] = TypeAdapter(ConversationRecord)


class _State(NamedTuple):
    """A conversation as it stands."""

    record: ConversationRecord | None
    # The conversations in which its entries are stored: its own, and those that it was forked from.
    homes: list[str]
    # The ids of the last entries, newest first, and the revision from which the next save goes on.
    line: list[str]
    base: str | None
    items: list[Item]


class MnemalConversationStore(ConversationStore):
    """Conversations in one space: `store = MnemalConversationStore(Mnemal("demo"))`.

    A conversation is the session of the same id, and its `scope` the user of mnemal. What users, models and tools say is known to
    recall and contexts. `delete` erases the messages that no other conversation has. A message of which somebody forgets all that
    it says is left out of the history; up to eight in a row may be.
    """

    def __init__(self, memory: Mnemal):
        self.memory = memory
        # By the newest entry of a history, its homes and its line.
        self._known: dict[str, tuple[list[str], list[str]]] = {}

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        return (await asyncio.to_thread(self._state, conversation_id)).record

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[ConversationRecord]:
        """Returns records, those that were saved last first."""
        states = await asyncio.to_thread(lambda: [self._state(name) for name in self._names(scope)])
        records = [state.record for state in states if state.record and scope in (None, state.record.scope)]
        return sorted(records, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self, record: ConversationRecord, *, new_entries: Sequence[ConversationEntry] = (), expected_revision: str | None
    ) -> None:
        """Stores entries and the record that names the last of them."""
        await run_to_end(self._write, record, list(new_entries), expected_revision)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Erases a conversation with all messages that no other conversation has."""
        await run_to_end(self._delete, conversation_id, expected_revision)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        return (await asyncio.to_thread(self._history, entry_id, 1))[-1]

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[ConversationEntry]:
        """Returns the entries up to one, oldest first, or the last of them."""
        return [] if head_id is None else await asyncio.to_thread(self._history, head_id, limit)

    def _items(self, name: str, scope: str | None = None) -> Items:
        return Items(self.memory, MARK, name, scope, is_anyones=scope is None)

    def _names(self, scope: str | None = None) -> list[str]:
        client, space = self.memory.client, self.memory.space
        return [one["id"] for one in pages(lambda **place: client.session_list(space, user=scope, limit=PAGE, **place))]

    def _state(self, name: str) -> _State:
        items = self._items(name).read()
        acts = [item.value for item in items if "revision" in item.value]
        last = acts[-1] if acts else {}
        if "record" not in last:
            return _State(None, [name], [], last.get("revision"), items)
        record = RECORDS.validate_python(last["record"])
        for tip in record.branches:
            self._known[tip] = (last["homes"], [tip])
        if record.head_id:
            self._known[record.head_id] = (last["homes"], last["line"])
        return _State(record, last["homes"], last["line"], record.revision, items)

    def _entries(self, homes: Sequence[str]) -> dict[str, Any]:
        values = (item.value for home in homes for item in self._items(home).read())
        return {value["id"]: value for value in values if "message" in value}

    def _history(self, head: str, limit: int | None) -> list[ConversationEntry]:
        if head not in self._known:
            for name in self._names():
                self._state(name)
        homes, line = self._known.get(head) or (self._names(), [head])
        entries = self._entries(homes)
        known: list[Any] = []
        while line and (limit is None or len(known) < limit):
            # What was erased is left out; without the newest and all that it knows of there is nothing.
            found = next((one for one in line if one in entries), None)
            if found is None:
                if not known:
                    raise LookupError(head)
                break
            known.append(entries[found])
            line = entries[found]["line"]
        known.reverse()
        messages = ModelMessagesTypeAdapter.validate_python([one["message"] for one in known])
        parents = [known[0]["line"][0] if known and known[0]["line"] else None, *(one["id"] for one in known)]
        rows = zip(known, parents, messages)
        return [ConversationEntry(id=one["id"], parent_id=parent, message=message) for one, parent, message in rows]

    def _write(self, record: ConversationRecord, new: list[ConversationEntry], expected: str | None) -> None:
        name = record.conversation_id
        state = self._state(name)
        if (state.record.revision if state.record else None) != expected:
            raise ConversationConflict(name)
        homes = list(state.homes)
        if state.record is None and record.forked_from:
            homes = list(dict.fromkeys([*homes, *self._state(record.forked_from).homes]))
        lines = {value["id"]: value["line"] for value in self._entries(homes).values()}
        entries = []
        for entry in new:
            line = _line(entry.parent_id, lines)
            lines[entry.id] = line
            [message] = ModelMessagesTypeAdapter.dump_python([entry.message], mode="json")
            entries.append(Entry({"id": entry.id, "line": line, "message": message}, words_of(message), entry.id))
        if record.head_id is not None and record.head_id not in lines and record.head_id not in state.line[:1]:
            raise ConversationConflict(name)
        line = state.line if state.line[:1] == [record.head_id] else _line(record.head_id, lines)
        act = {"revision": record.revision, "record": RECORDS.dump_python(record, mode="json"), "homes": homes, "line": line}
        base = state.base or self._begin(name, record.scope)
        if not self._items(name, record.scope).follow(entries, act, base):
            raise ConversationConflict(name)

    def _begin(self, name: str, scope: str | None) -> str:
        """Makes a place for a conversation that has none: the key of one that was erased is never free again."""
        turn = 0
        while (state := self._state(name)).base is None:
            # Of one that somebody else makes right now it waits for the first sign.
            if self._items(name, scope).follow([], {"revision": str(uuid.uuid4())}, f"none-{turn}") is None:
                turn += 1
        if state.record:
            raise ConversationConflict(name)
        return state.base

    def _delete(self, name: str, expected: str) -> None:
        state = self._state(name)
        if state.record is None or state.record.revision != expected:
            raise ConversationConflict(name)
        if not self._items(name, state.record.scope).follow([], {"revision": str(uuid.uuid4())}, expected):
            raise ConversationConflict(name)
        others = [self._state(one) for one in self._names() if one != name]
        needed: set[str] = set()
        for other in others:
            if other.record and set(other.homes) & set(state.homes):
                for tip in [other.record.head_id, *other.record.branches]:
                    needed |= {entry.id for entry in self._history(tip, None)} if tip else set()
        live = {other.record.conversation_id for other in others if other.record}
        for home in state.homes:
            own = self._items(home)
            if home == name and not needed & {item.id for item in state.items}:
                # All that is stored of it, whoever did so, and what was logged there of its user; nothing of anybody else.
                whose = state.record.scope
                own.forget(one["id"] for one in own.events() if one.get("channel") == MARK or one.get("user") == whose)
            elif home not in live:
                for item in own.read():
                    if item.id not in needed:
                        own.take(item)
                own.erase_taken()


def _line(parent: str | None, lines: dict[str, list[str]]) -> list[str]:
    return [] if parent is None else [parent, *lines.get(parent, ())][:LINE]
