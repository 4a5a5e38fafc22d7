"""Filters of LangGraph, as they are asked of the values of items."""

from __future__ import annotations

from typing import Any

from langgraph.store.base import MatchCondition

OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")


def check(wanted: Any) -> None:
    """Makes sure that a filter asks nothing that is not understood."""
    if not isinstance(wanted, dict):
        return
    is_operators = any(name.startswith("$") for name in wanted)
    for name, one in wanted.items():
        if is_operators and name not in OPERATORS:
            raise ValueError(f"Unsupported operator: {name}")
        if not is_operators:
            check(one)


def equals(one: Any, two: Any) -> bool:
    """Whether two values of JSON are equal; `true` is no 1."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(equals(one[name], two[name]) for name in one)
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(map(equals, one, two))
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


def passes(value: Any, wanted: Any) -> bool:
    """Whether a value has what a filter wants."""
    if not isinstance(wanted, dict):
        return equals(value, wanted)
    if not any(name.startswith("$") for name in wanted):
        return isinstance(value, dict) and all(passes(_field(value, name), one) for name, one in wanted.items())
    return all(
        equals(value, one) == (name == "$eq") if name in ("$eq", "$ne") else _compares(name, value, one)
        for name, one in wanted.items()
    )


def matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends as a condition says."""
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return len(part) == len(path) and all(one in ("*", two) for one, two in zip(path, part))
