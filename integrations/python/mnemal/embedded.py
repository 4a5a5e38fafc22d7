"""The engine inside this process: no server, no socket, no model; the same calls, answers and errors as over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .client import AsyncClient, Client, _Calls
from .memory import AsyncMnemal, Mnemal

if TYPE_CHECKING:
    from ._engine import Engine

# Where the memory is: a file, which is made, or the folder of an installation; None for memory alone.
Path = str | os.PathLike[str] | None


def _engine(path: Path, space: str | None, settings: dict[str, Any] | None) -> Engine:
    try:
        from ._engine import Engine
    except ImportError as error:
        hint = "a wheel of mnemal has it for CPython 3.10 and newer; `Mnemal` speaks to a server instead"
        raise ImportError(f"this installation of mnemal has no engine for this Python ({error}): {hint}") from error
    return Engine(path, space, json.dumps(settings) if settings else "")


class _InProcess(_Calls):
    """Requests that the engine in this process answers, without the lock of the interpreter."""

    _where = "the engine in this process"

    def __init__(self, path: Path = None, *, space: str | None = None, settings: dict[str, Any] | None = None):
        self._engine = _engine(path, space, settings)
        self.space: str = self._engine.space
        # Also when nobody closes it: at the latest when the interpreter ends.
        self._end = weakref.finalize(self, self._engine.close)

    def _ask(self, method: str, target: str, content: bytes | None, headers: dict[str, str]) -> tuple[int, str, float]:
        return *self._engine.ask(method, target, list(headers.items()), content), 1.0

    def _stop(self) -> None:
        self._end.detach()
        self._engine.close()


class EmbeddedClient(_InProcess, Client):
    """Every operation of the engine in this process."""

    def close(self) -> None:
        """Finishes the work in progress and closes the files; later calls raise a `MnemalError` with the code `closed`."""
        self._stop()


class AsyncEmbeddedClient(_InProcess, AsyncClient):
    """Every operation of the engine in this process, to be awaited; calls run on threads of the event loop's own pool."""

    async def close(self) -> None:
        """Finishes the work in progress and closes the files; later calls raise a `MnemalError` with the code `closed`."""
        await asyncio.to_thread(self._stop)


class Memory(Mnemal):
    """A memory in this process: `Memory("agent.db")`, or without a path one that is gone when it is closed.

    A file is one space, named by its stem or by `space`; a folder is the data directory of an installation, with all its spaces
    and `space`, else `default`, as the one that is meant. `settings` has the sections of the configuration file, such as
    `{"storage": {"durability": "normal"}}`. Any thread may use it, but no process that was forked while it was open.
    """

    client: EmbeddedClient

    def __init__(self, path: Path = None, *, space: str | None = None, settings: dict[str, Any] | None = None):
        client = EmbeddedClient(path, space=space, settings=settings)
        super().__init__(client.space, client)

    def close(self) -> None:
        """Finishes the work in progress and closes the files; what was stored is safe without it."""
        self.client.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncMemory(AsyncMnemal):
    """A memory in this process, to be awaited; see `Memory`. Opening a file does not wait for the event loop."""

    client: AsyncEmbeddedClient

    def __init__(self, path: Path = None, *, space: str | None = None, settings: dict[str, Any] | None = None):
        client = AsyncEmbeddedClient(path, space=space, settings=settings)
        super().__init__(client.space, client)

    async def close(self) -> None:
        """Finishes the work in progress and closes the files; what was stored is safe without it."""
        await self.client.close()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
