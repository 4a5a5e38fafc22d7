"""The history of a conversation, as LangChain keeps it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from ._calls import PAGE, is_there, leaves_nothing, pages
from ._frames import parse_json
from .client import MnemalError
from .memory import Mnemal

# Events of one call.
BATCH = 1_000


class MnemalChatMessageHistory(BaseChatMessageHistory):
    """The turns of one conversation, kept in the log: what was said, calls of tools and their answers, words of the system.

    `messages` is read once and stays as it is until this object adds or clears: `RunnableWithMessageHistory` counts the turns
    before and after an answer, and what others add in between must not be taken for the question. `refresh` reads anew.
    """

    # Fields of an event: the id that joins a call of a tool to its answer, the place of a part in its message, and the mark of
    # words of the system.
    CALL, PART, SYSTEM = "tool_call_id", "langchain.part", "langchain.system"

    def __init__(self, memory: Mnemal, session: str):
        self.memory, self.session = memory, session
        self._known: list[BaseMessage] | None = None

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The turns, oldest first."""
        if self._known is None:
            self._known = self._read()
        return list(self._known)

    def refresh(self) -> None:
        """Reads the turns anew when they are asked for next."""
        self._known = None

    def _read(self) -> list[BaseMessage]:
        client, space = self.memory.client, self.memory.space
        turns: list[BaseMessage] = []
        held = set()
        # What the write screen holds back from memory was said all the same.
        for event in pages(lambda **place: client.event_list(space, session=self.session, all=True, limit=PAGE, **place)):
            # Of what is held back and released there is a copy further on.
            name = (event["type"], event.get("content"), event["occurred_at"])
            if event.get("quarantined"):
                held.add(name)
            elif name in held:
                continue
            if not event.get("erased_at"):
                self._take(turns, event)
        return turns

    def _take(self, turns: list[BaseMessage], event: Any) -> None:
        fields, text = event.get("metadata") or {}, event.get("content") or ""
        call = fields.get(self.CALL)
        if event["type"] == "message":
            kind = AIMessage if event["role"] == "assistant" else HumanMessage
            turns.append(kind(content=text, name=event.get("speaker")))
        elif event["type"] == "observation" and self.SYSTEM in fields:
            turns.append(SystemMessage(content=text))
        elif event["type"] == "tool_call" and call:
            last = turns[-1] if turns else None
            if fields.get(self.PART) == "0" or not isinstance(last, AIMessage):
                last = AIMessage(content="")
                turns.append(last)
            arguments = parse_json(text) if text else {}
            arguments = arguments if isinstance(arguments, dict) else {"text": text}
            last.tool_calls.append({"name": event["tool_name"], "args": arguments, "id": call, "type": "tool_call"})
        elif event["type"] == "tool_result" and call:
            status = "error" if event.get("ok") is False else "success"
            turns.append(ToolMessage(content=text, tool_call_id=call, name=event.get("tool_name"), status=status))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Logs turns; those that say nothing are left out."""
        events = [event for message in messages for event in self._events(message)]
        self._known = None
        for start in range(0, len(events), BATCH):
            part = events[start : start + BATCH]
            try:
                self.memory.client.event_add(self.memory.space, events=part)
            except MnemalError as error:
                if not leaves_nothing(error):
                    raise
                # None of them was stored, for the sake of one.
                self._add_what_is_left(part)

    def _add_what_is_left(self, events: Sequence[Any]) -> None:
        for event in events:
            try:
                self.memory.client.event_add(self.memory.space, events=[event])
            except MnemalError as error:
                if not leaves_nothing(error):
                    raise
                warnings.warn(f"a turn of {self.session} is left out: {error.detail}", stacklevel=4)

    def _events(self, message: BaseMessage) -> list[Any]:
        text, base = _text(message), {"session": self.session}
        name = {"speaker": message.name} if message.name else {}
        events: list[Any] = []
        if message.type == "remove":
            raise ValueError("A turn of a history cannot be taken out by a message: clear erases all of them")
        if message.type in ("tool", "function"):
            call = getattr(message, "tool_call_id", None) or message.name
            ok = getattr(message, "status", None) != "error"
            return [{
                **base, "type": "tool_result", "content": text, "tool_name": message.name or "tool", "ok": ok,
                "metadata": {self.CALL: call},
            }]
        if isinstance(message, SystemMessage):
            said: Any = {"type": "observation", "metadata": {self.SYSTEM: "true"}}
        elif isinstance(message, (AIMessage, HumanMessage)):
            said = {"type": "message", "role": "assistant" if isinstance(message, AIMessage) else "user", **name}
        else:
            role = "user" if getattr(message, "role", "") in ("user", "human") else "assistant"
            said = {"type": "message", "role": role, **name}
        if text.strip():
            events.append({**base, **said, "content": text})
        for call in getattr(message, "tool_calls", ()):
            events.append({
                **base, "type": "tool_call", "content": json.dumps(call["args"], ensure_ascii=False),
                "tool_name": call["name"],
                "metadata": {self.CALL: call["id"] or call["name"], self.PART: str(len(events))},
            })
        return events

    def clear(self) -> None:
        """Erases the conversation."""
        self._known = None
        is_there(lambda: self.memory.client.session_forget(self.memory.space, self.session))


def _text(message: BaseMessage) -> str:
    """Returns the words of a turn; what is no text becomes a word that says what it was."""
    if isinstance(message.content, str):
        return message.content
    parts = []
    for part in message.content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part.get("text"), str):
            parts.append(part["text"])
        elif part.get("type") not in ("tool_use", "tool_call", "thinking", "reasoning", "redacted_thinking"):
            parts.append(f"[{part.get('type', 'part')}]")
    return "\n".join(parts)
