"""LangGraph on mnemal: a store for long-term memory, and the history of a conversation.

A namespace is a category below `langgraph`, an item a memory under a key of its own: recall, contexts and every other
surface see them. What is put as `None` is erased.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from .client import MnemalError
from .memory import Mnemal

ROOT = "langgraph"
# A category has at most eight segments, and the first one is ours.
DEEPEST = 7
# Bytes of a label as it is stored, and of a namespace together with a key.
LONGEST_LABEL, LONGEST_KEY = 128, 256
# Items of one page, and of the hits of a search.
PAGE = 200
# Events of one call.
BATCH = 1_000
# The conversation of what a store holds, so that no other one is touched by it.
SESSION = "langgraph"
# Stands on a version that only moves the end of an item on.
REFRESH = "refresh"
# Stands on an item that no search by words is to find.
UNINDEXED = "unindexed"
# Part of its time that passes before a read moves the end of an item on again: each time is a version.
REFRESH_AFTER = 0.05
# Seconds in which what was put must be there.
VISIBLE_WITHIN = 10.0
# What stands for something else, or cannot stand in a name.
RESERVED = re.compile(r"[%/\x00-\x1f\x7f-\x9f]")
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")


def _spell(name: str) -> str:
    """Returns a name as it is stored: as it is, but for what would end it."""
    return RESERVED.sub(lambda found: quote(found[0], safe=""), name)


def _category(namespace: Sequence[str]) -> str:
    given = tuple(namespace)
    if len(given) > DEEPEST:
        raise InvalidNamespaceError(f"Namespaces have at most {DEEPEST} labels here. Got {len(given)} in {given}")
    parts = [ROOT]
    for label in given:
        if not isinstance(label, str) or not label:
            raise InvalidNamespaceError(f"Namespace labels must be strings that are not empty. Got {label!r} in {given}")
        # Points are escaped too: `.` and `..` are no segments.
        part = _spell(label).replace(".", "%2E")
        if (size := len(part.encode())) > LONGEST_LABEL:
            raise InvalidNamespaceError(
                f"Invalid namespace label '{label}' found in {given}. Namespace labels have at most {LONGEST_LABEL} bytes"
                f" of UTF-8 here, but this one has {size}."
            )
        parts.append(part)
    return "/".join(parts)


def _namespace(category: str) -> tuple[str, ...]:
    return tuple(unquote(part) for part in category.split("/")[1:])


def _key(namespace: Sequence[str], key: str) -> str:
    if not key:
        raise ValueError(f"Keys cannot be empty strings. Got '' in {tuple(namespace)}")
    name = f"{_category(namespace)}/{_spell(key)}"
    if (size := len(name.encode())) > LONGEST_KEY:
        raise ValueError(
            f"Invalid key '{key}' in {tuple(namespace)}. The namespace and the key together have at most {LONGEST_KEY} bytes"
            f" of UTF-8 here, with '{ROOT}' and one for each label, but they have {size}."
        )
    return name


def _is_item(row: Any) -> bool:
    """Whether a memory is an item of a store, and no note that somebody filed beside it."""
    key, prefix = row.get("key") or "", f"{row['category']}/"
    return key.startswith(prefix) and "/" not in key[len(prefix) :]


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


def _left(row: Any) -> float | None:
    """Returns the seconds for which an item holds; `None` when it holds for good."""
    end = row.get("expires_at")
    return None if end is None else (_time(end) - datetime.now(timezone.utc)).total_seconds()


def _holds(row: Any) -> bool:
    left = _left(row)
    return row["status"] == "active" and (left is None or left > 0)


def _check(wanted: Any) -> None:
    """Makes sure that a filter asks nothing that is not understood."""
    if not isinstance(wanted, dict):
        return
    is_operators = any(name.startswith("$") for name in wanted)
    for name, one in wanted.items():
        if is_operators and name not in OPERATORS:
            raise ValueError(f"Unsupported operator: {name}")
        if not is_operators:
            _check(one)


def _equals(one: Any, two: Any) -> bool:
    """Whether two values of JSON are equal; `true` is no 1."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_equals(one[name], two[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(map(_equals, one, two))
    return one == two


