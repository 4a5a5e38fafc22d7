"""One space of a server, in the words of the library."""

from __future__ import annotations

from typing import Any

from .client import AsyncClient, Client
from .operations import Answer, Context, Erasure, Gap, Hit, RecallResult, Stored, StoredMessages


class Hits(list[Hit]):
    """What was found, best first; `gaps` are the layers that could not answer in full, `answer` is all that the server said."""

    def __init__(self, answer: RecallResult):
        super().__init__(answer["hits"])
        self.answer = answer
        self.gaps: list[Gap] = answer.get("gaps", [])


class Events(list[str]):
    """The ids of events that were stored; `gaps` are the layers that could not take them in, `answer` is all that was said."""

    def __init__(self, answer: StoredMessages):
        super().__init__(answer["event_ids"])
        self.answer = answer
        self.gaps: list[Gap] = answer.get("gaps", [])


class Mnemal:
    """The memory of one space. `client` has every other operation."""

    def __init__(self, space: str, client: Client | None = None, **options: Any):
        self.space = space
        self.client = client or Client(**options)

    def remember(self, content: str, **fields: Any) -> Stored:
        """Stores a note; with the same `key` it makes a new version."""
        return self.client.memory_add(self.space, content, **fields)

    def log(self, session: str, *turns: tuple[str, str]) -> Events:
        """Logs turns of a conversation, each a role and its words; returns the ids of their events."""
        messages: Any = [{"role": role, "content": content} for role, content in turns]
        return Events(self.client.message_add(self.space, messages, session=session))

    def recall(self, query: str, **fields: Any) -> Hits:
        """Finds what was said or noted, best first; what could not be looked through is in `gaps`."""
        return Hits(self.client.recall(self.space, query, **fields))

    def ask(self, question: str, **fields: Any) -> Answer:
        """Answers with sentences that were said and facts, in `["quotes"]`; `["known"]` is false where nothing answers."""
        return self.client.answer(self.space, question, **fields)

    def context(self, query: str = "", **fields: Any) -> Context:
        """Assembles what matters for a turn within a token budget; `["text"]` goes into the prompt."""
        return self.client.context(self.space, query=query, **fields)

    def forget(self, key: str) -> Erasure:
        """Erases every version under a key, in every layer; there is no undo."""
        return self.client.memory_forget_by_key(self.space, key)


class AsyncMnemal:
    """The memory of one space, to be awaited."""

    def __init__(self, space: str, client: AsyncClient | None = None, **options: Any):
        self.space = space
        self.client = client or AsyncClient(**options)

    async def remember(self, content: str, **fields: Any) -> Stored:
        """Stores a note; with the same `key` it makes a new version."""
        return await self.client.memory_add(self.space, content, **fields)

    async def log(self, session: str, *turns: tuple[str, str]) -> Events:
        """Logs turns of a conversation, each a role and its words; returns the ids of their events."""
        messages: Any = [{"role": role, "content": content} for role, content in turns]
        return Events(await self.client.message_add(self.space, messages, session=session))

    async def recall(self, query: str, **fields: Any) -> Hits:
        """Finds what was said or noted, best first; what could not be looked through is in `gaps`."""
        return Hits(await self.client.recall(self.space, query, **fields))

    async def ask(self, question: str, **fields: Any) -> Answer:
        """Answers with sentences that were said and facts, in `["quotes"]`; `["known"]` is false where nothing answers."""
        return await self.client.answer(self.space, question, **fields)

    async def context(self, query: str = "", **fields: Any) -> Context:
        """Assembles what matters for a turn within a token budget; `["text"]` goes into the prompt."""
        return await self.client.context(self.space, query=query, **fields)

    async def forget(self, key: str) -> Erasure:
        """Erases every version under a key, in every layer; there is no undo."""
        return await self.client.memory_forget_by_key(self.space, key)
