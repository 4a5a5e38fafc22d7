"""What the tests of frameworks share: a server of their own, checks, a framework's own tests, and the account of both."""

import argparse
import asyncio
import contextlib
import datetime
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path = [str(HERE.parent), *(one for one in sys.path if pathlib.Path(one or ".").resolve() != HERE)]
passed = []


def check(holds, what):
    """Counts what holds, and ends loudly where something does not."""
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    passed.append(what)


def found(ask):
    """Asks again while nothing is found, as on a machine that has much to do."""
    for _ in range(20):
        if answer := ask():
            break
    return answer


async def told(act):
    """Returns what an act gives, and the warnings that it tells."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        done = await act
    return done, [str(one.message) for one in said]


def raised(kind, act):
    """Returns what an act raises."""
    try:
        done = act()
        if asyncio.iscoroutine(done):
            asyncio.run(done)
    except kind as error:
        return error
    raise SystemExit(f"FAILED: no {kind.__name__} is raised")


@contextlib.contextmanager
def served(program):
    """Starts a server with a folder of its own, which clients find by themselves."""
    with tempfile.TemporaryDirectory() as data:
        os.environ["MNEMAL_DATA_DIR"] = data
        command = [program, "serve", "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
            try:
                os.environ["MNEMAL_URL"] = "http://" + child.stderr.readline().split("http://")[1].split("/")[0]
                yield
            finally:
                child.terminate()


@contextlib.contextmanager
def source(pinned):
    """Fetches the source of a package with its tests; what is fetched is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder, pinned]
        subprocess.run(fetch, check=True)
        [archive] = pathlib.Path(folder).glob("*.tar.gz")
        subprocess.run(["tar", "xzf", str(archive), "-C", folder], check=True)
        yield next(one for one in pathlib.Path(folder).iterdir() if one.is_dir())


class Counts:
    """What became of each test of a suite; `others` are those that ask what another store is, with the reason."""

    def __init__(self, others):
        self.others, self.fates = others, {}

    def pytest_collection_modifyitems(self, items):
        import pytest

        for item in items:
            if reason := self.others.get(getattr(item, "originalname", item.name)):
                item.add_marker(pytest.mark.skip(reason=reason))

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.fates[report.nodeid] = report.outcome

    def told(self):
        count = lambda fate: sum(1 for one in self.fates.values() if one == fate)
        failures = sorted(name for name, fate in self.fates.items() if fate == "failed")
        return {"passed": count("passed"), "failed": count("failed"), "skipped": count("skipped"), "failures": failures}


def arguments(about):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--json", type=lambda name: pathlib.Path(name).resolve(), help="file of results to which the entry is added")
    parser.add_argument("-k", default="", help="only tests of the framework with this in their names")
    return parser.parse_args()


def account(given, name, pinned, suite, packages=(), **more):
    """Prints what passed, adds it to the file of results, and ends: with 1 where something failed."""
    version = importlib.metadata.version(pinned.split("==")[0])
    if version != pinned.split("==")[1]:
        raise SystemExit(f"FAILED: the tests are made for {pinned}, installed is {version}")
    entry = {
        "name": name,
        "suite": suite,
        "version": pinned,
        "packages": {one: importlib.metadata.version(one) for one in packages},
        "own_checks": len(passed),
        # Where there are no tests of the framework, what passed are our own checks.
        **{"passed": len(passed), "failed": 0, "skipped": 0, **more},
        "date": os.environ.get("MNEMAL_TEST_DATE") or datetime.date.today().isoformat(),
        "command": f"python integrations/python/tests/{pathlib.Path(sys.argv[0]).name} PROGRAM",
        "program": subprocess.run([given.program, "--version"], capture_output=True, text=True, check=True).stdout.strip(),
    }
    suites = "{passed} passed, {failed} failed, {skipped} left out".format(**entry) if more else "the package has none"
    print(f"{name} ({pinned}): {len(passed)} checks of ours passed; its own tests: {suites}")
    for failure in entry.get("failures", ()):
        print("FAILED:", failure)
    if given.json:
        known = json.loads(given.json.read_text()) if given.json.exists() else []
        known = sorted([one for one in known if one["name"] != name] + [entry], key=lambda one: one["name"])
        given.json.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    sys.exit(1 if entry["failed"] else 0)
