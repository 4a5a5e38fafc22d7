"""Vectors of CrewAI, as text and beside each other."""

from __future__ import annotations

from base64 import b64decode, b64encode

import numpy
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
from crewai.memory.types import MemoryRecord


def check(records: list[MemoryRecord]) -> None:
    """Makes sure that all vectors have one length."""
    lengths = [len(one.embedding) for one in records if one.embedding]
    for length in lengths:
        if length != lengths[0]:
            raise EmbeddingDimensionMismatchError(lengths[0], length)


def packed(vector: list[float] | None) -> str | None:
    """Returns a vector as text, in single precision where that loses nothing."""
    if not vector:
        return None
    double, single = numpy.array(vector, "<f8"), numpy.array(vector, "<f4")
    kind, best = ("f4:", single) if (single == double).all() else ("f8:", double)
    return kind + b64encode(best.tobytes()).decode()


def unpacked(text: str | None) -> list[float] | None:
    """Returns the vector of a text."""
    return None if text is None else numpy.frombuffer(b64decode(text[3:]), "<" + text[:2]).tolist()


def nearest(found: list[MemoryRecord], query: list[float]) -> list[tuple[MemoryRecord, float]]:
    """Returns records by the cosines of their vectors, best first."""
    vectors, asked = numpy.array([one.embedding for one in found]), numpy.array(query)
    lengths = numpy.linalg.norm(vectors, axis=1) * numpy.linalg.norm(asked)
    scores = (vectors @ asked / numpy.where(lengths == 0, 1, lengths)).clip(0, 1)
    return sorted(zip(found, map(float, scores)), key=lambda one: -one[1])
