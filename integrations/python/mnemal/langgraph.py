"""LangGraph on mnemal: a store for long-term memory, and the history of a conversation.

A namespace is a category below `langgraph`, an item a memory under a key of its own: recall, contexts and every other
surface see them. What is put as `None` is erased.
"""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp, TTLConfig

from ._calls import PAGE, is_there, pages
from ._chat_history import MnemalChatMessageHistory
from ._langgraph_filters import check, equals, matches, passes
from ._langgraph_life import holds, life_of, refresh
from ._langgraph_names import ROOT, category_of, is_item, item_key_of, key_of, namespace_of, value_of
from ._notes import put_note
from .client import MnemalError
from .memory import Mnemal

__all__ = ["MnemalChatMessageHistory", "MnemalStore"]

# The conversation of what a store holds, so that no other one is touched by it.
SESSION = "langgraph"
# Stands on an item that no search by words is to find.
UNINDEXED = "unindexed"


class MnemalStore(BaseStore):
    """A LangGraph store over one space: `MnemalStore(Mnemal("demo"))`.

    mnemal has an index of its own, so that there is no `index` to configure; `put(…, index=False)` keeps an item out of
    searches by words. A search by words orders what it finds and leaves out nothing: what has none of the words comes last,
    with no score. With `ttl` there is a default for how long items hold, and whether reads move their ends on.

    A key of an agent's may not keep a store: its items would be held back as soon as there are many of them.
    """

    supports_ttl = True

    def __init__(self, memory: Mnemal, *, ttl: TTLConfig | None = None, index: None = None):
        if index is not None:
            raise ValueError("There is no index to configure: mnemal embeds and indexes by itself")
        self.memory = memory
        self.ttl_config = ttl

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
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _get(self, op: GetOp) -> Item | None:
        name = key_of(op.namespace, op.key)
        row: Any = {}
        if not is_there(lambda: row.update(self.memory.client.memory_get_by_key(self.memory.space, name))) or not holds(row):
            return None
        life = life_of(self.memory, row)
        if op.refresh_ttl:
            refresh(self.memory, row)
        return Item(value=value_of(row["content"]), key=op.key, namespace=tuple(op.namespace), **life._asdict())

    def _put(self, op: PutOp) -> None:
        name = key_of(op.namespace, op.key)
        if op.value is None:
            is_there(lambda: self.memory.forget(name))
            return
        if op.index is not None and op.index is not False and list(op.index) != ["$"]:
            raise ValueError(f"Fields cannot be indexed one by one: index is None or False here. Got {op.index!r}")
        content = json.dumps(op.value, ensure_ascii=False)
        tags = [UNINDEXED] if op.index is False else []
        ttl = None if op.ttl is None else max(1, round(op.ttl * 60))
        filed: Any = {"category": category_of(op.namespace), "tags": tags, "ttl_secs": ttl, "session": SESSION}
        stored = put_note(self.memory, name, content, f"the value of {name}", **filed)
        # What is private and what is secret is cut before it is stored.
        if stored["redactions"] or "<" in content:
            kept = self.memory.client.memory_get_by_key(self.memory.space, name)
            if kept["version"] == stored["version"] and not equals(value_of(kept["content"]), json.loads(content)):
                warnings.warn(f"{name} is stored without its secret or private parts", stacklevel=4)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        check(op.filter)
        category = category_of(op.namespace_prefix)
        rows = self._rows(category)
        if op.query:
            rows, scores = self._ranked(op.query, category, rows)
        else:
            scores = {}
        wanted, found = op.offset + op.limit, []
        for row in rows:
            if len(found) == wanted:
                break
            if not op.filter or passes(value_of(row["content"]), op.filter):
                found.append(row)
        items = []
        for row in found[op.offset :]:
            life = life_of(self.memory, row)
            if op.refresh_ttl:
                refresh(self.memory, row)
            items.append(SearchItem(
                namespace=namespace_of(row["category"]),
                key=item_key_of(row["key"]),
                value=value_of(row["content"]),
                score=scores.get(row["key"]),
                **life._asdict(),
            ))
        return items

    def _ranked(self, query: str, category: str, rows: Iterable[Any]) -> tuple[list[Any], dict[str, float]]:
        """Returns items by how well they fit the words, those without any of them last."""
        hits = self.memory.recall(query, category=category, kinds=["memory"], max_tokens=1_000_000, limit=PAGE)
        for gap in hits.gaps:
            warnings.warn(f"a search by words is not complete: {gap['layer']} {gap['cause']}", stacklevel=5)
        known = {row["key"]: row for row in rows}
        scores = {}
        for hit in hits:
            row = known.get(hit.get("key"))
            if row is not None and UNINDEXED not in row["tags"]:
                scores.setdefault(row["key"], hit["score"])
        best = sorted(scores, key=lambda key: -scores[key])
        return [known[key] for key in (*best, *(key for key in known if key not in scores))], scores

    def _rows(self, category: str) -> Iterator[Any]:
        client, space = self.memory.client, self.memory.space
        rows = pages(lambda **place: client.memory_list(space, category=category, limit=PAGE, **place))
        return (row for row in rows if is_item(row) and holds(row))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        known = {namespace_of(row["category"]) for row in self._rows(ROOT)}
        known = {one for one in known if all(matches(one, condition) for condition in op.match_conditions or ())}
        if op.max_depth is not None:
            known = {one[: op.max_depth] for one in known}
        return sorted(known)[op.offset : op.offset + op.limit]
