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
from ._items import ASSISTANT, USER, Entry, Items, tool_call, tool_result
from ._parts import Item
from .memory import Mnemal

MARK = "agno"
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
        ours = Items(self.memory, MARK, name, is_anyones=True).events(channel=MARK)
        # One that nobody owned at first has another owner by now.
        for user in {event.get("user") for event in ours}:
            Items(self.memory, MARK, name, user).clear()
            items = Items(self.memory, MARK, SESSIONS, user)
            items.forget(event for one in items.read() if one.value["id"] == name for event in one.events)

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys(one.value["id"] for one in Items(self.memory, MARK, SESSIONS, is_anyones=True).read())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _read(self, name: str) -> dict[str, Any] | None:
        session, runs = None, {}
        for one in Items(self.memory, MARK, name, is_anyones=True).read():
            if one.value["kind"] == "session":
                session = one.value["value"]
            else:
                runs[one.value["id"]] = one.value["value"]
        if session is None:
            return None
        return {**session, "runs": [run for run in runs.values() if run is not None] or None}

    def _store(self, name: str, before: dict[str, Any], session: dict[str, Any]) -> None:
        user = session.get("user_id")
        items = Items(self.memory, MARK, name, user)
        row = {key: value for key, value in session.items() if key != "runs"}
        if not before:
            Items(self.memory, MARK, SESSIONS, user).add(Entry({"id": name}))
        if row != {key: value for key, value in before.items() if key != "runs"}:
            items.add(Entry({"kind": "session", "value": row}))
        old, new = ({run["run_id"]: run for run in one.get("runs") or []} for one in (before, session))
        changed = {run_id: new.get(run_id) for run_id in (*old, *new) if old.get(run_id) != new.get(run_id)}
        stored: list[Item] = Items(self.memory, MARK, name, is_anyones=True).read() if changed else []
        # What is repeated was said first by the oldest.
        history = {text: events for one in reversed(stored) for text, events in one.said}
        for run_id, run in changed.items():
            versions = [one for one in stored if one.value.get("id") == run_id]
            # What a run says is stored once, and later versions of it refer to that; what it repeats is another's.
            own = {event for one in versions for event in one.events}
            known = {text: events for one in versions for text, events in one.said if own.issuperset(events)}
            said = [one._replace(path=("value", *one.path)) for one in _said(run or {})]
            items.add(Entry({"kind": "run", "id": run_id, "value": run}, said, known=known, history=history))
            if run is None:
                items.forget(event for one in versions for event in one.events)


def _said(run: dict[str, Any]) -> Iterator[Said]:
    """Yields what is said in a run, by the user, by the agent and by tools; the history in it, and runs of members, are old."""
    speakers, texts = set(), set()
    for place, message in enumerate(run.get("messages") or []):
        path, role, is_old = ("messages", place), message.get("role"), bool(message.get("from_history"))
        kinds = {"user": USER, "assistant": ASSISTANT}
        kinds["tool"] = tool_result(message.get("tool_name"), ok=not message.get("tool_call_error"))
        if isinstance(text := message.get("content"), str) and role in kinds:
            yield Said((*path, "content"), None if is_old else kinds[role], is_old)
            if text.strip() and not is_old:
                speakers.add(role), texts.add(text)
        for number, asked in enumerate(message.get("tool_calls") or []):
            function = asked.get("function") or {}
            if isinstance(function.get("arguments"), str):
                where = (*path, "tool_calls", number, "function", "arguments")
                yield Said(where, None if is_old else tool_call(function.get("name")), is_old)
    for place, one in enumerate(run.get("member_responses") or []):
        yield from (Said(("member_responses", place, *said.path), None, is_old=True) for said in _said(one))
    # The first and the last of it stand beside the messages, too, or there alone.
    given = run.get("input")
    asks = (("input", "input_content"), given.get("input_content")) if isinstance(given, dict) else (("input",), given)
    for fields, (beside, text) in ((USER, asks), (ASSISTANT, (("content",), run.get("content")))):
        if isinstance(text, str):
            yield Said(beside, None if fields["role"] in speakers or text in texts else fields)


def plain(value: Any) -> Any:
    """Returns a value as Agno's databases store it."""
    return json.loads(json.dumps(value, cls=CustomJSONEncoder))
