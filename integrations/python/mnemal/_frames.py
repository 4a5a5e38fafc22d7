"""Frames of items: what is left of a value of JSON when the texts in it are taken out, and the way back.

Words that somebody says become events. Other texts become fields of their own, so that the server cuts secrets and private
parts out of each, and compares each with what was erased, as it does with the content of an event. Names, numbers and
identifiers stay in the frame, one to a line: a secret among them is seen beside its name.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

# Words that are stored, with their events.
Events = Mapping[str, Sequence[str]]

# Begins a string of a frame that stands for something else.
HOLE = "\1"
# Stands for words that were erased, or that the log keeps away because they were erased before.
FORGOTTEN = "[forgotten]"
# What a text has, and an identifier has not: spaces, the sign that begins a tag, or letters of a script without spaces.
TEXT = re.compile("[\\s<\u0e00-\U0010ffff]")
# What no content can hold.
ODD = re.compile("[\0\ud800-\udfff]")
# Base64. If it is a file, it stands in groups, so that nothing in it looks like a secret by chance; else it is read as it is.
FILE = re.compile(r"(?:data:[\w.+;=/-]{0,200},)?([A-Za-z0-9+/_-]{64,}={0,2})")
GROUP, BETWEEN = 8, "|"
# How pictures, sound, video, documents, archives and what is encrypted as by Fernet, as reasoning is, begin.
FILE_BEGINS = re.compile(
    rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF|BM|II\*\x00|MM\x00\*|%PDF|PK\x03\x04|\x1f\x8b|OggS|ID3|\xff[\xf2-\xfb]|fLaC|\x1aE\xdf\xa3|.{4}ftyp"
    rb"|\x80\0{4}",
    re.DOTALL,
)
# What the server cuts out of one text, and does not find in the parts of a longer one.
PRIVATE = re.compile(r"<private\b[^<>]*>.*?(?:</private\s*>|\Z)", re.IGNORECASE | re.DOTALL)
BLOCK = re.compile(r"(?:<mnemal-context |-----BEGIN )(?!.*(?:</mnemal-context |-----END ))", re.IGNORECASE | re.DOTALL)
# A line of a frame in which something was cut that is no string.
CUT = re.compile(r'(?m)^((?:"(?:[^"\\]|\\.)*": )?)([^"\n]*\[secret:[^"\n]*?)(,?)$')


class Said(NamedTuple):
    """Words of an item: the path to them, and the fields of their event; `None` where they only repeat what is said elsewhere.

    A value that is no text is said as its JSON. What `is_old` repeats what was said before in the conversation, by another item.
    """

    path: tuple[str | int, ...]
    fields: dict[str, Any] | None
    is_old: bool = False


class Frame:
    """A value in parts: `json` is the frame, `words` are the contents of events with their fields, `texts` all other texts.

    The value refers to events that are stored already: to those in `known` where it says the same, and to those in `history`
    with words that are old. Other words are its own, also where another item says the same: it may be erased without this one.
    """

    def __init__(self, value: Any, said: Iterable[Said] = (), known: Events = {}, history: Events = {}):
        self.words: list[tuple[str, dict[str, Any]]] = []
        self.texts: list[str] = []
        # Holes by the paths to them, and by the texts that belong into them.
        self._by_path: dict[tuple[str | int, ...], tuple[str, Any]] = {}
        self._by_text: dict[str, tuple[str, Any]] = {text: ("e", events) for text, events in known.items()}
        value = json.loads(json.dumps(value))
        for path, fields, is_old in said:
            text = _clean(_as_text(_at(value, path)))
            if fields is not None and text not in known and text.strip():
                self._by_text[text] = ("w", len(self.words))
                self.words.append((text, fields))
            if text in self._by_text:
                self._by_path[path] = self._by_text[text]
            elif is_old and text in history:
                self._by_path[path] = ("e", history[text])
        # In keys alone is a tag still open, and none of the frame must go with it.
        self.json = json.dumps(self._part(value, ()), indent=0).replace("<", "\\u003c")

    def fields(self, mark: str) -> dict[str, str]:
        """Returns the frame and the texts as metadata, as `Parts` reads it."""
        pieces = list(cut_text(self.json))
        texts = {f"{mark}.text {number}": text for number, text in enumerate(self.texts)}
        return texts | {f"{mark}.frame {number}/{len(pieces)}": piece for number, piece in enumerate(pieces)}

    def _part(self, value: Any, path: tuple[str | int, ...]) -> Any:
        if where := self._by_path.get(path):
            return _hole(*where, value)
        if isinstance(value, dict):
            return {name: self._part(one, (*path, name)) for name, one in value.items()}
        if isinstance(value, list):
            return [self._part(one, (*path, place)) for place, one in enumerate(value)]
        return self._string(value) if isinstance(value, str) else value

    def _string(self, text: str) -> str:
        if _is_file(text):
            return _hole("f", BETWEEN.join(text[at : at + GROUP] for at in range(0, len(text), GROUP)))
        # A word alone may be the name of a kind, and stays.
        if not text.strip() or not TEXT.search(text):
            return _hole("=", text) if text.startswith(HOLE) else text
        clean = _clean(text)
        if where := self._by_text.get(clean):
            return _hole(*where, text)
        pieces = list(cut_text(clean))
        self.texts += pieces
        return _hole("t", [len(self.texts) - len(pieces), len(pieces)], text)


def fill_frame(frame: str, find: Callable[[str, Any], str]) -> Any:
    """Returns the value of a frame; `find` gives the text for a kind of hole and what stands in it."""
    try:
        shape = json.loads(frame)
    except ValueError:
        shape = json.loads(CUT.sub(r'\1"\2"\3', frame))
    return _filled(shape, find)


def _filled(shape: Any, find: Callable[[str, Any], str]) -> Any:
    if isinstance(shape, dict):
        return {name: _filled(one, find) for name, one in shape.items()}
    if isinstance(shape, list):
        return [_filled(one, find) for one in shape]
    if not isinstance(shape, str) or not shape.startswith(HOLE):
        return shape
    kind, what, odd, is_parsed = json.loads(shape[len(HOLE) :])
    if kind in "=f":
        return what if kind == "=" else what.replace(BETWEEN, "")
    text = find(kind, what)
    for place, letter in odd:
        if text[place : place + 1] == "\ufffd":
            text = text[:place] + chr(letter) + text[place + 1 :]
    return parse_json(text) if is_parsed else text


def parse_json(text: str) -> Any:
    """Returns the value of a text of JSON, or what is left of it where a part was cut."""
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}


def cut_text(text: str, most: int = 12_000) -> Iterator[str]:
    """Cuts a text into pieces of so many bytes, if it can be before a block, or behind a line, a sentence or a word."""
    if len(text.encode()) > most:
        text = PRIVATE.sub("[private]", text)
    while text:
        piece = text[:most].encode()[:most].decode(errors="ignore")
        if len(piece) < len(text):
            piece = piece[: _end_in(piece)]
        yield piece
        text = text[len(piece) :]


def _end_in(piece: str) -> int:
    block = BLOCK.search(piece)
    if block and block.start() > 0:
        return block.start()
    ends = (piece.rfind(sign) + len(sign) for sign in ("\n", ". ", " ", ","))
    return next((end for end in ends if end > len(piece) // 2), len(piece))


def _hole(kind: str, what: Any, value: Any = "") -> str:
    text = _as_text(value)
    odd = [(found.start(), ord(found[0])) for found in ODD.finditer(text)]
    return HOLE + json.dumps([kind, what, odd, not isinstance(value, str)])


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _clean(text: str) -> str:
    return ODD.sub("\ufffd", text)


def _at(value: Any, path: Iterable[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value


def _is_file(text: str) -> bool:
    found = FILE.fullmatch(text)
    return bool(found and FILE_BEGINS.match(base64.b64decode(found[1][:32], altchars="-_")))
