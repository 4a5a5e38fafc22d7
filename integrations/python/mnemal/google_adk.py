"""Google's Agent Development Kit on mnemal: a memory service over one space.

Events of sessions are turns and come back whole; what is added as a memory is a note.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from ._calls import held_back, is_there, run_to_end
from ._frames import Frame, Said
from ._items import ASSISTANT, USER, Entry, Items, tool_result
from ._parts import Item, Parts
from .memory import Mnemal

MARK = "google-adk"
# The conversation of events that come without one.
SESSION = "google-adk"


class MnemalMemoryService(BaseMemoryService):
    """The memory of ADK's runner: `Runner(…, memory_service=MnemalMemoryService(Mnemal("demo")))`.

    A user of an app is the user `app/user` of mnemal: nobody sees another's, nor what another app knows of them. An event is
    stored once, however often its session is added, and one that was deleted does not come back. A search gives at most `k`
    memories, best first: turns with all their parts, and notes, of this user.
    """

    def __init__(self, memory: Mnemal, *, k: int = 10):
        self.memory, self.k = memory, k

    async def add_session_to_memory(self, session: Session) -> None:
        """Stores the events of a session that are not there yet."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores events that are not there yet; `custom_metadata` comes back with each."""
        user, session = _user(app_name, user_id), session_id or SESSION
        entries = [
            _entry(event, user, session, dict(custom_metadata or {}))
            for event in events
            if event.content and event.content.parts and not event.partial
        ]
        await run_to_end(self._add, Items(self.memory, MARK, session, user), entries)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores each memory as a note of the user; it must say something, and may have 15 kB beside its words."""
        for memory in memories:
            await run_to_end(self._note, memory, dict(custom_metadata or {}), _user(app_name, user_id))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Finds turns and notes of the user, best first."""
        found = await asyncio.to_thread(self._search, _user(app_name, user_id), query)
        return SearchMemoryResponse(memories=found)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erases a memory that a search gave; one that is not there is no error."""
        if memory_id:
            await run_to_end(self._delete, _user(app_name, user_id), memory_id)

    def _add(self, items: Items, entries: list[Entry]) -> None:
        known = {item.id for item in items.read()}
        fresh = {entry.id: entry for entry in entries if entry.id not in known}
        items.add(*fresh.values())

    def _note(self, memory: MemoryEntry, custom: dict[str, Any], user: str) -> None:
        value = memory.model_dump(mode="json", exclude_none=True, exclude={"id"})
        value["custom_metadata"] = {**custom, **memory.custom_metadata}
        texts = [(place, part.text) for place, part in enumerate(memory.content.parts or ()) if part.text]
        # The words of one part are the note itself; of several they stand beside it as well.
        said = [Said(("content", "parts", place, "text"), {}) for place, _ in texts] if len(texts) == 1 else []
        metadata = {**Frame(value, said).fields(MARK), f"{MARK}.said": "0 0/1"}
        words = "\n".join(text for _, text in texts)
        stored = self.memory.remember(words, user=user, metadata=metadata, writer="application")
        if stored["status"] == "quarantined":
            raise held_back("the memory", stored)

    def _search(self, user: str, query: str) -> list[MemoryEntry]:
        if not query.strip():
            return []
        hits: list[Any] = []
        # There is no space before somebody writes to it.
        is_there(lambda: hits.extend(self.memory.recall(query, user=user, limit=self.k, max_tokens=1_000_000)))
        sessions: dict[str, dict[str, Item]] = {}
        found: dict[str, MemoryEntry] = {}
        for hit in hits:
            fields = hit.get("metadata") or {}
            if (name := fields.get(f"{MARK}.item")) is None:
                found.setdefault(hit["id"], _from_note(hit, fields))
                continue
            session = hit["session"]
            if session not in sessions:
                sessions[session] = {item.id: item for item in Items(self.memory, MARK, session, user).read()}
            if (item := sessions[session].get(name)) is not None:
                found.setdefault(item.id, _from_item(item, session))
        return list(found.values())

    def _delete(self, user: str, name: str) -> None:
        client, space = self.memory.client, self.memory.space
        # Of a turn it is the session and the item, of a note the event.
        session, dot, one = name.rpartition("#")
        if dot:
            items = Items(self.memory, MARK, session, user)
            for item in items.read():
                if item.id == one:
                    items.take(item)
            items.erase_taken()
            return
        if not is_there(lambda: client.memory_forget(space, name, user=user)):
            is_there(lambda: client.event_forget(space, name, user=user))


def _user(app_name: str, user_id: str) -> str:
    return f"{quote(app_name, safe=' ')}/{user_id}"


def _entry(event: Event, user: str, session: str, custom: dict[str, Any]) -> Entry:
    assert event.content is not None
    value = {
        "content": event.content.model_dump(mode="json", exclude_none=True),
        "author": event.author, "timestamp": event.timestamp, "custom_metadata": custom,
    }
    is_user = event.author == "user"
    kind = USER if is_user else {**ASSISTANT, **({"speaker": event.author} if event.author else {})}
    said = []
    for place, part in enumerate(value["content"]["parts"]):
        if part.get("text") and not part.get("thought"):
            said.append(Said(("content", "parts", place, "text"), kind))
        answer = part.get("function_response") or {}
        for name, text in (answer.get("response") or {}).items():
            if isinstance(text, str):
                path = ("content", "parts", place, "function_response", "response", name)
                said.append(Said(path, tool_result(answer.get("name"), ok=name != "error")))
    # One event of a session is one item, whoever stores it and however often.
    name = hashlib.sha256(json.dumps([user, session, event.id]).encode()).hexdigest()[:32]
    at = datetime.fromtimestamp(event.timestamp, timezone.utc).isoformat()
    return Entry(value, said, name, f"{MARK}-{name}", {"occurred_at": at})


def _from_item(item: Item, session: str) -> MemoryEntry:
    value = item.value
    return MemoryEntry(
        id=f"{session}#{item.id}",
        content=types.Content.model_validate(value["content"]),
        author=value["author"],
        timestamp=datetime.fromtimestamp(value["timestamp"], timezone.utc).isoformat(),
        custom_metadata=value["custom_metadata"],
    )


def _from_note(hit: Any, fields: dict[str, Any]) -> MemoryEntry:
    parts = Parts(MARK, hit["id"])
    parts.add(hit, fields)
    if item := parts.item({hit["id"]: hit["text"]}):
        return MemoryEntry.model_validate({"timestamp": hit["occurred_at"], **item.value, "id": hit["id"]})
    content = types.Content(role="user", parts=[types.Part(text=hit["text"])])
    return MemoryEntry(id=hit["id"], content=content, author=hit.get("speaker") or hit["role"], timestamp=hit["occurred_at"])
