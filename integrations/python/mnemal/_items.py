"""Items of frameworks in the log: each is a value of JSON that comes back whole, and what is said in it is memory.

Words are events of their own, known to recall and contexts, and stand nowhere else. The frame around them, and texts that
nobody says, are metadata of these events or of events without words. So words that are erased are gone from their item too, and
what says them again comes back as `[forgotten]`, as the log keeps it; an item whose words are all erased is not there.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ._calls import PAGE, is_there, leaves_nothing, pages
from ._frames import FORGOTTEN, Events, Frame, Said, cut_text
from ._parts import Item, Parts
from .client import MnemalError
from .memory import Mnemal

# Events of one call, and its bytes: a server takes 1 MiB as it is installed.
BATCH, BODY = 1_000, 900_000
# Bytes of words in one event, all of which is indexed, and of the fields of one: of 16 KiB with their names.
WORDS, FIELDS = 30_000, 14_000
# Bytes of a frame that stands beside words.
BESIDE = 2_000
# For its sake the write screen would hold back the words beside it.
BLOB = re.compile("[A-Za-z0-9+/=_-]{64,}")

USER = {"type": "message", "role": "user"}
ASSISTANT = {"type": "message", "role": "assistant"}
SYSTEM = {"type": "observation"}


def tool_call(tool: str | None) -> dict[str, Any]:
    """Returns the fields of an event that asks a tool."""
    return {"type": "tool_call", "tool_name": tool or "tool"}


def tool_result(tool: str | None, ok: bool = True) -> dict[str, Any]:
    """Returns the fields of an event in which a tool answers."""
    return {"type": "tool_result", "tool_name": tool or "tool", "ok": ok}


class Entry(NamedTuple):
    """An item to be stored, with the words in it. With a `key` it is stored once, also when it was erased since.

    `known` are words of earlier versions of the item, and `history` those of the whole conversation, for what is old in it.
    """

    value: Any
    said: Iterable[Said] = ()
    id: str | None = None
    key: str | None = None
    fields: dict[str, Any] = {}
    known: Events = {}
    history: Events = {}


class Items:
    """The items that a framework keeps in one conversation of one user, or of nobody; `is_anyones` reads those of all users."""

    def __init__(self, memory: Mnemal, mark: str, session: str, user: str | None = None, is_anyones: bool = False):
        self.memory, self.mark, self.session, self.user, self.is_anyones = memory, mark, session, user, is_anyones
        self._silent = {**tool_call(mark), "content": ""}
        # What is left of items that were taken, as it was read last: whoever took one was interrupted.
        self._left: list[str] = []
        self._owner = {"session": session, "channel": mark, "user": user}

    def add(self, *entries: Entry) -> list[dict[str, Any]]:
        """Stores items behind those that are there; up to some 900 kB in one call, all or none. Returns what became of events."""
        events = (event for entry in entries for event in self._events(entry))
        return [ack for batch in _groups(events, BATCH, BODY) for ack in self._send(batch)]

    def read(self, known: Iterable[Any] | None = None) -> list[Item]:
        """Returns the items in their order, of `known` events if there are some; what was not stored to its end is left out."""
        parts: dict[str, Parts] = {}
        contents: dict[str, str] = {}
        taken = set()
        for event in self.events(channel=self.mark) if known is None else known:
            fields = event.get("metadata") or {}
            taken.add(fields.get(f"{self.mark}.taken"))
            if item := fields.get(f"{self.mark}.item"):
                contents[event["id"]] = event.get("content") or ""
                parts.setdefault(item, Parts(self.mark, item)).add(event, fields)
        self._left = [event for name, one in parts.items() if name in taken for event in one.events]
        found = (one.item(contents) for name, one in parts.items() if name not in taken)
        return [item for item in found if item is not None]

    def events(self, **where: Any) -> Iterator[Any]:
        """Yields the events of the conversation that are the owner's and not erased, held back or not, oldest first."""
        client, space = self.memory.client, self.memory.space
        here: Any = {"session": self.session, "user": self.user, "all": True, "limit": PAGE, **where}
        for event in pages(lambda **place: client.event_list(space, **here, **place)):
            if not event.get("erased_at") and (self.is_anyones or event.get("user") == self.user):
                yield event

    def take(self, item: Item) -> bool:
        """Erases an item, and what is left of others that were taken; returns whether nobody else took it."""
        # Of two callers the log takes the word of one, under the same key.
        by = {f"{self.mark}.taken": item.id, "by": str(uuid.uuid4())}
        event: Any = {**self._silent, **self._owner, "metadata": by, "idempotency_key": f"{self.mark}-taken-{item.id}"}
        try:
            [ack] = self.memory.client.event_add(self.memory.space, events=[event])["events"]
        except MnemalError as error:
            if error.code != "idempotency_mismatch":
                raise
            return False
        if ack["duplicate"]:
            return False
        self._left += item.events
        self.erase_taken()
        return True

    def erase_taken(self) -> None:
        """Erases what is left of items that were taken, as it was read last."""
        gone = list(dict.fromkeys(self._left))
        if len(gone) == 1:
            is_there(lambda: self.memory.client.event_forget(self.memory.space, gone[0], user=self.user))
        else:
            self.forget(gone)
        self._left = []

    def follow(self, entries: Sequence[Entry], act: Any, base: str) -> bool | None:
        """Stores entries and an act that goes on from the act `base`; returns whether no other act does so.

        `None` says that one did and was erased. Unless it is true, nothing is stored but entries that took a call of their own.
        """
        key = hashlib.sha256(json.dumps([self.session, base]).encode()).hexdigest()
        try:
            acks = self.add(*entries, Entry(act, key=f"{self.mark}-{key}"))
        except MnemalError as error:
            if error.code != "idempotency_mismatch":
                raise
            return False
        return None if acks[-1]["duplicate"] else True

    def forget(self, ids: Iterable[str]) -> None:
        """Erases events and notes for good; those that are gone already are no error."""
        client, space, left = self.memory.client, self.memory.space, list(dict.fromkeys(ids))
        for start in range(0, len(left), BATCH):
            asked: dict[str, Any] = {"selector": {"ids": left[start : start + BATCH]}, "user": self.user}
            preview: dict[str, Any] = {}
            while is_there(lambda: preview.update(client.forget(space, **asked, dry_run=True))):
                try:
                    is_there(lambda: client.forget(space, **asked, confirm_token=preview.get("confirm_token")))
                    break
                except MnemalError as error:
                    # Somebody else erased some of them meanwhile.
                    if error.code != "selection_changed":
                        raise

    def clear(self) -> None:
        """Erases what is the owner's of the conversation, whoever stored it, and nothing of anybody else."""
        if self.user is None:
            self.forget(event["id"] for event in self.events())
        else:
            is_there(lambda: self.memory.client.session_forget(self.memory.space, self.session, user=self.user))

    def _events(self, entry: Entry) -> list[dict[str, Any]]:
        frame, name = Frame(entry.value, entry.said, entry.known, entry.history), entry.id or uuid.uuid4().hex
        events: list[dict[str, Any]] = []
        for place, (text, fields) in enumerate(frame.words):
            pieces = list(cut_text(text, WORDS))
            for number, piece in enumerate(pieces):
                events.append({**fields, "content": piece, "metadata": {f"{self.mark}.said": f"{place} {number}/{len(pieces)}"}})
        fields = frame.fields(self.mark)
        if len(events) == 1 and not frame.texts and len(frame.json) <= BESIDE and not BLOB.search(frame.json):
            events[0]["metadata"] |= fields
        else:
            events += [{**self._silent, "metadata": dict(group)} for group in _groups(fields.items(), BATCH, FIELDS)]
        # Counted from the end: without its last event an item is not there, so that is the one that two of one key share.
        for place, event in enumerate(reversed(events)):
            event["metadata"][f"{self.mark}.item"] = name
            event |= {**self._owner, **entry.fields, **({"idempotency_key": f"{entry.key}-{place}"} if entry.key else {})}
        return events

    def _send(self, events: list[Any]) -> list[dict[str, Any]]:
        refused: dict[int, str] = {}
        while True:
            try:
                acks = list(self.memory.client.event_add(self.memory.space, events=events)["events"])
                break
            except MnemalError as error:
                # None of them is stored, for the sake of one.
                if not leaves_nothing(error):
                    raise
                found = re.match(r"events\[(\d+)\]", error.detail)
                place = int(found[1]) if found else 0
                refused[place] = error.detail
                events[place] |= {**self._silent, "role": None, "speaker": None, "ok": None}
        for place, detail in refused.items():
            # What was there under the same key is erased, and nothing is lost that was not.
            if not acks[place]["duplicate"]:
                warnings.warn(f"words of {self.session} come back as {FORGOTTEN}: {detail}", stacklevel=4)
        return acks


def _groups(things: Iterable[Any], most: int, most_bytes: int) -> Iterator[list[Any]]:
    group: list[Any] = []
    size = 0
    for one in things:
        more = len(json.dumps(one))
        if group and (len(group) == most or size + more > most_bytes):
            yield group
            group, size = [], 0
        group.append(one)
        size += more
    if group:
        yield group
