"""Notes that a framework keeps, each under a key of its own that no other user's note has."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Iterable
from typing import Any

from ._calls import PAGE, held_back, is_there, pages
from ._items import Items
from .memory import Mnemal

# Bytes of a note.
LONGEST = 32 << 10
# Stands in a note for what has no text.
EMPTY = "[no text]"
# Seconds in which what was put must be there.
VISIBLE_WITHIN = 10.0


def put_note(memory: Mnemal, key: str, text: str, what: str, **fields: Any) -> dict[str, Any]:
    """Stores a version of a note that can be read when this returns, and raises where it is held back."""
    client, space = memory.client, memory.space
    stored: dict[str, Any] = {**client.memory_put_by_key(space, key, text, writer="application", **fields)}
    until = time.monotonic() + VISIBLE_WITHIN
    while stored["status"] == "pending" and time.monotonic() < until:
        time.sleep(0.05)
        row: dict[str, Any] = {}
        if is_there(lambda: row.update(client.memory_get(space, stored["event_id"]))):
            stored |= {"status": row["status"], "version": row["version"]}
    if stored["status"] == "quarantined":
        raise held_back(what, stored, client.event_get(space, stored["event_id"]).get("quarantined"))
    return stored


class Notes:
    """The notes that `source` keeps for one user, or for nobody; `is_anyones` reads those of all users."""

    def __init__(self, memory: Mnemal, source: str, user: str | None = None, is_anyones: bool = False):
        self.memory, self.source, self.user, self.is_anyones = memory, source, user, is_anyones

    def key(self, name: str) -> str:
        """Returns the key under which a note of a name is stored."""
        return f"{self.source}/{hashlib.sha256(repr((self.user, name)).encode(errors='surrogatepass')).hexdigest()[:40]}"

    def put(self, name: str, text: str, **fields: Any) -> None:
        """Stores a note that can be read when this returns; tells of what is cut, and raises where it is held back."""
        owner = {"category": self.source, "session": self.source, "user": self.user}
        if put_note(self.memory, self.key(name), text, name, **{**owner, **fields})["redactions"]:
            warnings.warn(f"{name} is stored without its secret parts", stacklevel=5)

    def all(self) -> dict[str, Any]:
        """Returns the notes that hold, by their keys."""
        client, space = self.memory.client, self.memory.space
        here: Any = {"category": self.source, "user": self.user, "limit": PAGE}
        rows = pages(lambda **place: client.memory_list(space, **here, **place))
        held = (row for row in rows if row["status"] == "active" and row.get("key"))
        return {row["key"]: row for row in held if self.is_anyones or row.get("user") == self.user}

    def forget(self, rows: Iterable[Any]) -> None:
        """Erases notes with all their versions."""
        client, space, alone = self.memory.client, self.memory.space, []
        for row in rows:
            if row["version"] == 1:
                alone.append(row["id"])
            else:
                # Of one that was changed, the version before would hold again.
                is_there(lambda: client.memory_forget_by_key(space, row["key"], user=self.user))
        Items(self.memory, self.source, self.source, self.user).forget(alone)


def split(text: str) -> tuple[str, dict[str, str]]:
    """Returns what a note holds of a text, and what has to lie beside it so that `joined` gives it back."""
    note = text.replace("\0", "\ufffd").encode(errors="replace")[:LONGEST].decode(errors="ignore") if text.strip() else EMPTY
    return note, {"rest": text[len(note) :]} if text.startswith(note) else {"whole": text}


def joined(note: str, value: dict[str, Any]) -> str:
    """Returns the whole text, and takes what lay beside it out of a value."""
    rest, whole = value.pop("rest", ""), value.pop("whole", None)
    return note + rest if whole is None else whole
