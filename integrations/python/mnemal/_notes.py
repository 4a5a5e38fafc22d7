"""Notes that a framework keeps, each under a key of its own that no other user's note has."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Iterable
from typing import Any

from ._items import PAGE, Items
from .client import MnemalError
from .memory import Mnemal

# Bytes of a note.
LONGEST = 32 << 10
# Stands in a note for what has no text.
EMPTY = "[no text]"
# Seconds in which what was put must be there.
VISIBLE_WITHIN = 10.0


class Notes:
    """The notes that `source` keeps for one user, or for nobody; `is_anyones` reads those of all users."""

    def __init__(self, memory: Mnemal, source: str, user: str | None = None, is_anyones: bool = False):
        self.memory, self.source, self.user, self.is_anyones = memory, source, user, is_anyones

    def key(self, name: str) -> str:
        """Returns the key under which a note of a name is stored."""
        return f"{self.source}/{hashlib.sha256(repr((self.user, name)).encode(errors='surrogatepass')).hexdigest()[:40]}"

    def put(self, name: str, text: str, **fields: Any) -> None:
        """Stores a note that can be read when this returns; tells of what is cut, and raises where it is held back."""
        client, space = self.memory.client, self.memory.space
        owner = {"category": self.source, "session": self.source, "user": self.user, "writer": "application"}
        stored: Any = client.memory_put_by_key(space, self.key(name), text, **{**owner, **fields})  # type: ignore[arg-type]
        until = time.monotonic() + VISIBLE_WITHIN
        while stored["status"] == "pending" and time.monotonic() < until:
            time.sleep(0.05)
            try:
                stored = {**stored, "status": client.memory_get(space, stored["event_id"])["status"]}
            except MnemalError as error:
                if error.code != "not_found":
                    raise
        if stored["redactions"]:
            warnings.warn(f"{name} is stored without its secret parts", stacklevel=5)
        if stored["status"] == "quarantined":
            rule = client.event_get(space, stored["event_id"]).get("quarantined")
            hint = f"A person who looked at it lets it pass with `mnemal log release {stored['event_id']}`."
            raise MnemalError(409, {"code": "held_back", "detail": f"{name} is held back by the rule {rule!r}", "hint": hint})

    def all(self) -> dict[str, Any]:
        """Returns the notes that hold, by their keys."""
        place: dict[str, str] = {}
        rows: dict[str, Any] = {}
        while True:
            here: Any = {"category": self.source, "user": self.user, "limit": PAGE, **place}
            try:
                page = self.memory.client.memory_list(self.memory.space, **here)
            except MnemalError as error:
                # A space is made by the first write.
                if error.code == "not_found":
                    return rows
                raise
            held = (row for row in page["items"] if row["status"] == "active")
            mine = (row for row in held if self.is_anyones or row.get("user") == self.user)
            rows |= {row["key"]: row for row in mine if row.get("key")}
            if not page.get("next_cursor"):
                return rows
            place = {"cursor": page["next_cursor"]}

    def forget(self, rows: Iterable[Any]) -> None:
        """Erases notes with all their versions."""
        alone = []
        for row in rows:
            if row["version"] == 1:
                alone.append(row["id"])
                continue
            # Of one that was changed, the version before would hold again.
            try:
                self.memory.client.memory_forget_by_key(self.memory.space, row["key"], user=self.user)
            except MnemalError as error:
                if error.code != "not_found":
                    raise
        Items(self.memory, self.source, self.source, self.user).forget(alone)


def split(text: str) -> tuple[str, dict[str, str]]:
    """Returns what a note holds of a text, and what has to lie beside it so that `joined` gives it back."""
    note = text.replace("\0", "\ufffd").encode(errors="replace")[:LONGEST].decode(errors="ignore") if text.strip() else EMPTY
    return note, {"rest": text[len(note) :]} if text.startswith(note) else {"whole": text}


def joined(note: str, value: dict[str, Any]) -> str:
    """Returns the whole text, and takes what lay beside it out of a value."""
    rest, whole = value.pop("rest", ""), value.pop("whole", None)
    return note + rest if whole is None else whole
