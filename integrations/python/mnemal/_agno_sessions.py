"""The sessions of Agno in the log, each one conversation, with the words of its runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from agno.db.utils import CustomJSONEncoder

from ._frames import Said
from ._items import Items, Kept
from .memory import Mnemal

SOURCE = "agno"
# The conversation in which stands which sessions there are.
SESSIONS = "agno sessions"


class Sessions(MutableMapping[str, dict[str, Any]]):
    """The sessions of a space by their ids, as InMemoryDb keeps them."""

    def __init__(self, memory: Mnemal):
        self.memory, self._open = memory, threading.local()

    @contextmanager
    def changing(self, names: list[str]) -> Iterator[None]:
        """Stores what becomes of sessions meanwhile: only rows and runs that are other than before."""
        found = {name: self._read(name) for name in names}
        self._open.sessions = {name: one for name, one in found.items() if one is not None}
        before = deepcopy(self._open.sessions)
        try:
            yield
            for name, session in self._open.sessions.items():
                self._store(name, before.get(name) or {}, plain(session))
        finally:
            self._open.sessions = {}

    def __getitem__(self, name: str) -> dict[str, Any]:
        session = getattr(self._open, "sessions", {}).get(name) or self._read(name)
        if session is None:
            raise KeyError(name)
        return session

    def __setitem__(self, name: str, session: dict[str, Any]) -> None:
        self._open.sessions[name] = session

    def __delitem__(self, name: str) -> None:
        events = list(Items(self.memory, SOURCE, name, is_anyones=True).events())
        ours = [event for event in events if any(key.startswith(f"{SOURCE}.") for key in event.get("metadata") or {})]
        # One that nobody owned at first has another owner by now.
        for user in {event.get("user") for event in ours}:
            Items(self.memory, SOURCE, name, user).clear()
            items = Items(self.memory, SOURCE, SESSIONS, user)
            items.forget(event for one in items.read() if one.name["id"] == name for event in one.events)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys(one.name["id"] for one in Items(self.memory, SOURCE, SESSIONS, is_anyones=True).read())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _read(self, name: str) -> dict[str, Any] | None:
        session, runs = None, {}
        for one in Items(self.memory, SOURCE, name, is_anyones=True).read():
            if one.name["kind"] == "session":
                session = one.value
            else:
                runs[one.name["id"]] = one.value
        if session is None:
            return None
        return {**session, "runs": [run for run in runs.values() if run is not None] or None}

    def _store(self, name: str, before: dict[str, Any], session: dict[str, Any]) -> None:
        user = session.get("user_id")
        items, anyones = Items(self.memory, SOURCE, name, user), Items(self.memory, SOURCE, name, is_anyones=True)
        row = {key: value for key, value in session.items() if key != "runs"}
        if not before:
            Items(self.memory, SOURCE, SESSIONS, user).add({"id": name}, {})
        if row != {key: value for key, value in before.items() if key != "runs"}:
            items.add({"kind": "session"}, row)
        old, new = ({run["run_id"]: run for run in one.get("runs") or []} for one in (before, session))
        changed = {run_id: new.get(run_id) for run_id in (*old, *new) if old.get(run_id) != new.get(run_id)}
        kept: dict[str, list[Kept]] = {}
        for one in anyones.read() if changed.keys() & old.keys() else []:
            kept.setdefault(one.name.get("id"), []).append(one)
        for run_id, run in changed.items():
            words = {text for one in kept.get(run_id, ()) for text, _ in one.said}
            said = [one for one in _said(run) if one.text not in words] if run else []
            items.add({"kind": "run", "id": run_id}, run, said)
            if run is None:
                items.forget(event for one in kept.get(run_id, ()) for event in one.events)


def _said(run: dict[str, Any]) -> Iterator[Said]:
    """Yields what is said in a run: by the user, by the agent, and by tools."""
    for message in run.get("messages") or []:
        text, role = message.get("content"), message.get("role")
        if message.get("from_history"):
            continue
        if isinstance(text, str) and role in ("user", "assistant"):
            yield Said(text, {"type": "message", "role": role})
        elif isinstance(text, str) and role == "tool":
            ok = not message.get("tool_call_error")
            yield Said(text, {"type": "tool_result", "tool_name": message.get("tool_name") or "tool", "ok": ok})
        for call in message.get("tool_calls") or []:
            function = call.get("function") or {}
            if isinstance(function.get("arguments"), str):
                yield Said(function["arguments"], {"type": "tool_call", "tool_name": function.get("name") or "tool"})


def plain(value: Any) -> Any:
    """Returns a value as Agno's databases store it."""
    return json.loads(json.dumps(value, cls=CustomJSONEncoder))
