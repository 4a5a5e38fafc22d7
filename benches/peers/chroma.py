"""Chroma: vectors in a collection on disk, with its default HNSW parameters.

It has no ranking by words: `where_document` filters and does not order.
"""

from pathlib import Path

import harness
from harness import TOP, Found, Record

import chromadb
from chromadb.config import Settings

# All vectors have length 1, so the product orders as the angle does, and a text without a vector comes after all that fit.
CONFIGURATION = {"hnsw": {"space": "ip"}}


def client(store: Path):
    """Opens the store; nothing is reported to anybody."""
    return chromadb.PersistentClient(path=str(store), settings=Settings(anonymized_telemetry=False))


def build(store: Path, layout: str, texts: list[Record]) -> None:
    width = len(next(text.vector for text in texts if text.vector))
    chroma = client(store)
    batch = chroma.get_max_batch_size()
    for name, group in harness.stores(layout, texts).items():
        collection = chroma.create_collection(
            collection_name(name), embedding_function=None, configuration=CONFIGURATION
        )
        for at in range(0, len(group), batch):
            some = group[at : at + batch]
            collection.add(
                ids=[text.id for text in some],
                embeddings=[text.vector.tolist() if text.vector else [0.0] * width for text in some],
                documents=[text.text for text in some],
                metadatas=[{"conv": text.conv} for text in some],
            )


def opened(store: Path, layout: str):
    chroma = client(store)
    collections = {}

    def answer(question: Record) -> list[Found]:
        if not question.vector:
            return []
        name = harness.store_of(layout, question.conv)
        if name not in collections:
            collections[name] = chroma.get_collection(collection_name(name), embedding_function=None)
        where = {"conv": question.conv} if layout == "filtered" else None
        found = collections[name].query(
            query_embeddings=[question.vector.tolist()], n_results=TOP, where=where, include=["documents"]
        )
        return [Found(*each) for each in zip(found["ids"][0], found["documents"][0])]

    return answer


def collection_name(name: str) -> str:
    """Returns a name that a collection may have: letters and digits, three at least."""
    return "col" + name.encode().hex()


if __name__ == "__main__":
    harness.run(harness.Peer(chromadb.__version__, build, opened))
