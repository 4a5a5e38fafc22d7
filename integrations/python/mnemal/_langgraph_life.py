"""How long items of LangGraph hold: their ends, and when they were put."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, NamedTuple

from ._calls import pages
from ._langgraph_names import time_of
from .client import MnemalError
from .memory import Mnemal

# Stands on a version that only moves the end of an item on.
REFRESH = "refresh"
# Part of its time that passes before a read moves the end of an item on again: each time is a version.
REFRESH_AFTER = 0.05


class Life(NamedTuple):
    """When an item was put first, and last."""

    created_at: datetime
    updated_at: datetime


def seconds_left(row: Any) -> float | None:
    """Returns the seconds for which an item holds; `None` when it holds for good."""
    end = row.get("expires_at")
    return None if end is None else (time_of(end) - datetime.now(timezone.utc)).total_seconds()


def holds(row: Any) -> bool:
    """Whether an item is there and has not ended."""
    left = seconds_left(row)
    return row["status"] == "active" and (left is None or left > 0)


def life_of(memory: Mnemal, row: Any) -> Life:
    """Looks when an item was put first since it was there, and when it was put last."""
    created = updated = time_of(row["created_at"])
    if row["version"] == 1:
        return Life(created, updated)
    newer, is_put = row, REFRESH not in row["tags"]
    for older in pages(lambda **place: memory.client.memory_history(memory.space, row["id"], **place)):
        if older["version"] >= newer["version"]:
            continue
        end = older.get("expires_at")
        if end is not None and time_of(end) <= time_of(newer["created_at"]):
            break
        created = time_of(older["created_at"])
        if not is_put:
            updated, is_put = created, REFRESH not in older["tags"]
        newer = older
    return Life(created, updated)


def refresh(memory: Mnemal, row: Any) -> None:
    """Gives an item its whole time again."""
    left = seconds_left(row)
    if left is None:
        return
    ttl = round((time_of(row["expires_at"]) - time_of(row["created_at"])).total_seconds())
    if ttl - left < ttl * REFRESH_AFTER:
        return
    tags = [*(tag for tag in row["tags"] if tag != REFRESH), REFRESH]
    changed: Any = {"tags": tags, "ttl_secs": max(1, ttl), "if_version": row["version"], "writer": "application"}
    try:
        memory.client.memory_edit(memory.space, row["id"], **changed)
    except MnemalError as error:
        # Somebody put or deleted it meanwhile, or a key that only reads has no say in how long things hold.
        if error.status not in (403, 404, 409):
            raise
