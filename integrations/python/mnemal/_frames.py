"""How an item of a framework stands in the log: its shape, and a line for each thing in it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Bytes of a text that one event takes.
LONGEST_TEXT = 256 << 10
# What nobody wants stored, in the strings of a frame; in words the server cuts it, by the tag that it is told.
PRIVATE = re.compile(r"<private\b[^>]*>.*?(?:</private\s*>|\Z)", re.IGNORECASE | re.DOTALL)
# What names a part and is no words, even where somebody says the same.
SKELETON = {"role", "type", "status", "name", "id", "kind", "format"}
# Stands for words that were erased, or that the log keeps away because they were erased before.
FORGOTTEN = "[forgotten]"


@dataclass
class Said:
    """A text of an item, and how it is said: `fields` are those of an event. `value` is what it stands for, if not itself."""

    text: str
    fields: dict[str, Any]
    value: Any = None

    def fits(self) -> bool:
        """Whether an event can hold the text as it is; what cannot stays in the frame."""
        try:
            size = len(self.text.encode())
        except UnicodeEncodeError:
            return False
        return bool(self.text.strip()) and "\0" not in self.text and size <= LONGEST_TEXT


def shape_of(value: Any, said: list[Said], lines: list[str], key: Any = None) -> Any:
    """Returns a value in which numbers of lines stand for all that is in it.

    Each line is a name, a text or a number by itself, or says which words it is: what the log cuts out of one spoils no other.
    """
    kind, text = "", ""
    if key not in SKELETON and isinstance(value, (str, dict, list)):
        for place, one in enumerate(said):
            if value is one.value if one.value is not None else value == one.text:
                kind, text = "w" if one.value is None else "p", str(place)
    if not kind and isinstance(value, Mapping):
        return {shape_of(_name(name), [], lines): shape_of(one, said, lines, name) for name, one in value.items()}
    if not kind and isinstance(value, (list, tuple)):
        return [shape_of(one, said, lines) for one in value]
    if not kind and isinstance(value, str):
        kind, text = "s", json.dumps(PRIVATE.sub("[private]", value))[1:-1].replace("<", "\\u003c")
    lines.append(f"{len(lines)}:{kind}{text}" if kind else f"{len(lines)}:j{json.dumps(value)}")
    return len(lines) - 1


def filled(shape: Any, leaves: dict[str, str], words: dict[int, str]) -> Any:
    """Returns the value of a shape, its lines and its words."""
    if isinstance(shape, dict):
        return {filled(int(name), leaves, words): filled(one, leaves, words) for name, one in shape.items()}
    if isinstance(shape, list):
        return [filled(one, leaves, words) for one in shape]
    line = leaves.get(str(shape), f"s{FORGOTTEN}")
    if line[:1] in ("w", "p"):
        text = words.get(int(line[1:]), FORGOTTEN)
        return parsed(text) if line[:1] == "p" else text
    try:
        return json.loads(f'"{line[1:]}"' if line[:1] == "s" else line[1:])
    except ValueError:
        return line[1:]


def _name(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(key)


def parsed(text: str) -> Any:
    """Returns the value of a text of JSON, or what is left of it where a private part was cut."""
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}

