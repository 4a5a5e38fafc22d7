"""Parts for Pydantic AI: the words of messages, and the tool that recalls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic_ai import RunContext, Tool

from ._calls import is_there
from ._frames import Said
from ._items import ASSISTANT, SYSTEM, USER, tool_result
from .memory import Mnemal

KINDS = {"user-prompt": USER, "system-prompt": SYSTEM, "text": ASSISTANT}


def words_of(message: Any) -> list[Said]:
    """Returns the texts of a message. What is no text stands in the message alone."""
    said: list[Said] = []
    for place, part in enumerate(message["parts"]):
        kind, content, path = part["part_kind"], part.get("content"), ("message", "parts", place, "content")
        event = tool_result(part["tool_name"]) if kind == "tool-return" else KINDS.get(kind)
        if event and isinstance(content, str):
            said.append(Said(path, event))
        for at, one in enumerate(content if event and isinstance(content, list) else ()):
            if isinstance(one, str):
                said.append(Said((*path, at), event))
            elif isinstance(one, dict) and isinstance(one.get("content"), str):
                said.append(Said((*path, at, "content"), event))
    return said


def recall_tool(memory: Mnemal, *, user: str | Callable[[RunContext[Any]], str] | None = None, limit: int | None = None) -> Tool[Any]:
    """Returns a tool with which an agent looks for what was said or noted; `user` may be read of the run's `deps`."""

    async def recall(ctx: RunContext[Any], query: str) -> list[dict[str, str]]:
        """Searches notes and past conversations. Use it when the user refers to earlier things.

        Args:
            query: What to look for.
        """
        whose = user(ctx) if callable(user) else user
        hits: list[Any] = []
        # There is no space before somebody writes to it.
        await asyncio.to_thread(is_there, lambda: hits.extend(memory.recall(query, user=whose, limit=limit)))
        return [{"id": hit["id"], "text": hit["text"], "time": hit["occurred_at"], "role": hit["role"]} for hit in hits]

    return Tool(recall, name="recall")
