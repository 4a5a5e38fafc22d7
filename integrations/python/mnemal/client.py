"""Requests and answers: one connection for each request, nothing but the standard library."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import sys
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from .operations import AsyncOperations, Operations

DEFAULT = "http://127.0.0.1:14767"
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
# Longest time that a call waits, in seconds, where the server says that it is asked too often.
PATIENCE = 60.0


class MnemalError(Exception):
    """A problem that the engine told, here or on a server: its code is stable, the hint says what to do."""

    def __init__(self, status: int, problem: dict[str, Any]):
        self.status = status
        self.code: str = problem.get("code", "unknown")
        self.detail: str = problem.get("detail") or problem.get("title") or ""
        self.hint: str | None = problem.get("hint")
        words = f"{self.code}: {self.detail}"
        super().__init__(f"{words} ({self.hint})" if self.hint else words)


class MnemalConnectionError(MnemalError, ConnectionError):
    """No server answered: `code` is `unreachable` or `timed_out`, `status` is 0, and the cause is chained."""

    def __init__(self, code: str, detail: str, hint: str):
        super().__init__(0, {"code": code, "detail": detail, "hint": hint})


def local_key() -> str | None:
    """Returns the key that a person's own programs share, if this is their machine."""
    folder = os.environ.get("MNEMAL_DATA_DIR")
    if folder is None:
        home = pathlib.Path.home()
        if sys.platform == "win32":
            base = pathlib.Path(os.environ.get("APPDATA") or home / "AppData/Roaming")
            folder = base / "mnemal"
        else:
            base = os.environ.get("XDG_STATE_HOME") or home / ".local/state"
            folder = pathlib.Path(base) / "mnemal"
    try:
        return (pathlib.Path(folder) / "local.key").read_text().strip() or None
    except OSError:
        return None


class _Calls:
    """Operations as requests, whoever answers them.

    A call that is refused because of too many others waits as `Retry-After` says and is made again, for at most `_patience`
    seconds; 0 waits for nothing.
    """

    # What stands before the path of every request, the key of the caller, and who answers.
    _base: str = ""
    _key: str | None = None
    _patience: float = PATIENCE
    _where: str = ""

    def _ask(self, method: str, target: str, content: bytes | None, headers: dict[str, str]) -> tuple[int, str, float]:
        """Makes one request; returns its status, its text, and the seconds after which it may be made again."""
        raise NotImplementedError

    def _send(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        lines: tuple[str | bytes, str] | None = None,
        idempotency_key: str | None = None,
        as_text: bool = False,
    ) -> Any:
        given = {name: value for name, value in (query or {}).items() if value is not None}
        flags = {name: str(value).lower() if isinstance(value, bool) else value for name, value in given.items()}
        target = self._base + path + (f"?{urlencode(flags)}" if flags else "")
        headers = {"accept": "application/json, application/problem+json, */*"}
        content = None
        if body is not None:
            content = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
            headers["content-type"] = "application/json"
        elif lines is not None:
            data, headers["content-type"] = lines
            content = data.encode() if isinstance(data, str) else data
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        if idempotency_key:
            headers["idempotency-key"] = idempotency_key
        waited = 0.0
        while True:
            status, text, pause = self._ask(method, target, content, headers)
            if status != 429 or waited + pause > self._patience:
                break
            time.sleep(pause)
            waited += pause
        if status >= 400:
            raise MnemalError(status, _problem(text))
        if as_text:
            return text
        try:
            return json.loads(text)
        except ValueError as error:
            hint = "Is this the address of mnemal? See MNEMAL_URL, or base_url."
            detail = f"{self._where} answered no JSON: {text[:80]!r}"
            raise MnemalError(status, {"code": "invalid_answer", "detail": detail, "hint": hint}) from error


class _Requests(_Calls):
    """Where requests go, and with which key: the argument, else `MNEMAL_API_KEY`, else on loopback the local key."""

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        timeout: float = 30.0,
        patience: float = PATIENCE,
    ):
        url = urlsplit(base_url or os.environ.get("MNEMAL_URL") or DEFAULT)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("base_url must be http://… or https://…")
        self._url, self._timeout, self._patience = url, timeout, patience
        self._base, self._where = url.path.rstrip("/"), url.netloc
        is_local = url.hostname in LOOPBACK
        self._key = key or os.environ.get("MNEMAL_API_KEY") or (local_key() if is_local else None)

    def _ask(self, method: str, target: str, content: bytes | None, headers: dict[str, str]) -> tuple[int, str, float]:
        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        connection = kind(self._url.hostname or "", self._url.port, timeout=self._timeout)
        where = f"{self._url.scheme}://{self._url.netloc}"
        try:
            connection.request(method, target, body=content, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode(), _pause(response.getheader("retry-after"))
        except TimeoutError as error:
            detail = f"{where} did not answer within {self._timeout:g} s"
            hint = "Try again, or give the client a longer timeout."
            raise MnemalConnectionError("timed_out", detail, hint) from error
        except (OSError, HTTPException, UnicodeDecodeError) as error:
            detail = f"no server of mnemal answers at {where}: {error or type(error).__name__}"
            hint = "Start it with `mnemal serve`, or name another one with MNEMAL_URL or base_url."
            raise MnemalConnectionError("unreachable", detail, hint) from error
        finally:
            connection.close()


def _pause(retry_after: str | None) -> float:
    """Returns the seconds of a `Retry-After`; one where it says none, or a date."""
    text = (retry_after or "").strip()
    return max(float(text), 0.05) if text.isdecimal() else 1.0


def _problem(text: str) -> dict[str, Any]:
    try:
        problem = json.loads(text)
    except ValueError:
        return {"detail": text[:200]}
    return problem if isinstance(problem, dict) else {"detail": text[:200]}


class Client(_Requests, Operations):
    """Every operation of the server."""

    def _call(self, method: str, path: str, **call: Any) -> Any:
        return self._send(method, path, **call)


class AsyncClient(_Requests, AsyncOperations):
    """Every operation of the server, to be awaited; requests run on threads of the event loop's own pool."""

    async def _call(self, method: str, path: str, **call: Any) -> Any:
        return await asyncio.to_thread(self._send, method, path, **call)
