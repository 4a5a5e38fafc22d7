"""Runs LangGraph's own store tests against `MnemalStore`: `langgraph_store.py PROGRAM LANGGRAPH [--json FILE]`.

LANGGRAPH is a checkout of github.com/langchain-ai/langgraph. Its tests of the in-memory and of the SQLite store are run as
they are, with our store in the place of theirs, each in a space of its own; pytest, pytest-asyncio and pytest-mock are needed.
Where a test hands in a function that embeds, mnemal's own embedding is used. It is no part of continuous integration.
"""

import argparse
import asyncio
import contextlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import uuid

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import langgraph.store.base.embed
import langgraph.store.memory
from langgraph.store.base import ensure_embeddings

from mnemal import Mnemal
from mnemal.langgraph import MnemalStore

FILES = {
    "libs/checkpoint": ("tests/test_store.py",),
    "libs/checkpoint-sqlite": ("tests/test_store.py", "tests/test_async_store.py", "tests/test_ttl.py"),
}
# Tests that ask what another store is and not what it does, with the reason.
OTHERS = {
    "test_nonnull_migrations": "the tables of SQLite",
    "test_escape_glob_literal": "the queries of SQLite",
    "test_namespace_match_pattern": "the queries of SQLite",
    "test_list_namespaces_prefix_uses_indexable_condition": "the queries of SQLite",
    "test_vector_store_initialization": "the tables and the embedding function of another store",
    "test_scores": "the scores of a given embedding function",
    "test_embed_with_path": "fields that are embedded one by one",
    "test_embed_with_path_operation_config": "fields that are embedded one by one",
    "test_sql_injection_vulnerability": "names of fields that a query of SQLite cannot hold",
    "test_ttl_override_default": "a read moves no end on in SQLite unless the store is told; TTLConfig says that it does",
}


class Stand(MnemalStore):
    """Our store with what the tests ask of theirs."""

    def __init__(self, index=None, ttl=None):
        super().__init__(Mnemal(f"test-{uuid.uuid4().hex}"), ttl=ttl)
        self.embeddings, self.index_config = ensure_embeddings(index["embed"]) if index else None, index
        self.ends = set()

    @classmethod
    @contextlib.contextmanager
    def from_conn_string(cls, _, *, index=None, ttl=None):
        yield cls(index, ttl)

    def setup(self):
        pass

    def _put(self, op):
        self.ends.discard((op.namespace, op.key))
        if op.value is not None and op.ttl is not None:
            self.ends.add((op.namespace, op.key))
        super()._put(op)

    def sweep_ttl(self):
        """There is nothing to sweep: what has ended is gone."""
        gone = {one for one in self.ends if self.get(*one, refresh_ttl=False) is None}
        self.ends -= gone
        return len(gone)

    def start_ttl_sweeper(self):
        pass

    def stop_ttl_sweeper(self):
        pass


class AsyncStand(Stand):
    """The same, as tests of asynchronous stores ask for it."""

    @classmethod
    @contextlib.asynccontextmanager
    async def from_conn_string(cls, _, *, index=None, ttl=None):
        yield cls(index, ttl)

    def batch(self, ops):
        with contextlib.suppress(RuntimeError):
            if asyncio.get_running_loop():
                raise asyncio.InvalidStateError("use abatch in an event loop")
        return super().batch(ops)

    async def setup(self):
        pass

    async def sweep_ttl(self):
        return await asyncio.to_thread(super().sweep_ttl)

    async def start_ttl_sweeper(self):
        pass

    async def stop_ttl_sweeper(self):
        pass


def stand_in():
    """Puts our store where tests import theirs from."""
    langgraph.store.memory.InMemoryStore = Stand
    for name, store in [("sqlite", Stand), ("sqlite.aio", AsyncStand), ("sqlite.base", Stand)]:
        module = types.ModuleType(f"langgraph.store.{name}")
        module.SqliteStore, module.AsyncSqliteStore = Stand, AsyncStand
        module.__path__ = []
        for missing in ("BaseSqliteStore", "SqliteIndexConfig", "_escape_glob_literal", "_namespace_match_pattern"):
            setattr(module, missing, store)
        module.NS_MATCH_FUNCTION = ""
        sys.modules[module.__name__] = module


class Counts:
    """What became of each test."""

    def __init__(self):
        self.fates = {}
        self.library = ""

    def pytest_collection_modifyitems(self, items):
        for item in items:
            reason = OTHERS.get(getattr(item, "originalname", item.name))
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.fates[f"{self.library}/{report.nodeid}"] = report.outcome


def run(library, files, chosen, counts):
    """Runs the tests of one library, whose modules begin with `tests` as those of the next one do."""
    sys.path.insert(0, str(library))
    counts.library = f"libs/{library.name}"
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as settings:
        settings.write("[pytest]\nasyncio_mode = auto\nmarkers =\n    flaky\n")
        settings.flush()
        options = ["-q", "-c", settings.name, "-p", "no:cacheprovider", "--import-mode=importlib", "--tb=short"]
        tests = [str(library / file) for file in files]
        done = pytest.main([*options, f"--rootdir={library}", "-k", chosen, *tests], plugins=[counts])
    if done not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"FAILED: {library} cannot be run: {done!r}")
    sys.path.remove(str(library))
    for name in [name for name in sys.modules if name == "tests" or name.startswith("tests.")]:
        del sys.modules[name]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("langgraph", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("-k", default="")
    given = parser.parse_args()
    stand_in()
    counts = Counts()
    with tempfile.TemporaryDirectory() as data:
        os.environ["MNEMAL_DATA_DIR"] = data
        command = [given.program, "serve", "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
            try:
                os.environ["MNEMAL_URL"] = "http://" + child.stderr.readline().split("http://")[1].split("/")[0]
                for library in FILES:
                    run(given.langgraph / library, FILES[library], given.k, counts)
            finally:
                child.terminate()
    told = {outcome: sum(1 for one in counts.fates.values() if one == outcome) for outcome in ("passed", "failed", "skipped")}
    commit = ["git", "-C", str(given.langgraph), "rev-parse", "HEAD"]
    known = subprocess.run(commit, capture_output=True, text=True, check=False).stdout.strip()
    packages = ("langgraph", "langgraph-checkpoint", "langchain-core", "pytest")
    result = {
        "command": "python integrations/python/tests/langgraph_store.py PROGRAM LANGGRAPH --json FILE",
        "program": subprocess.run([given.program, "--version"], capture_output=True, text=True, check=True).stdout.strip(),
        "langgraph_commit": known or None,
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "files": [f"{library}/{file}" for library, files in FILES.items() for file in files],
        **told,
        "failures": sorted(name for name, outcome in counts.fates.items() if outcome == "failed"),
        "left_out": OTHERS,
    }
    if given.json:
        given.json.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(told))
    sys.exit(1 if told["failed"] or not told["passed"] else 0)


main()
