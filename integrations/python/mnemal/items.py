"""Lists of items, as frameworks keep them, in the log of a space: each item is a value of JSON that comes back whole.

What somebody says in an item is an event of its own, so that recall, contexts and all else know it. The rest of the item stands
in the metadata of its events, with a hole for each text, and each event of a text has the text there too. So an event that is
erased takes its words along, and what an agent says again after it was erased is in the item and nowhere else. Secrets and
private parts are cut from items as from everything.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from .client import MnemalError
from .memory import Mnemal

T = TypeVar("T")
# Items of one page.
PAGE = 200
# Events of one call, and its bytes: a server takes 1 MiB as it is installed.
BATCH, BODY = 1_000, 900_000
# Of the 16 KiB of an event's metadata: bytes for a text with a part of a body beside it, and for a part alone.
PIECE, BESIDE, ALONE = 9_000, 6_000, 15_000
# A long run of the letters of base64, as pictures and signatures are: by chance it holds what looks like a secret, and is no text.
# It is kept in groups, behind a mark, so that nothing is cut out of it.
BLOB = re.compile(r"(data:[^,|]{0,200},)?[A-Za-z0-9+/_=-]{256,}")
APART, BETWEEN = "\1|", "|"
# What stands where words were that somebody erased.
FORGOTTEN = "[forgotten]"

USER = {"type": "message", "role": "user"}
ASSISTANT = {"type": "message", "role": "assistant"}
SYSTEM = {"type": "observation"}


def call(tool: str) -> dict[str, Any]:
    """Returns the kind of an event that asks a tool."""
    return {"type": "tool_call", "tool_name": tool or "tool"}


def result(tool: str, ok: bool = True) -> dict[str, Any]:
    """Returns the kind of an event in which a tool answers."""
    return {"type": "tool_result", "tool_name": tool or "tool", "ok": ok}


class Said(NamedTuple):
    """A text of an item: the way to it, and the kind of event that it is."""

    path: tuple[str | int, ...]
    kind: dict[str, Any]


class Entry(NamedTuple):
    """An item to be stored. With a `key` it is stored once, also when it was erased since."""

    value: Any
    said: Sequence[Said] = ()
    id: str | None = None
    key: str | None = None
    fields: dict[str, Any] = {}


class Item(NamedTuple):
    """An item that is stored, with the ids of its events."""

    id: str
    value: Any
    events: list[str]


class Items:
    """The items of one conversation; with `user`, those of this user alone. `mark` names the framework."""

    def __init__(self, memory: Mnemal, session: str, mark: str, user: str | None = None):
        self.memory, self.session, self.mark, self.user = memory, session, mark, user

    def add(self, entries: Iterable[Entry]) -> list[dict[str, Any]]:
        """Stores items behind those that are there; up to some 900 kB in one call, all or none. Returns what became of events."""
        events = [event for entry in entries for event in self._events(entry)]
        acks: list[dict[str, Any]] = []
        start = size = 0
        for place, event in enumerate(events):
            more = len(json.dumps(event))
            if place > start and (size + more > BODY or place - start == BATCH):
                acks += self._send(events[start:place])
                start, size = place, 0
            size += more
        return acks + self._send(events[start:]) if events else acks

    def read(self) -> list[Item]:
        """Returns all items, oldest first."""
        client, space = self.memory.client, self.memory.space
        where = {"session": self.session, "user": self.user, "channel": self.mark, "all": True, "limit": PAGE}
        groups: dict[str, dict[int, Any]] = {}
        taken: set[str] = set()
        for event in pages(lambda **place: client.event_list(space, **where, **place)):
            fields = event.get("metadata") or {}
            if (at := fields.get(f"{self.mark}.item")) is not None:
                groups.setdefault(at[0], {}).setdefault(at[1], event)
            taken.add(fields.get(f"{self.mark}.taken"))
        items = (self._item(name, group) for name, group in groups.items() if name not in taken)
        return [item for item in items if item is not None]

    def take(self, item: Item) -> bool:
        """Erases an item; returns whether it was there."""
        client, space = self.memory.client, self.memory.space
        # Of two callers the log takes the word of one, under the same key.
        taken = {"type": "tool_call", "tool_name": self.mark, "content": "", "session": self.session, "channel": self.mark}
        by = {f"{self.mark}.taken": item.id, "by": str(uuid.uuid4())}
        event: Any = {**taken, "user": self.user, "metadata": by, "idempotency_key": f"{self.mark}-taken-{item.id}"}
        try:
            [ack] = client.event_add(space, events=[event])["events"]
        except MnemalError as error:
            if error.code != "idempotency_mismatch":
                raise
            return False
        if ack["duplicate"]:
            return False
        _is_there(lambda: client.event_forget(space, item.events[0], user=self.user))
        if ids := item.events[1:]:
            asked: dict[str, Any] = {"selector": {"ids": ids}, "user": self.user}
            if _is_there(lambda: asked.update(confirm_token=client.forget(space, **asked, dry_run=True).get("confirm_token"))):
                _is_there(lambda: client.forget(space, **asked))
        return True

    def follow(self, entries: Sequence[Entry], act: Any, base: str) -> bool | None:
        """Stores entries and an act that follows on another one; returns whether it is the first to do so.

        It is none where the first was erased. Otherwise nothing is stored, or only entries of so many bytes that they take a call of
        their own.
        """
        key = hashlib.sha256(json.dumps([self.session, base]).encode()).hexdigest()
        try:
            acks = self.add([*entries, Entry(act, key=f"{self.mark}-{key}")])
        except MnemalError as error:
            if error.code != "idempotency_mismatch":
                raise
            return False
        return None if acks[-1]["duplicate"] else True

    def clear(self) -> None:
        """Erases the conversation."""
        _is_there(lambda: self.memory.client.session_forget(self.memory.space, self.session, user=self.user))

    def _events(self, entry: Entry) -> list[dict[str, Any]]:
        value = json.loads(json.dumps(entry.value))
        holes: list[Any] = []
        events: list[dict[str, Any]] = []
        for path, kind in entry.said:
            parent, text = _at(value, path)
            if not _can_stand(text):
                continue
            parent[path[-1]] = None
            pieces = _pieces(text)
            events += [{**kind, "content": piece, "hole": len(holes)} for piece in pieces]
            holes.append([path, len(pieces)])
        body = json.dumps([_each(value, _apart), holes])
        first = BESIDE if events else ALONE
        chunks = [body[:first], *(body[start : start + ALONE] for start in range(first, len(body), ALONE))]
        for chunk in chunks if not events else chunks[1:]:
            events.append({**call(self.mark), "content": "", "body": chunk})
        events[0]["body"] = chunks[0]
        name = entry.id or str(uuid.uuid4())
        for place, event in enumerate(events):
            event["metadata"] = {f"{self.mark}.item": [name, place, event.pop("hole", None), len(chunks)]}
            if event["content"]:
                event["metadata"][f"{self.mark}.text"] = {"text": event["content"]}
            if "body" in event:
                event["metadata"][f"{self.mark}.body"] = event.pop("body")
            event |= {"session": self.session, "channel": self.mark, "user": self.user, **entry.fields}
            if entry.key:
                event["idempotency_key"] = f"{entry.key}-{place}"
        return events

    def _send(self, events: list[Any]) -> list[dict[str, Any]]:
        while True:
            try:
                return list(self.memory.client.event_add(self.memory.space, events=events)["events"])
            except MnemalError as error:
                # None of them is stored, for the sake of one whose words were erased, or say nothing when they are cleaned.
                if error.code != "invalid_request" or "left to store" not in error.detail:
                    raise
                place = re.match(r"events\[(\d+)\]", error.detail)
                event = events[int(place[1]) if place else 0]
                event |= {**call(self.mark), "content": "", "role": None, "speaker": None}

    def _item(self, name: str, group: dict[int, Any]) -> Item | None:
        fields = [event["metadata"] for _, event in sorted(group.items())]
        at, body = f"{self.mark}.item", [more[f"{self.mark}.body"] for more in fields if f"{self.mark}.body" in more]
        if 0 not in group or len(body) < fields[0][at][3]:
            return None
        try:
            value, holes = json.loads("".join(body))
            value = _each(value, _together)
        except ValueError:
            warnings.warn(f"an item of {self.session} is left out: parts of it are not stored", stacklevel=4)
            return None
        for hole, (path, count) in enumerate(holes):
            parent, _ = _at(value, path)
            texts = [more[f"{self.mark}.text"]["text"] for more in fields if more[at][2] == hole]
            parent[path[-1]] = "".join(texts) + FORGOTTEN * (count > len(texts))
        return Item(name, value, [group[place]["id"] for place in sorted(group)])


def _is_there(act: Callable[[], Any]) -> bool:
    try:
        act()
    except MnemalError as error:
        if error.code != "not_found":
            raise
        return False
    return True


def pages(ask: Callable[..., Any]) -> Iterator[Any]:
    """Yields the items of a list, page after page."""
    try:
        page = ask()
    except MnemalError as error:
        # A space is made by the first write.
        if error.code != "not_found":
            raise
        return
    yield from page["items"]
    while page.get("next_cursor"):
        page = ask(cursor=page["next_cursor"])
        yield from page["items"]


def _at(value: Any, path: Sequence[str | int]) -> tuple[Any, Any]:
    """Returns what stands at a place of a value, with what it stands in."""
    for step in path:
        parent, value = value, value[step]
    return parent, value


def _each(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {name: _each(one, change) for name, one in value.items()}
    if isinstance(value, list):
        return [_each(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


def _apart(text: str) -> str:
    if BLOB.fullmatch(text):
        return APART + BETWEEN.join(text[start : start + 8] for start in range(0, len(text), 8))
    return APART + BETWEEN + text if text.startswith(APART) else text


def _together(text: str) -> str:
    if not text.startswith(APART):
        return text
    rest = text[len(APART) :]
    return rest[1:] if rest.startswith(BETWEEN) else rest.replace(BETWEEN, "")


def _pieces(text: str) -> list[str]:
    """Cuts a text into pieces that fit into metadata, as long as may be."""
    for step in (8_000, 2_000, 1_000):
        pieces = [text[start : start + step] for start in range(0, len(text), step)]
        if all(len(json.dumps(piece, ensure_ascii=False).encode()) <= PIECE for piece in pieces):
            break
    return pieces


def _can_stand(text: str) -> bool:
    """Whether a text can be the content of an event: it says something, and is made of characters that UTF-8 has."""
    return bool(text.strip()) and "\0" not in text and not re.search("[\ud800-\udfff]", text)


async def whole(act: Callable[..., T], *given: Any) -> T:
    """Acts on a thread, and to its end: who cancels meanwhile learns of it when it is done."""
    task, canceled = asyncio.ensure_future(asyncio.to_thread(act, *given)), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            canceled = error
    if canceled is not None and (task.exception() or True):
        raise canceled
    return task.result()
