"""Strands Agents on mnemal: a session repository, and the session manager over it.

A session is a conversation of the log. What the user and the agent say, calls of tools and their answers are events that
recall and contexts know; pictures, files, reasoning and the state of agents come back as they were and are recalled by nothing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from strands.session import RepositorySessionManager, SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage

from ._frames import Said
from ._items import Items, Kept
from .memory import Mnemal

if TYPE_CHECKING:
    from strands.multiagent import MultiAgentBase

SOURCE = "strands"
# Stands for the name of a tool where a message has none.
UNKNOWN = "tool"


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
        self._items(session.session_id).add({"kind": "session"}, session.to_dict())
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
        self._add(session_id, agent_id, session_message, [], set())

    def read_message(self, session_id: str, agent_id: str, message_id: int, **kwargs: Any) -> SessionMessage | None:
        """Reads a message."""
        found = [one for one in self._messages(session_id, agent_id) if one.name["id"] == message_id]
        return SessionMessage.from_dict(found[-1].value) if found else None

    def update_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any) -> None:
        """Replaces a message, and erases the words that it no longer has: what a guardrail takes out is gone for good."""
        old = [one for one in self._messages(session_id, agent_id) if one.name["id"] == session_message.message_id]
        if not old:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = old[-1].value["created_at"]
        if session_message.redact_message is not None:
            session_message = copy.copy(session_message)
            session_message.message = session_message.redact_message
        words = {one.text for one in _said(session_message.message)}
        stay = {text for one in old for text, _ in one.said if text in words}
        # The new words are there before the old ones go.
        self._add(session_id, agent_id, session_message, [one.item for one in old], stay)
        self._items(session_id).forget(event for one in old for text, event in one.said if text not in stay)

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any
    ) -> list[SessionMessage]:
        """Lists the messages of an agent by their numbers."""
        end = None if limit is None else offset + limit
        return [SessionMessage.from_dict(one.value) for one in self._messages(session_id, agent_id)[offset:end]]

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
        return Items(self.memory, SOURCE, session_id, self.user)

    def _newest(self, session_id: str, kind: str, name: str | None = None) -> Any:
        found = None
        for one in self._items(session_id).read():
            if (one.name["kind"], one.name.get("name")) == (kind, name):
                found = one.value
                self._known.add((session_id, kind, name or ""))
        return found

    def _put(self, session_id: str, kind: str, name: str, value: Any) -> None:
        self._items(session_id).add({"kind": kind, "name": name}, value)
        self._known.add((session_id, kind, name))

    def _must_be(self, session_id: str, kind: str, name: str) -> None:
        if (session_id, kind, name) not in self._known and self._newest(session_id, kind, name) is None:
            raise SessionException(f"{kind} {name} in session {session_id} does not exist")

    def _add(self, session_id: str, agent_id: str, one: SessionMessage, replaced: list[str], stay: set[str]) -> None:
        name = {"kind": "message", "agent": agent_id, "id": one.message_id, "replaces": replaced}
        value = one.to_dict()
        if one.redact_message is not None and one.redact_message == one.message:
            value["message"] = None
        said = [word for word in _said(value["message"] or value["redact_message"]) if word.text not in stay]
        self._items(session_id).add(name, value, said)

    def _messages(self, session_id: str, agent_id: str) -> list[Kept]:
        found = [
            one for one in self._items(session_id).read()
            if one.name["kind"] == "message" and one.name["agent"] == agent_id
        ]
        gone = {item for one in found for item in one.name["replaces"]}
        for one in found:
            one.value["message"] = one.value["message"] or one.value["redact_message"]
        return sorted((one for one in found if one.item not in gone), key=lambda one: one.name["id"])


class MnemalSessionManager(RepositorySessionManager):
    """The session manager: `Agent(session_manager=MnemalSessionManager("chat-1", Mnemal("demo"), user="ana"))`."""

    def __init__(self, session_id: str, memory: Mnemal, user: str | None = None, **kwargs: Any):
        super().__init__(session_id, MnemalSessionRepository(memory, user), **kwargs)


def _said(message: Any) -> Iterator[Said]:
    """Yields what is said in a message, with the parts that are no words left out."""
    for block in message["content"]:
        if "toolUse" in block:
            use = block["toolUse"]
            text = json.dumps(use["input"], ensure_ascii=False)
            yield Said(text, {"type": "tool_call", "tool_name": use.get("name") or UNKNOWN}, use["input"])
        elif "toolResult" in block:
            ok = block["toolResult"].get("status") != "error"
            fields = {"type": "tool_result", "tool_name": UNKNOWN, "ok": ok}
            for part in block["toolResult"]["content"]:
                if "text" in part:
                    yield Said(part["text"], fields)
                elif isinstance(part.get("json"), (dict, list)):
                    yield Said(json.dumps(part["json"], ensure_ascii=False), fields, part["json"])
        else:
            fields = {"type": "message", "role": message["role"]}
            guarded = block.get("guardContent") or {}
            cited = (block.get("citationsContent") or {}).get("content", [])
            for part in (block, guarded.get("text") or {}, *cited):
                if isinstance(part.get("text"), str):
                    yield Said(part["text"], fields)
