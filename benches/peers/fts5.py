"""SQLite FTS5 as it comes: every word of the question, OR-ed, ordered by `rank`; no vectors.

The SQLite is that of the Python which runs this. `fts5_porter.py` is the same with stems and without stop words.
"""

import re
import sqlite3
from functools import partial
from pathlib import Path

import harness
from harness import TOP, Found, Record


def run(tokenizer: str, stop_words: frozenset[str]) -> None:
    """Does what the command line says, with this tokenizer, dropping these words from questions."""
    opens = partial(opened, stop_words)
    harness.run(harness.Peer(sqlite3.sqlite_version, partial(build, tokenizer), opens))


def build(tokenizer: str, store: Path, layout: str, texts: list[Record]) -> None:
    for name, group in harness.stores(layout, texts).items():
        database = sqlite3.connect(store / f"{conv_word(name)}.db")
        with database:
            # The conversation is a word of its own column, so that the index narrows and not a filter after it.
            database.execute(
                f"CREATE VIRTUAL TABLE turns USING fts5(id UNINDEXED, conv, text, tokenize = '{tokenizer}')"
            )
            rows = ((text.id, conv_word(text.conv) if layout == "filtered" else "", text.text) for text in group)
            database.executemany("INSERT INTO turns (id, conv, text) VALUES (?, ?, ?)", rows)
            # That column finds and does not weigh.
            database.execute("INSERT INTO turns (turns, rank) VALUES ('rank', 'bm25(0.0, 0.0, 1.0)')")
            database.execute("INSERT INTO turns (turns) VALUES ('optimize')")
        database.close()


def opened(stop_words: frozenset[str], store: Path, layout: str):
    databases: dict[str, sqlite3.Connection] = {}

    def answer(question: Record) -> list[Found]:
        name = harness.store_of(layout, question.conv)
        if name not in databases:
            databases[name] = sqlite3.connect(store / f"{conv_word(name)}.db")
        match = expression(question.text, stop_words)
        if match is None:
            return []
        if layout == "filtered":
            match = f'conv : "{conv_word(question.conv)}" AND {match}'
        found = databases[name].execute(
            f"SELECT id, text FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT {TOP}", (match,)
        )
        return [Found(*row) for row in found]

    return answer


def expression(question: str, stop_words: frozenset[str]) -> str | None:
    """Returns the words of a question as a query, quoted and OR-ed: all of them when there are only stop words."""
    words = re.findall(r"\w+", question.lower())
    rare = [word for word in words if word not in stop_words]
    return "text : (" + " OR ".join(f'"{word}"' for word in rare or words) + ")" if words else None


def conv_word(conv: str) -> str:
    """Returns the name of a conversation as one word for the tokenizer; none of its own rules changes hexadecimals."""
    return "x" + conv.encode().hex()


if __name__ == "__main__":
    run("unicode61", frozenset())
