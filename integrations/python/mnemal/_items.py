"""Whole items of a framework in the log: what is said stands as words of its own, and the rest lies beside it.

An item is a value of JSON. Of each text that somebody says in it, one event is stored, so that recall, contexts and erasure
know the words; the frame, which is the item without these words, is a field of the last of these events. A frame that is
long or holds what looks like a blob stands in events without words, which nothing recalls.
"""

from __future__ import annotations

import json
import re
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._frames import FORGOTTEN, Said, filled, shape_of
from .client import MnemalError
from .memory import Mnemal

# Events of one page of the log.
PAGE = 200
# Events and bytes of one call; the server takes 1,000 and 8 MiB.
BATCH, BATCH_BYTES = 500, 4 << 20
# Characters of a frame that one field takes, with room for what marks a cut.
LONGEST_PIECE = 12_000
# Characters of a frame that stands beside words.
SHORT = 2_000
# What the write screen takes for a blob.
BLOB = re.compile(r"[A-Za-z0-9+/=_-]{64,}")


@dataclass
class Kept:
    """An item as it was read: its name, its value, when it was stored, its words with their events, and all its events."""

    item: str
    name: dict[str, Any]
    value: Any
    at: str
    said: list[tuple[str, str]]
    events: list[str]


class Items:
    """The items that `source` keeps in one conversation of one user, or of nobody; `is_anyones` reads those of all users."""

    def __init__(self, memory: Mnemal, source: str, session: str, user: str | None = None, is_anyones: bool = False):
        self.memory, self.source, self.session, self.user, self.is_anyones = memory, source, session, user, is_anyones

    def add(self, name: Mapping[str, Any], value: Any, said: Iterable[Said] = ()) -> None:
        """Stores an item; it is there once the last of its events is."""
        item, said = uuid.uuid4().hex, [one for one in said if one.fits()]
        lines: list[str] = []
        shape = [shape_of(name, [], lines), shape_of(value, said, lines)]
        frame = "\n".join([item, json.dumps(shape, separators=(" , ", " : ")), *lines])
        is_beside = said and len(frame) <= SHORT and not BLOB.search(frame[len(item) :])
        pieces = [frame[at : at + LONGEST_PIECE] for at in range(0, len(frame), LONGEST_PIECE)]
        events = [
            {**one.fields, "content": one.text, "metadata": {f"{self.source}.said": f"{item} {place}"}}
            for place, one in enumerate(said)
        ]
        if is_beside:
            events[-1]["metadata"][f"{self.source}.frame 0/1"] = frame
        else:
            for place, piece in enumerate(pieces):
                mark = {f"{self.source}.frame {place}/{len(pieces)}": piece, f"{self.source}.item": item}
                events.append({"type": "tool_result", "tool_name": self.source, "content": "", "metadata": mark})
        owner = {"session": self.session, "user": self.user}
        for batch in _batches([{**event, **owner} for event in events]):
            self._send(batch)

    def _send(self, events: list[Any]) -> None:
        client, space = self.memory.client, self.memory.space
        try:
            client.event_add(space, events=events)
        except MnemalError as error:
            # Words that were erased, or of which nothing may be stored.
            if error.code != "invalid_request" or "left to store" not in error.detail:
                raise
            if len(events) > 1:
                for event in events:
                    self._send([event])
                return
            warnings.warn(f"words of {self.session} come back as {FORGOTTEN}: {error.detail}", stacklevel=4)
            silent = {"type": "tool_result", "role": None, "tool_name": self.source, "content": ""}
            client.event_add(space, events=[{**events[0], **silent}])

    def read(self, known: Iterable[Any] | None = None) -> list[Kept]:
        """Returns the items in their order, of `known` events if there are some; what was not stored to its end is left out."""
        events: dict[str, list[str]] = {}
        frames: dict[str, dict[int, str]] = {}
        words: dict[str, dict[int, tuple[str, str]]] = {}
        whole: dict[str, str] = {}
        for event in self.events() if known is None else known:
            fields = event.get("metadata") or {}
            said = fields.get(f"{self.source}.said")
            item = said.split()[0] if said else fields.get(f"{self.source}.item")
            if item:
                events.setdefault(item, []).append(event["id"])
            if said and event.get("content"):
                words.setdefault(item, {})[int(said.split()[1])] = (event["content"], event["id"])
            for key, piece in fields.items():
                if item and key.startswith(f"{self.source}.frame "):
                    place, number = map(int, key.rsplit(" ", 1)[1].split("/"))
                    frames.setdefault(item, {})[place] = piece
                    if len(frames[item]) == number:
                        whole[item] = event["recorded_at"]
        restored = self._restored
        return [restored(item, frames[item], words.get(item, {}), at, events[item]) for item, at in whole.items()]

    def _restored(self, item: str, pieces: dict[int, str], words: dict[int, Any], at: str, events: list[str]) -> Kept:
        _, shape, *lines = "".join(pieces[place] for place in range(len(pieces))).split("\n")
        leaves = dict(line.split(":", 1) for line in lines if ":" in line)
        name, value = filled(json.loads(shape), leaves, {place: text for place, (text, _) in words.items()})
        return Kept(item, name, value, at, list(words.values()), events)

    def events(self, **where: Any) -> Iterator[Any]:
        """Yields the events of the conversation that are this user's and not erased, held back or not, oldest first."""
        place: dict[str, str] = {}
        client, space = self.memory.client, self.memory.space
        while True:
            try:
                here: Any = {"session": self.session, "user": self.user, "all": True, "limit": PAGE}
                page = client.event_list(space, **here, **where, **place)
            except MnemalError as error:
                # A space is made by the first write.
                if error.code == "not_found":
                    return
                raise
            for event in page["items"]:
                if not event.get("erased_at") and (self.is_anyones or event.get("user") == self.user):
                    yield event
            if not page.get("next_cursor"):
                return
            place = {"cursor": page["next_cursor"]}

    def forget(self, ids: Iterable[str]) -> None:
        """Erases events and notes for good."""
        client, space, left = self.memory.client, self.memory.space, list(dict.fromkeys(ids))
        for start in range(0, len(left), BATCH):
            selector: Any = {"ids": left[start : start + BATCH]}
            seen = client.forget(space, selector, dry_run=True, user=self.user)
            client.forget(space, selector, confirm_token=seen["confirm_token"], user=self.user)

    def clear(self) -> None:
        """Erases what is this user's of the conversation, whoever stored it, and nothing of anybody else."""
        self.forget(event["id"] for event in self.events())


def _batches(events: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for event in events:
        more = len(event["content"].encode()) + sum(map(len, event["metadata"].values()))
        if batch and (len(batch) == BATCH or size + more > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(event)
        size += more
    if batch:
        yield batch
