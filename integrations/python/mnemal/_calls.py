"""Calls of a server as adapters make them: page after page, to their end, and where nothing is there yet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .client import MnemalError

T = TypeVar("T")
# Items of one page.
PAGE = 200


def is_there(act: Callable[[], Any]) -> bool:
    """Acts, and returns whether what it is about is there."""
    try:
        act()
    except MnemalError as error:
        if error.code != "not_found":
            raise
        return False
    return True


def pages(ask: Callable[..., Any]) -> Iterator[Any]:
    """Yields the items of a list, page after page; none of a space that nobody wrote to."""
    try:
        page = ask()
    except MnemalError as error:
        if error.code != "not_found":
            raise
        return
    yield from page["items"]
    while page.get("next_cursor"):
        page = ask(cursor=page["next_cursor"])
        yield from page["items"]


def leaves_nothing(error: MnemalError) -> bool:
    """Whether an event is refused because its words were erased, or are of a kind that is never stored."""
    return error.code == "invalid_request" and "left to store" in error.detail


def held_back(what: str, stored: Any, rule: Any = None) -> MnemalError:
    """Returns the error for a note that the write screen holds back."""
    by = f"the rule {rule!r}" if rule else "a rule"
    hint = f"A person who looked at it lets it pass with `mnemal log release {stored['event_id']}`."
    return MnemalError(409, {"code": "held_back", "detail": f"{what} is held back by {by}", "hint": hint})


async def run_to_end(act: Callable[..., T], *given: Any) -> T:
    """Acts on a thread, and to the end: who cancels meanwhile learns of it when it is done."""
    task, canceled = asyncio.ensure_future(asyncio.to_thread(act, *given)), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            canceled = error
    if canceled is not None:
        # An error of a call that nobody waits for is taken note of.
        task.exception()
        raise canceled
    return task.result()