def _compares(operator: str, value: Any, wanted: Any) -> bool:
    """Whether a value is on the wanted side; numbers stand beside numbers and words beside words, and nothing else does."""
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (value, wanted))
    if not numbers and not (isinstance(value, str) and isinstance(wanted, str)):
        return False
    return {
        "$gt": lambda: value > wanted,
        "$gte": lambda: value >= wanted,
        "$lt": lambda: value < wanted,
        "$lte": lambda: value <= wanted,
    }[operator]()


def _field(value: dict[str, Any], name: str) -> Any:
    """Returns a field; with points in its name, where no field is called so, one that lies deeper."""
    if name in value or "." not in name:
        return value.get(name)
    first, rest = name.split(".", 1)
    deeper = value.get(first)
    return _field(deeper, rest) if isinstance(deeper, dict) else None


def _passes(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, dict):
        return _equals(value, wanted)
    if not any(name.startswith("$") for name in wanted):
        return isinstance(value, dict) and all(_passes(_field(value, name), one) for name, one in wanted.items())
    return all(
        _equals(value, one) == (name == "$eq") if name in ("$eq", "$ne") else _compares(name, value, one)
        for name, one in wanted.items()
    )


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return len(part) == len(path) and all(one in ("*", two) for one, two in zip(path, part))


