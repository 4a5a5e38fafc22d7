"""Names of LangGraph in a space: a namespace is a category, an item a memory under a key."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store.base import InvalidNamespaceError

ROOT = "langgraph"
# A category has at most eight segments, and the first one is ours.
DEEPEST = 7
# Bytes of a label as it is stored, and of a namespace together with a key.
LONGEST_LABEL, LONGEST_KEY = 128, 256
# What stands for something else, or cannot stand in a name.
RESERVED = re.compile(r"[%/\x00-\x1f\x7f-\x9f]")


def spelled(name: str) -> str:
    """Returns a name as it is stored: as it is, but for what would end it."""
    return RESERVED.sub(lambda found: quote(found[0], safe=""), name)


def category_of(namespace: Sequence[str]) -> str:
    """Returns the category of a namespace."""
    given = tuple(namespace)
    if len(given) > DEEPEST:
        raise InvalidNamespaceError(f"Namespaces have at most {DEEPEST} labels here. Got {len(given)} in {given}")
    parts = [ROOT]
    for label in given:
        if not isinstance(label, str) or not label:
            raise InvalidNamespaceError(f"Namespace labels must be strings that are not empty. Got {label!r} in {given}")
        # Points are escaped too: `.` and `..` are no segments.
        part = spelled(label).replace(".", "%2E")
        if (size := len(part.encode())) > LONGEST_LABEL:
            raise InvalidNamespaceError(
                f"Invalid namespace label '{label}' found in {given}. Namespace labels have at most {LONGEST_LABEL} bytes"
                f" of UTF-8 here, but this one has {size}."
            )
        parts.append(part)
    return "/".join(parts)


def namespace_of(category: str) -> tuple[str, ...]:
    """Returns the namespace that a category stands for."""
    return tuple(unquote(part) for part in category.split("/")[1:])


def key_of(namespace: Sequence[str], key: str) -> str:
    """Returns the key of a memory for an item."""
    if not key:
        raise ValueError(f"Keys cannot be empty strings. Got '' in {tuple(namespace)}")
    name = f"{category_of(namespace)}/{spelled(key)}"
    if (size := len(name.encode())) > LONGEST_KEY:
        raise ValueError(
            f"Invalid key '{key}' in {tuple(namespace)}. The namespace and the key together have at most {LONGEST_KEY} bytes"
            f" of UTF-8 here, with '{ROOT}' and one for each label, but they have {size}."
        )
    return name


def is_item(row: Any) -> bool:
    """Whether a memory is an item of a store, and no note that somebody filed beside it."""
    key, prefix = row.get("key") or "", f"{row['category']}/"
    return key.startswith(prefix) and "/" not in key[len(prefix) :]


def item_key_of(key: str) -> str:
    """Returns the key of an item for that of its memory."""
    return unquote(key.rsplit("/", 1)[1])


def time_of(text: str) -> datetime:
    """Returns a time of the server."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)


def value_of(content: str) -> dict[str, Any]:
    """Returns the value of an item, or the text of a memory that has none."""
    try:
        value = json.loads(content)
    except ValueError:
        return {"text": content}
    return value if isinstance(value, dict) else {"text": content}
