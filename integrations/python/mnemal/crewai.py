"""CrewAI on mnemal: a storage backend for its memory.

The text of a record is a note, which recall, contexts and every other surface know. What else a record has, and the vector
that CrewAI made of it, lies in events without words.
"""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta, timezone
from typing import Any

from crewai.memory.types import MemoryRecord, ScopeInfo
from crewai.memory.utils import normalize_scope_path

from ._items import Entry, Items
from ._notes import Notes, joined, split
from ._vectors import check, nearest, packed, unpacked
from .client import MnemalError
from .memory import Mnemal

MARK = "crewai"
# What is read again of the events that were read already: who writes at the same time may come a little later.
OVERLAP = timedelta(minutes=1)


class MnemalStorage:
    """The records of one user, or of nobody: `Memory(storage=MnemalStorage(Mnemal("demo"), user="ana"))`.

    Two users never see each other's records. CrewAI makes the vectors, and searches compare all of them.
    """

    def __init__(self, memory: Mnemal, user: str | None = None):
        self.memory, self.user = memory, user
        self._items, self._notes = Items(memory, MARK, MARK, user), Notes(memory, MARK, user)
        # The events that were read, by their ids; notes say which of them still count.
        self._known: dict[str, Any] = {}
        self._read_until: datetime | None = None

    def save(self, records: list[MemoryRecord]) -> None:
        """Stores records; one of an id that is known replaces it."""
        found = self._all()
        check([*(record for record, _, _ in found.values()), *records])
        held = [error for record in records if (error := self._store(record, found))]
        if held:
            raise held[0]

    def update(self, record: MemoryRecord) -> None:
        """Replaces the record of the same id."""
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Returns the records whose vectors are nearest by their cosine, best first."""
        found = [one for one in self._passing(scope_prefix, categories, metadata=metadata_filter) if one.embedding]
        if not found or limit <= 0:
            return []
        check([*found, MemoryRecord(content="", embedding=query_embedding)])
        best = nearest(found, query_embedding)
        return [(record, score) for record, score in best if score >= min_score][:limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erases the records that pass all that is given, and returns how many these were."""
        found = self._all()
        gone = self._passing(scope_prefix, categories, record_ids, older_than, metadata_filter, found)
        self._items.forget(event for record in gone for event in found[record.id][1])
        self._notes.forget([found[record.id][2] for record in gone])
        return len(gone)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Returns a record, or nothing."""
        found = self._all().get(record_id)
        return found[0] if found else None

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """Lists the records of a scope, newest first."""
        found = sorted(self._passing(scope_prefix), key=lambda one: one.created_at, reverse=True)
        return found[offset : offset + limit] if limit > 0 and offset >= 0 else []

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Tells what is in a scope."""
        found = self._passing(scope)
        times = [one.created_at for one in found]
        return ScopeInfo(
            path=scope.rstrip("/") or "/", record_count=len(found), categories=sorted(self.list_categories(scope)),
            oldest_record=min(times, default=None), newest_record=max(times, default=None), child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Lists the scopes right below one."""
        prefix = normalize_scope_path(parent).rstrip("/") + "/"
        below = (one.scope[len(prefix) :].split("/")[0] for one in self._passing(parent) if one.scope.startswith(prefix))
        return sorted({prefix + first for first in below if first})

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Counts the records of each category."""
        counts: dict[str, int] = {}
        for category in (category for one in self._passing(scope_prefix) for category in one.categories):
            counts[category] = counts.get(category, 0) + 1
        return counts

    def count(self, scope_prefix: str | None = None) -> int:
        """Counts the records of a scope."""
        return len(self._passing(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Erases the records of a scope, or all of them."""
        self.delete(scope_prefix)

    def touch_records(self, record_ids: list[str]) -> None:
        """Notes that records were told."""
        if record_ids:
            self._items.add(Entry({"told": record_ids, "at": datetime.now(timezone.utc).replace(tzinfo=None).isoformat()}))

    async def asave(self, *args: Any, **options: Any) -> None:
        """Stores records, on a thread."""
        await asyncio.to_thread(self.save, *args, **options)

    async def asearch(self, *args: Any, **options: Any) -> list[tuple[MemoryRecord, float]]:
        """Searches, on a thread."""
        return await asyncio.to_thread(self.search, *args, **options)

    async def adelete(self, *args: Any, **options: Any) -> int:
        """Erases, on a thread."""
        return await asyncio.to_thread(self.delete, *args, **options)

    def _store(self, record: MemoryRecord, found: dict[str, Any]) -> MnemalError | None:
        """Stores one record; returns the error if it is held back."""
        held, old, (note, rest) = None, found.get(record.id), split(record.content)
        times = {name: getattr(record, name).isoformat() for name in ("created_at", "last_accessed")}
        more = record.model_dump(exclude={"content", *times})
        value = {**more, **times, **rest, "vector": packed(record.embedding)}
        # What is no value of JSON is told before anything is stored.
        json.dumps(value)
        try:
            self._notes.put(record.id, note, importance=record.importance)
        except MnemalError as error:
            if error.code != "held_back":
                raise
            held = error
            if old:
                return held
        self._items.add(Entry({"id": record.id, "value": value}))
        if old:
            self._items.forget(old[1])
        return held

    def _all(self) -> dict[str, tuple[MemoryRecord, list[str], Any]]:
        """Returns each record with the events of its frame, and its note."""
        since = {"since": (self._read_until - OVERLAP).isoformat()} if self._read_until else {}
        for event in self._items.events(channel=MARK, **since):
            self._known[event["id"]] = event
            at = datetime.fromisoformat(event["occurred_at"].replace("Z", "+00:00"))
            self._read_until = max(at, self._read_until or at)
        notes, found = self._notes.all(), {}
        for one in self._items.read(list(self._known.values())):
            for told in one.value.get("told", ()):
                if told in found:
                    found[told][0].last_accessed = datetime.fromisoformat(one.value["at"])
            if "id" in one.value and (note := notes.get(self._notes.key(one.value["id"]))):
                kept = one.value["value"]
                value = {**kept, "embedding": unpacked(kept["vector"])}
                record = MemoryRecord(content=joined(note["content"], value), **value)
                found[record.id] = (record, one.events, note)
        return found

    def _passing(
        self,
        scope: str | None = None,
        categories: list[str] | None = None,
        ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata: dict[str, Any] | None = None,
        found: dict[str, Any] | None = None,
    ) -> list[MemoryRecord]:
        prefix = normalize_scope_path(scope or "/").rstrip("/")
        return [
            one for one, _, _ in (self._all() if found is None else found).values()
            if (not prefix or one.scope == prefix or one.scope.startswith(prefix + "/"))
            and (not categories or any(category in one.categories for category in categories))
            and (not ids or one.id in ids)
            and (older_than is None or one.created_at < older_than)
            and all(one.metadata.get(name) == value for name, value in (metadata or {}).items())
        ]
