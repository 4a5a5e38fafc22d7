"""What the programs of all peers share: reading what is handed over, measuring, and writing down what was found.

    python PEER.py build HANDED STORE LAYOUT OUT
    python PEER.py ask HANDED STORE LAYOUT OUT

HANDED holds texts.jsonl and texts.f32, questions.jsonl and questions.f32; README.md beside this file describes them.
STORE is the folder in which the peer keeps its files; `build` fills it, and `ask`, a new process, only reads it.
LAYOUT says how conversations are kept apart: `apart` (a store of its own for each), `filtered` (one store, narrowed to
the conversation by each question), `pooled` (one store, nothing narrowed).
OUT is the file to which the measurements go, as JSON.

A peer imports this module before its own packages, so that the memory of the bare interpreter is known.
Standard library only.
"""

import array
import json
import os
import sys
import time
from pathlib import Path
from typing import Callable, NamedTuple

# Source: the depth that the comparison is about, unless the bench asks for more.
TOP = int(os.environ.get("PEER_TOP", "10"))
# Questions of each conversation that are asked before the ones that count. Source: the same as bench-latency.
WARM_UP = 10


class Record(NamedTuple):
    """A text or a question with its vector, which is None when no word of it has one."""

    id: str
    conv: str
    text: str
    vector: array.array | None


class Found(NamedTuple):
    """What a peer answers with: a text and its id."""

    id: str
    text: str


class Peer(NamedTuple):
    """What a peer can do. An error in any of these is an error of the run; nothing falls back to something else."""

    version: str
    """As the peer itself says it."""
    build: Callable[[Path, str, list[Record]], None]
    """Puts texts into a new store: (store, layout, texts)."""
    opened: Callable[[Path, str], Callable[[Record], list[Found]]]
    """Opens a store (store, layout) and returns what answers a question with the best TOP texts, the best first."""


def status(name: str) -> int:
    """Returns one size of this process in bytes, as Linux tells it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(name)


BARE = status("VmRSS")


def run(peer: Peer) -> None:
    """Does what the command line says."""
    phase, handed, store, layout, out = sys.argv[1:]
    act = {"build": built, "ask": asked}[phase]
    Path(out).write_text(json.dumps(act(peer, Path(handed), Path(store), layout)))


def built(peer: Peer, handed: Path, store: Path, layout: str) -> dict:
    """Builds the store; reading what was handed over does not count."""
    texts = records(handed / "texts")
    store.mkdir(parents=True)
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    peer.build(store, layout, texts)
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    return {"version": peer.version, "events": len(texts), "cpu": cpu, "wall": wall}


def asked(peer: Peer, handed: Path, store: Path, layout: str) -> dict:
    """Asks every question once, after a few of each conversation that do not count."""
    questions = records(handed / "questions")
    answer = peer.opened(store, layout)
    for question in warm_up(questions):
        answer(question)
    costs, rows = [], []
    for question in questions:
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        found = answer(question)
        costs.append({"cpu": time.process_time_ns() - cpu, "wall": time.perf_counter_ns() - wall})
        if not all(text for _, text in found):
            raise ValueError(f"question {question.id}: an answer without its text")
        rows.append({"id": question.id, "ranked": [id for id, _ in found]})
    memory = {"bare": BARE, "resident": status("VmRSS"), "peak": status("VmHWM")}
    return {"version": peer.version, "costs": costs, "rows": rows, "memory": memory}


def warm_up(questions: list[Record]) -> list[Record]:
    """Returns the first questions of each conversation."""
    return [question for of_one in by_conv(questions).values() for question in of_one[:WARM_UP]]


def by_conv(of: list[Record]) -> dict[str, list[Record]]:
    """Groups by conversation, in the order of their first records."""
    groups: dict[str, list[Record]] = {}
    for record in of:
        groups.setdefault(record.conv, []).append(record)
    return groups


def stores(layout: str, texts: list[Record]) -> dict[str, list[Record]]:
    """Returns the texts by the store they go into: one for each conversation, or one named ALL."""
    return by_conv(texts) if layout == "apart" else {ALL: texts}


def store_of(layout: str, conv: str) -> str:
    """Returns the name of the store that a question of this conversation is asked of."""
    return conv if layout == "apart" else ALL


ALL = "all"


def records(stem: Path) -> list[Record]:
    """Reads STEM.jsonl and STEM.f32: one little-endian f32 vector for each line, all zeros where there is none."""
    lines = [json.loads(line) for line in stem.with_suffix(".jsonl").read_text("utf-8").split("\n") if line]
    values = array.array("f")
    values.frombytes(stem.with_suffix(".f32").read_bytes())
    if sys.byteorder == "big":
        values.byteswap()
    width, rest = divmod(len(values), len(lines))
    if rest:
        raise ValueError(f"{len(values)} values are no vectors for {len(lines)} lines")
    rows = (values[at * width : (at + 1) * width] for at in range(len(lines)))
    return [
        Record(line["id"], line["conv"], line["text"], row if any(row) else None) for line, row in zip(lines, rows)
    ]
