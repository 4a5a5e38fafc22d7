"""The tool of Pydantic AI that recalls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic_ai import RunContext, Tool

from ._calls import is_there
from .memory import Mnemal


def recall_tool(memory: Mnemal, *, user: str | Callable[[RunContext[Any]], str] | None = None, limit: int = 10) -> Tool[Any]:
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
