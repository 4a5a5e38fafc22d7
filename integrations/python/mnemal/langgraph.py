"""LangGraph on mnemal: a store for long-term memory, and the history of a conversation.

A namespace is a category below `langgraph`, an item a memory under a key of its own: recall, contexts and every other
surface see them. What is put as `None` is erased.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote, unquote

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from .client import MnemalError
from .memory import Mnemal

ROOT = "langgraph"
# A category has at most eight segments, and the first one is ours.
DEEPEST = 7
# Items of one page, and hits that are looked at when a search is filtered.
PAGE = 200


def _category(namespace: Sequence[str]) -> str:
    if len(namespace) > DEEPEST:
        raise ValueError(f"a namespace has at most {DEEPEST} parts")
    # Points are escaped too: `.` and `..` are no segments.
    parts = [quote(part, safe=" -_").replace(".", "%2E") for part in namespace]
    return "/".join([ROOT, *parts])


def _namespace(category: str) -> tuple[str, ...]:
    return tuple(unquote(part) for part in category.split("/")[1:])


def _key(namespace: Sequence[str], key: str) -> str:
    return f"{_category(namespace)}/{quote(key, safe=' -_')}"


def _item_key(key: str) -> str:
    return unquote(key.rsplit("/", 1)[1])


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)


def _value(content: str) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {"text": content}
    return value if isinstance(value, dict) else {"text": content}


def _passes(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return value == wanted
    if not any(name.startswith("$") for name in wanted):
        return isinstance(value, dict) and all(_passes(value.get(name), one) for name, one in wanted.items())
    compare = {
        "$eq": lambda one: value == one,
        "$ne": lambda one: value != one,
        "$gt": lambda one: value is not None and value > one,
        "$gte": lambda one: value is not None and value >= one,
        "$lt": lambda one: value is not None and value < one,
        "$lte": lambda one: value is not None and value <= one,
    }
    return all(compare[name](one) for name, one in wanted.items())


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return len(part) == len(path) and all(one in ("*", two) for one, two in zip(path, part))


class MnemalStore(BaseStore):
    """A LangGraph store over one space: `MnemalStore(Mnemal("demo"))`."""

    supports_ttl = True

    def __init__(self, memory: Mnemal):
        self.memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does the operations in their order."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Does the operations in their order, on a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, PutOp):
            return self._put(op)
        try:
            if isinstance(op, SearchOp):
                return self._search(op)
            if isinstance(op, ListNamespacesOp):
                return self._namespaces(op)
        except MnemalError as error:
            # A space is made by the first write.
            if error.code == "not_found":
                return []
            raise
        raise ValueError(f"unknown operation {op!r}")

    def _get(self, op: GetOp) -> Item | None:
        client, space = self.memory.client, self.memory.space
        try:
            row = client.memory_get_by_key(space, _key(op.namespace, op.key))
        except MnemalError as error:
            if error.code == "not_found":
                return None
            raise
        if row["status"] != "active":
            return None
        first = row
        if row["version"] > 1:
            first = client.memory_history(space, row["id"])["items"][-1]
        return Item(
            value=_value(row["content"]),
            key=op.key,
            namespace=tuple(op.namespace),
            created_at=_time(first["created_at"]),
            updated_at=_time(row["created_at"]),
        )

    def _put(self, op: PutOp) -> None:
        key = _key(op.namespace, op.key)
        if op.value is None:
            try:
                self.memory.forget(key)
            except MnemalError as error:
                if error.code != "not_found":
                    raise
            return
        ttl = {} if op.ttl is None else {"ttl_secs": max(1, round(op.ttl * 60))}
        content = json.dumps(op.value, ensure_ascii=False, sort_keys=True)
        self.memory.client.memory_put_by_key(
            self.memory.space, key, content, category=_category(op.namespace), **ttl
        )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        category = _category(op.namespace_prefix)
        found: list[SearchItem] = []
        if op.query:
            wanted = op.offset + op.limit
            hits = self.memory.recall(
                op.query, category=category, kinds=["memory"], max_tokens=1_000_000,
                limit=PAGE if op.filter else min(wanted, PAGE),
            )
            for hit in hits:
                if hit.get("key"):
                    found.append(self._found(hit["key"], hit["category"], hit["text"], hit["occurred_at"], hit["score"]))
        else:
            for row in self._rows(category):
                found.append(self._found(row["key"], row["category"], row["content"], row["created_at"], None))
        if op.filter:
            found = [one for one in found if _passes(one.value, op.filter)]
        return found[op.offset : op.offset + op.limit]

    def _found(self, key: str, category: str, content: str, at: str, score: float | None) -> SearchItem:
        return SearchItem(_namespace(category), _item_key(key), _value(content), _time(at), _time(at), score)

    def _rows(self, category: str) -> Iterable[Any]:
        cursor = None
        while True:
            page = self.memory.client.memory_list(self.memory.space, category=category, limit=PAGE, cursor=cursor)
            yield from (row for row in page["items"] if row.get("key"))
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        known = {_namespace(row["category"]) for row in self._rows(ROOT)}
        known = {one for one in known if all(_matches(one, condition) for condition in op.match_conditions or ())}
        if op.max_depth is not None:
            known = {one[: op.max_depth] for one in known}
        return sorted(known)[op.offset : op.offset + op.limit]


class MnemalChatMessageHistory(BaseChatMessageHistory):
    """The turns of one conversation, kept in the log."""

    ROLES = {"human": "user", "ai": "assistant", "system": "system"}

    def __init__(self, memory: Mnemal, session: str):
        self.memory, self.session = memory, session

    @property
    def messages(self) -> list[BaseMessage]:
        """The turns, oldest first."""
        try:
            page = self.memory.client.session_messages(self.memory.space, self.session)
        except MnemalError as error:
            if error.code == "not_found":
                return []
            raise
        kinds = {"user": HumanMessage, "assistant": AIMessage}
        return [kinds.get(one["role"], SystemMessage)(content=one.get("content") or "") for one in page["items"]]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Logs turns that have words; turns of tools are no part of what was said."""
        turns = [(self.ROLES[one.type], str(one.text)) for one in messages if one.type in self.ROLES and str(one.text)]
        if turns:
            self.memory.log(self.session, *turns)

    def clear(self) -> None:
        """Erases the conversation."""
        try:
            self.memory.client.session_forget(self.memory.space, self.session)
        except MnemalError as error:
            if error.code != "not_found":
                raise
