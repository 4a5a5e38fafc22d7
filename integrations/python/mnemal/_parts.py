"""Parts of an item as they are read from the log, and the item that they make."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ._frames import FORGOTTEN, fill_frame


class Item(NamedTuple):
    """An item that is stored, its words with their events, and the events of its own."""

    id: str
    value: Any
    said: list[tuple[str, list[str]]]
    events: list[str]


class Parts:
    """What is known of one item so far."""

    def __init__(self, mark: str, item: str):
        self._prefix, self.item_id = f"{mark}.", item
        self.events: list[str] = []
        # By the place of words, how many pieces they have and which of them there are; the events of these.
        self._counts: dict[int, int] = {}
        self._words: dict[int, dict[int, str]] = {}
        self._texts: dict[int, str] = {}
        self._frame: dict[int, str] = {}
        self._frame_count = 0

    def add(self, event: Any, fields: Mapping[str, str]) -> None:
        """Takes in one event of the item; what is there twice counts as it was stored first."""
        self.events.append(event["id"])
        for name, value in fields.items():
            kind, _, place = name.removeprefix(self._prefix).partition(" ") if name.startswith(self._prefix) else ("", "", "")
            if kind == "said":
                at, number, count = map(int, value.replace("/", " ").split())
                self._counts[at] = count
                self._words.setdefault(at, {}).setdefault(number, event["id"])
            elif kind == "text":
                self._texts.setdefault(int(place), value)
            elif kind == "frame":
                number, self._frame_count = map(int, place.split("/"))
                self._frame.setdefault(number, value)

    def item(self, contents: Mapping[str, str]) -> Item | None:
        """Returns the item, if it was stored to its end and not all of its words are erased; `contents` are those of events."""
        if not self._frame or len(self._frame) < self._frame_count:
            return None
        said: list[tuple[str, list[str]]] = []
        has_words = is_left = False

        def find(kind: str, what: Any) -> str:
            nonlocal has_words, is_left
            if kind == "t":
                pieces = [self._texts.get(number, FORGOTTEN) for number in range(what[0], sum(what))]
                return FORGOTTEN if FORGOTTEN in pieces else "".join(pieces)
            events = what if kind == "e" else self._events_of(what)
            has_words, is_left = True, is_left or any(one in contents for one in events)
            texts = [contents.get(one, "") for one in events]
            if not all(texts):
                return "".join(text or FORGOTTEN for text in texts)
            said.append(("".join(texts), events))
            return said[-1][0]

        try:
            value = fill_frame("".join(self._frame[number] for number in range(self._frame_count)), find)
        except ValueError:
            warnings.warn(f"the item {self.item_id} is left out: something is cut out of its frame", stacklevel=4)
            return None
        return None if has_words and not is_left else Item(self.item_id, value, said, self.events)

    def _events_of(self, words: int) -> Sequence[str]:
        """Returns the events of words, with an empty name for each that is erased."""
        pieces = self._words.get(words, {})
        return [pieces.get(number, "") for number in range(self._counts.get(words, 1))]
