"""Mem0 without a model: turns are added as they are (`infer=False`), into its default store of vectors, a local Qdrant.

Its ranking by words needs packages and models that it does not install itself.
"""

import os
from pathlib import Path

import harness
from harness import TOP, Found, Record

os.environ["MEM0_TELEMETRY"] = "False"

from importlib.metadata import version

from mem0 import Memory

# Neither is ever asked.
NO_MODEL = {"provider": "openai", "config": {"api_key": "none"}}


class Handed:
    """An embedder that gives the one vector that was handed over."""

    def __init__(self) -> None:
        self.text, self.vector = "", []

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        if text.split() != self.text.split():
            raise ValueError(f"no vector was handed over for: {text}")
        return self.vector


def memory_at(store: Path, width: int) -> tuple[Memory, Handed]:
    qdrant = {"path": str(store / "qdrant"), "collection_name": "turns", "embedding_model_dims": width, "on_disk": True}
    config = {
        "vector_store": {"provider": "qdrant", "config": qdrant},
        "embedder": NO_MODEL,
        "llm": NO_MODEL,
        "history_db_path": str(store / "history.db"),
    }
    memory = Memory.from_config(config)
    memory.embedding_model = handed = Handed()
    return memory, handed


def build(store: Path, layout: str, texts: list[Record]) -> None:
    width = len(next(text.vector for text in texts if text.vector))
    memory, handed = memory_at(store, width)
    for text in texts:
        handed.text, handed.vector = text.text, text.vector.tolist() if text.vector else [0.0] * width
        memory.add(
            [{"role": "user", "content": text.text}],
            user_id=harness.store_of(layout, text.conv),
            metadata={"turn": text.id, "conv": text.conv},
            infer=False,
        )


def opened(store: Path, layout: str):
    memory, handed = None, None

    def answer(question: Record) -> list[Found]:
        nonlocal memory, handed
        if not question.vector:
            return []
        if memory is None:
            memory, handed = memory_at(store, len(question.vector))
        handed.text, handed.vector = question.text, question.vector.tolist()
        filters = {"user_id": harness.store_of(layout, question.conv)}
        if layout == "filtered":
            filters["conv"] = question.conv
        found = memory.search(question.text, top_k=TOP, filters=filters, threshold=0.0)["results"]
        return [Found(item["metadata"]["turn"], item["memory"]) for item in found]

    return answer


if __name__ == "__main__":
    harness.run(harness.Peer(version("mem0ai"), build, opened))
