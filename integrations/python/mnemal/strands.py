"""Strands Agents on mnemal: a session repository, and the session manager over it.

A session is a conversation of the log. What the user and the agent say, calls of tools and their answers are events that
recall and contexts know; pictures, files, reasoning and the state of agents come back as they were and are recalled by nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from strands.session import RepositorySessionManager, SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage

from ._frames import Events, Said
from ._items import Entry, Items, tool_call, tool_result
from ._parts import Item
from .memory import Mnemal

if TYPE_CHECKING:
    from strands.multiagent import MultiAgentBase

MARK = "strands"


class MnemalSessionRepository(SessionRepository):
    """Sessions of one user, or of nobody: `MnemalSessionRepository(Mnemal("demo"), user="ana")`.

    Sessions of one id that belong to two users are two sessions.
    """

    def __init__(self, memory: Mnemal, user: str | None = None):
        self.memory, self.user = memory, user
        # What this object has seen to be there, so that a change of an agent does not read the session again.
        self._known: set[tuple[str, str, str]] = set()

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        """Creates a session."""
        if self.read_session(session.session_id) is not None:
            raise SessionException(f"Session {session.session_id} already exists")
        self._items(session.session_id).add(Entry({"kind": "session", "value": session.to_dict()}))
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        """Reads a session."""
        value = self._newest(session_id, "session")
        return None if value is None else Session.from_dict(value)

    def delete_session(self, session_id: str, **kwargs: Any) -> None:
        """Erases what is said in a session, and all that belongs to it."""
        if self.read_session(session_id) is None:
            raise SessionException(f"Session {session_id} does not exist")
        self._known = {one for one in self._known if one[0] != session_id}
        self._items(session_id).clear()

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Creates an agent in a session."""
        self._put(session_id, "agent", session_agent.agent_id, session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        """Reads an agent."""
        value = self._newest(session_id, "agent", agent_id)
        return None if value is None else SessionAgent.from_dict(value)

    def update_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Gives an agent another state."""
        self._must_be(session_id, "agent", session_agent.agent_id)
        self._put(session_id, "agent", session_agent.agent_id, session_agent.to_dict())

    def create_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any) -> None:
        """Adds a message; two that are added at once under one number both stay."""
        self._add(session_id, agent_id, session_message)

    def read_message(self, session_id: str, agent_id: str, message_id: int, **kwargs: Any) -> SessionMessage | None:
        """Reads a message."""
        found = [one for one in self._messages(session_id, agent_id) if one.value["id"] == message_id]
        return SessionMessage.from_dict(found[-1].value["value"]) if found else None

    def update_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any) -> None:
        """Replaces a message, and erases the words that it no longer has: what a guardrail takes out is gone for good."""
        old = [one for one in self._messages(session_id, agent_id) if one.value["id"] == session_message.message_id]
        if not old:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = old[-1].value["value"]["created_at"]
        if session_message.redact_message is not None:
            session_message = copy.copy(session_message)
            session_message.message = session_message.redact_message
        words = {text: events for one in old for text, events in one.said}
        # The new words are there before the old ones go.
        self._add(session_id, agent_id, session_message, [one.id for one in old], words)
        new = [one for one in self._messages(session_id, agent_id) if one.value["id"] == session_message.message_id]
        stay = {event for one in new for _, events in one.said for event in events}
        self._items(session_id).forget(event for one in old for event in one.events if event not in stay)

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any
    ) -> list[SessionMessage]:
        """Lists the messages of an agent by their numbers."""
        end = None if limit is None else offset + limit
        return [SessionMessage.from_dict(one.value["value"]) for one in self._messages(session_id, agent_id)[offset:end]]

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Creates the state of several agents together."""
        self._put(session_id, "multi_agent", multi_agent.id, multi_agent.serialize_state())

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **kwargs: Any) -> dict[str, Any] | None:
        """Reads the state of several agents together."""
        return self._newest(session_id, "multi_agent", multi_agent_id)

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Gives several agents together another state."""
        self._must_be(session_id, "multi_agent", multi_agent.id)
        self._put(session_id, "multi_agent", multi_agent.id, multi_agent.serialize_state())

    def _items(self, session_id: str) -> Items:
        return Items(self.memory, MARK, session_id, self.user)

    def _newest(self, session_id: str, kind: str, name: str | None = None) -> Any:
        found = None
        for one in self._items(session_id).read():
            if (one.value["kind"], one.value.get("name")) == (kind, name):
                found = one.value["value"]
                self._known.add((session_id, kind, name or ""))
        return found

    def _put(self, session_id: str, kind: str, name: str, value: Any) -> None:
        self._items(session_id).add(Entry({"kind": kind, "name": name, "value": value}))
        self._known.add((session_id, kind, name))

    def _must_be(self, session_id: str, kind: str, name: str) -> None:
        if (session_id, kind, name) not in self._known and self._newest(session_id, kind, name) is None:
            raise SessionException(f"{kind} {name} in session {session_id} does not exist")

    def _add(
        self, session_id: str, agent_id: str, one: SessionMessage, replaced: Sequence[str] = (), known: Events = {}
    ) -> None:
        value = one.to_dict()
        if one.redact_message is not None and one.redact_message == one.message:
            value["message"] = None
        field = "message" if value["message"] else "redact_message"
        said = [Said(("value", field, *path), fields) for path, fields in _said(value[field])]
        item = {"kind": "message", "agent": agent_id, "id": one.message_id, "replaces": list(replaced), "value": value}
        self._items(session_id).add(Entry(item, said, known=known))

    def _messages(self, session_id: str, agent_id: str) -> list[Item]:
        items = self._items(session_id).read()
        found = [one for one in items if one.value["kind"] == "message" and one.value["agent"] == agent_id]
        gone = {item for one in found for item in one.value["replaces"]}
        for one in found:
            value = one.value["value"]
            value["message"] = value["message"] or value["redact_message"]
        return sorted((one for one in found if one.id not in gone), key=lambda one: one.value["id"])


class MnemalSessionManager(RepositorySessionManager):
    """The session manager: `Agent(session_manager=MnemalSessionManager("chat-1", Mnemal("demo"), user="ana"))`."""

    def __init__(self, session_id: str, memory: Mnemal, user: str | None = None, **kwargs: Any):
        super().__init__(session_id, MnemalSessionRepository(memory, user), **kwargs)


def _said(message: Any) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Yields the ways to what is said in a message, with the fields of its events; parts that are no words are left out."""
    for place, block in enumerate(message["content"]):
        path: tuple[str | int, ...] = ("content", place)
        if "toolUse" in block:
            yield (*path, "toolUse", "input"), tool_call(block["toolUse"].get("name"))
        elif "toolResult" in block:
            fields = tool_result(None, ok=block["toolResult"].get("status") != "error")
            for number, part in enumerate(block["toolResult"]["content"]):
                if "text" in part:
                    yield (*path, "toolResult", "content", number, "text"), fields
                elif isinstance(part.get("json"), (dict, list)):
                    yield (*path, "toolResult", "content", number, "json"), fields
        else:
            fields = {"type": "message", "role": message["role"]}
            cited = (block.get("citationsContent") or {}).get("content", [])
            parts = {(): block, ("guardContent", "text"): (block.get("guardContent") or {}).get("text") or {}}
            parts |= {("citationsContent", "content", number): part for number, part in enumerate(cited)}
            for more, part in parts.items():
                if isinstance(part.get("text"), str):
                    yield (*path, *more, "text"), fields
