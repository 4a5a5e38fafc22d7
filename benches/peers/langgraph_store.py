"""LangGraph: its store in memory with an index of vectors, which it compares by their cosine with all of a namespace.

It has no ranking by words. What is built lies in a file, which a process reads into the store before it is asked.
"""

import pickle
from importlib.metadata import version
from pathlib import Path

import harness
from harness import TOP, Found, Record

from langgraph.store.memory import InMemoryStore


def build(store: Path, layout: str, texts: list[Record]) -> None:
    rows = [(harness.store_of(layout, text.conv), *text) for text in texts]
    (store / "texts").write_bytes(pickle.dumps(rows))


def opened(store: Path, layout: str):
    rows = pickle.loads((store / "texts").read_bytes())
    vectors = {text: vector.tolist() for _, _, _, text, vector in rows if vector}
    width = len(next(iter(vectors.values())))
    index = {"dims": width, "embed": lambda texts: [vectors[text] for text in texts], "fields": ["text"]}
    langgraph = InMemoryStore(index=index)
    for name, id, conv, text, vector in rows:
        langgraph.put((name,), id, {"text": text, "conv": conv}, index=None if vector else False)

    def answer(question: Record) -> list[Found]:
        if not question.vector:
            return []
        vectors[question.text] = question.vector.tolist()
        narrowed = {"conv": question.conv} if layout == "filtered" else None
        name = harness.store_of(layout, question.conv)
        found = langgraph.search((name,), query=question.text, filter=narrowed, limit=TOP)
        return [Found(item.key, item.value["text"]) for item in found]

    return answer


if __name__ == "__main__":
    harness.run(harness.Peer(version("langgraph-checkpoint"), build, opened))
