"""LanceDB, hybrid: its native full-text index and its vectors, joined by its own RRF reranker with its defaults.

The full-text index has its defaults: English, stemmed, without stop words.
Vectors are searched exactly: the documentation asks for a vector index only above some 100,000 rows, and an approximate
one would find less.
"""

from pathlib import Path

import harness
from harness import TOP, Found, Record

import lancedb
import pyarrow as pa
from lancedb.rerankers import RRFReranker


def build(store: Path, layout: str, texts: list[Record]) -> None:
    width = len(next(text.vector for text in texts if text.vector))
    database = lancedb.connect(store)
    for name, group in harness.stores(layout, texts).items():
        table = database.create_table(table_name(name), rows(group, width))
        table.create_fts_index("text")
        if layout == "filtered":
            table.create_scalar_index("conv", index_type="BITMAP")


def rows(group: list[Record], width: int) -> pa.Table:
    """Returns texts as a table; one without a vector has a null in its place."""
    none = bytes(4 * width)
    values = b"".join(text.vector.tobytes() if text.vector else none for text in group)
    vectors = pa.FixedSizeListArray.from_arrays(
        pa.Array.from_buffers(pa.float32(), len(group) * width, [None, pa.py_buffer(values)]),
        width,
        mask=pa.array([text.vector is None for text in group]),
    )
    columns = {key: [getattr(text, key) for text in group] for key in ("id", "conv", "text")}
    return pa.table(columns | {"vector": vectors})


def opened(store: Path, layout: str):
    database = lancedb.connect(store)
    reranker = RRFReranker()
    tables = {}

    def answer(question: Record) -> list[Found]:
        name = harness.store_of(layout, question.conv)
        if name not in tables:
            tables[name] = database.open_table(table_name(name))
        if question.vector:
            search = tables[name].search(query_type="hybrid").vector(question.vector.tolist())
            # All vectors have length 1, so the product orders as the angle does.
            search = search.text(question.text).distance_type("dot").rerank(reranker)
        else:
            search = tables[name].search(question.text, query_type="fts")
        if layout == "filtered":
            search = search.where("conv = '{}'".format(question.conv.replace("'", "''")))
        found = search.limit(TOP).select(["id", "text"]).to_arrow()
        return [Found(*each) for each in zip(found["id"].to_pylist(), found["text"].to_pylist())]

    return answer


def table_name(name: str) -> str:
    """Returns a name that a table may have."""
    return "t" + name.encode().hex()


if __name__ == "__main__":
    harness.run(harness.Peer(lancedb.__version__, build, opened))