class _Life(NamedTuple):
    """When an item was put first, and last."""

    created_at: datetime
    updated_at: datetime


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
        name = _key(op.namespace, op.key)
        try:
            row = self.memory.client.memory_get_by_key(self.memory.space, name)
        except MnemalError as error:
            if error.code == "not_found":
                return None
            raise
        if not _holds(row):
            return None
        life = self._life(row)
        if op.refresh_ttl:
            self._refresh(row)
        return Item(value=_value(row["content"]), key=op.key, namespace=tuple(op.namespace), **life._asdict())

    def _put(self, op: PutOp) -> None:
        name = _key(op.namespace, op.key)
        if op.value is None:
            try:
                self.memory.forget(name)
            except MnemalError as error:
                if error.code != "not_found":
                    raise
            return
        if op.index is not None and op.index is not False and list(op.index) != ["$"]:
            raise ValueError(f"Fields cannot be indexed one by one: index is None or False here. Got {op.index!r}")
        content = json.dumps(op.value, ensure_ascii=False)
        tags = [UNINDEXED] if op.index is False else []
        ttl = None if op.ttl is None else max(1, round(op.ttl * 60))
        stored = self._store(name, _category(op.namespace), content, tags, ttl)
        # What is private and what is secret is cut before it is stored.
        if stored["redactions"] or "<" in content:
            kept = self.memory.client.memory_get_by_key(self.memory.space, name)
            if kept["version"] == stored["version"] and not _equals(_value(kept["content"]), json.loads(content)):
                warnings.warn(f"{name} is stored without its secret or private parts", stacklevel=4)

    def _store(self, name: str, category: str, content: str, tags: list[str], ttl: int | None) -> Any:
        """Stores a version of an item; returns when it can be read."""
        client, space = self.memory.client, self.memory.space
        stored = client.memory_put_by_key(
            space, name, content,
            category=category, tags=tags, ttl_secs=ttl, session=SESSION, writer="application",
        )
        if stored["status"] == "quarantined":
            rule = client.event_get(space, stored["event_id"]).get("quarantined")
            raise MnemalError(409, {
                "code": "held_back",
                "detail": f"the value of {name} is held back by the rule {rule!r}; what was there before still holds",
                "hint": f"A person who looked at it lets it pass with `mnemal log release {stored['event_id']}`.",
            })
        until = time.monotonic() + VISIBLE_WITHIN
        while stored["status"] == "pending" and time.monotonic() < until:
            time.sleep(0.05)
            row = self._row(stored["event_id"])
            if row is not None:
                return {**stored, "status": row["status"], "version": row["version"]}
        return stored

    def _row(self, name: str) -> Any:
        try:
            return self.memory.client.memory_get(self.memory.space, name)
        except MnemalError as error:
            if error.code == "not_found":
                return None
            raise

    def _refresh(self, row: Any) -> None:
        """Gives an item its whole time again."""
        left = _left(row)
        if left is None:
            return
        ttl = round((_time(row["expires_at"]) - _time(row["created_at"])).total_seconds())
        if ttl - left < ttl * REFRESH_AFTER:
            return
        tags = [*(tag for tag in row["tags"] if tag != REFRESH), REFRESH]
        try:
            self.memory.client.memory_edit(
                self.memory.space, row["id"],
                tags=tags, ttl_secs=max(1, ttl), if_version=row["version"], writer="application",
            )
        except MnemalError as error:
            # Somebody put or deleted it meanwhile, or a key that only reads has no say in how long things hold.
            if error.status not in (403, 404, 409):
                raise

    def _life(self, row: Any) -> _Life:
        """Looks when an item was put first since it was there, and when it was put last."""
        created = updated = _time(row["created_at"])
        if row["version"] == 1:
            return _Life(created, updated)
        newer, is_put = row, REFRESH not in row["tags"]
        for older in self._versions(row["id"]):
            if older["version"] >= newer["version"]:
                continue
            end = older.get("expires_at")
            if end is not None and _time(end) <= _time(newer["created_at"]):
                break
            created = _time(older["created_at"])
            if not is_put:
                updated, is_put = created, REFRESH not in older["tags"]
            newer = older
        return _Life(created, updated)

    def _versions(self, name: str) -> Iterator[Any]:
        client, space = self.memory.client, self.memory.space
        yield from _pages(lambda **place: client.memory_history(space, name, **place))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        _check(op.filter)
        category = _category(op.namespace_prefix)
        rows = self._rows(category)
        if op.query:
            rows, scores = self._ranked(op.query, category, rows)
        else:
            scores = {}
        wanted, found = op.offset + op.limit, []
        for row in rows:
            if len(found) == wanted:
                break
            if not op.filter or _passes(_value(row["content"]), op.filter):
                found.append(row)
        items = []
        for row in found[op.offset :]:
            life = self._life(row)
            if op.refresh_ttl:
                self._refresh(row)
            items.append(SearchItem(
                namespace=_namespace(row["category"]),
                key=_item_key(row["key"]),
                value=_value(row["content"]),
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
        rows = _pages(lambda **place: client.memory_list(space, category=category, limit=PAGE, **place))
        return (row for row in rows if _is_item(row) and _holds(row))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        known = {_namespace(row["category"]) for row in self._rows(ROOT)}
        known = {one for one in known if all(_matches(one, condition) for condition in op.match_conditions or ())}
        if op.max_depth is not None:
            known = {one[: op.max_depth] for one in known}
        return sorted(known)[op.offset : op.offset + op.limit]


def _pages(ask: Any) -> Iterator[Any]:
    """Yields the items of a list, page after page."""
    place: dict[str, str] = {}
    while True:
        page = ask(**place)
        yield from page["items"]
        if not page.get("next_cursor"):
            return
        place = {"cursor": page["next_cursor"]}


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
        try:
            for event in _pages(lambda **place: client.event_list(space, session=self.session, limit=PAGE, **place)):
                self._take(turns, event)
        except MnemalError as error:
            if error.code != "not_found":
                raise
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
            arguments = _value(text) if text else {}
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
                if not _is_nothing_left(error):
                    raise
                # None of them was stored, for the sake of one.
                self._add_what_is_left(part)

    def _add_what_is_left(self, events: Sequence[Any]) -> None:
        for event in events:
            try:
                self.memory.client.event_add(self.memory.space, events=[event])
            except MnemalError as error:
                if not _is_nothing_left(error):
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
        try:
            self.memory.client.session_forget(self.memory.space, self.session)
        except MnemalError as error:
            if error.code != "not_found":
                raise


def _is_nothing_left(error: MnemalError) -> bool:
    """Whether a turn is refused because it was erased, or holds nothing but what is never stored."""
    return error.code == "invalid_request" and "left to store" in error.detail


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
