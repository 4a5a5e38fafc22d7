"""The OpenAI Agents SDK on mnemal: a session whose items are memory.

Each item comes back whole and in its order. What people, agents and tools say is known to recall, contexts and answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

from ._calls import run_to_end
from ._frames import Said
from ._items import ASSISTANT, SYSTEM, USER, Entry, Items, tool_call, tool_result
from .memory import Mnemal


class MnemalSession(SessionABC):
    """The session of a conversation: `Runner.run(agent, "…", session=MnemalSession("chat-1", Mnemal("demo"), user="ana"))`.

    With `user`, the session is this user's, and without it nobody's: another user's session of the same id is another session.
    Objects of the same session may be used at the same time; each `add_items` of less than 900 kB is stored as a whole, or not
    at all. `pop_item` and `clear_session` erase for good. What an agent or a tool says again after it was erased comes back as
    `[forgotten]`, with a warning when it is added; what a user says again is kept.
    """

    def __init__(
        self,
        session_id: str,
        memory: Mnemal,
        *,
        user: str | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ):
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings) if session_settings else SessionSettings()
        self._list = Items(memory, "openai-agents", session_id, user)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the items, oldest first; with `limit`, the newest of them."""
        most = resolve_session_limit(limit, self.session_settings)
        if most is not None and most <= 0:
            return []
        items = [item.value for item in await asyncio.to_thread(self._list.read)]
        return items if most is None else items[-most:]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items behind those that are there."""
        await run_to_end(self._list.add, *(Entry(item, _said(item)) for item in items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Erases the newest item and returns it; nobody else gets the same one."""
        return await run_to_end(self._pop)

    async def clear_session(self) -> None:
        """Erases all that was said in the session."""
        await run_to_end(self._list.clear)

    def _pop(self) -> Any:
        for item in reversed(self._list.read()):
            if self._list.take(item):
                return item.value
        self._list.erase_taken()
        return None


def _said(item: Any) -> list[Said]:
    """Returns the texts of an item. What is no text stands in the item alone."""
    kind = item.get("type") or ("message" if "role" in item else "")
    if kind == "message":
        role = item.get("role")
        said = USER if role == "user" else ASSISTANT if role == "assistant" else SYSTEM
        return _texts(item, "content", said)
    if kind == "function_call" and isinstance(item.get("arguments"), str):
        return [Said(("arguments",), tool_call(item.get("name")))]
    if kind.endswith("_call_output"):
        return _texts(item, "output", tool_result(kind.removesuffix("_call_output")))
    return []


def _texts(item: Any, field: str, kind: dict[str, Any]) -> list[Said]:
    value = item.get(field)
    if isinstance(value, str):
        return [Said((field,), kind)]
    if not isinstance(value, (list, tuple)):
        return []
    parts = [(place, part) for place, part in enumerate(value) if isinstance(part, Mapping)]
    texts = [(place, name) for place, part in parts for name in ("text", "refusal") if isinstance(part.get(name), str)]
    return [Said((field, place, name), kind) for place, name in texts]
