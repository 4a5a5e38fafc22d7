"""What the tests of adapters share: a server of their own, checks, a framework's own tests, and the account of both."""

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
import tarfile
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
# These files are named as what they test, and a framework's own tests are modules too.
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


def events_of(memory, session, user=None):
    """Returns the events of a conversation, held back or not, oldest first."""
    place, found = {}, []
    while place is not None:
        page = memory.client.event_list(memory.space, session=session, user=user, all=True, limit=200, **place)
        found += page["items"]
        place = {"cursor": page["next_cursor"]} if page.get("next_cursor") else None
    return found


def erase(memory, text, session, user=None):
    """Erases the events of a conversation that say a text, as a person does who looks at the log."""
    said = [event["id"] for event in events_of(memory, session, user) if event.get("content") == text]
    for one in said:
        memory.client.event_forget(memory.space, one, user=user)
    check(said, f"{text!r} is there to be erased")


def picture(size):
    """Returns what begins as a picture, of so many bytes."""
    return b"\x89PNG\r\n\x1a\n" + os.urandom(size)


def is_pinned(pinned):
    """Makes sure that the version is there whose protocol was read."""
    name, version = pinned.split("==")
    if (found := importlib.metadata.version(name)) != version:
        raise SystemExit(f"FAILED: this test is for {pinned}, and {found} is installed")


@contextlib.contextmanager
def served(program):
    """Runs a server with data of its own; clients find it by the environment."""
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
    """Yields the folder of a package as it was published, with its tests."""
    with tempfile.TemporaryDirectory() as folder:
        name = pinned.split("==")[0]
        fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", folder, pinned]
        subprocess.run(fetch, check=True)
        [archive] = pathlib.Path(folder).glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        yield next(one for one in pathlib.Path(folder).iterdir() if one.is_dir())


class Counts:
    """What became of each test; tests and classes of `left_out` are skipped, each with its reason."""

    def __init__(self, left_out=()):
        self.fates, self.left_out, self.reasons = {}, dict(left_out), {}

    def pytest_collection_modifyitems(self, items):
        import pytest

        for item in items:
            names = (getattr(item, "originalname", item.name), item.cls.__name__ if item.cls else "")
            reason = next((self.left_out[name] for name in names if name in self.left_out), None)
            if reason:
                self.reasons[reason] = self.reasons.get(reason, 0) + 1
                item.add_marker(pytest.mark.skip(reason=reason))

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.fates[report.nodeid] = report.outcome

    def entry(self):
        """Returns what the file of results says of them."""
        numbers = {fate: list(self.fates.values()).count(fate) for fate in ("passed", "failed", "skipped")}
        failures = sorted(name for name, fate in self.fates.items() if fate == "failed")
        return {**numbers, "failures": failures, "skipped_because": dict(sorted(self.reasons.items()))}


def run_tests(root, files, counts, *options, plugins=()):
    """Runs tests of a framework as they are."""
    import pytest

    with tempfile.NamedTemporaryFile("w", suffix=".ini") as settings:
        settings.write("[pytest]\nasyncio_mode = auto\n")
        settings.flush()
        fixed = ["-q", "-c", settings.name, "-p", "no:cacheprovider", "--tb=short", "-W", "ignore", *options]
        done = pytest.main([*fixed, f"--rootdir={root}", *(str(root / file) for file in files)], plugins=[counts, *plugins])
    if done not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SystemExit(f"FAILED: the tests cannot be run: {done!r}")


def arguments(about, more=None):
    """Reads the arguments; `about` is the docstring of the test."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("program", type=os.path.abspath)
    resolved = lambda name: pathlib.Path(name).resolve()
    parser.add_argument("--json", type=resolved, help="the file of results, of which one entry is made anew")
    parser.add_argument("-k", default="", help="only tests of the framework with this in their names")
    if more:
        more(parser)
    return parser.parse_args()


def account(given, name, pinned, suite, files=(), counts=None):
    """Prints what passed, adds it to the file of results, and ends: with 1 where something failed or nothing ran."""
    words = ["python", f"integrations/python/tests/{pathlib.Path(sys.argv[0]).name}", "PROGRAM", "--json FILE"]
    words += ["--tests CHECKOUT"] if getattr(given, "tests", None) else []
    version = subprocess.run([given.program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    # Where there are no tests of the framework, what passed are our own checks.
    fates = counts.entry() if counts else {"passed": len(passed), "failed": 0, "skipped": 0}
    entry = {
        "name": name, "suite": suite, "files": list(files), "version": pinned, **fates, "own_checks": len(passed),
        "date": datetime.date.today().isoformat(), "command": " ".join(words), "program": version,
    }
    own = "{passed} passed, {failed} failed, {skipped} left out".format(**entry) if counts else "none are run"
    print(f"{name} ({pinned}): {len(passed)} checks of ours passed; its own tests: {own}")
    for failure in entry.get("failures", ()):
        print("FAILED:", failure)
    if given.json:
        known = json.loads(given.json.read_text()) if given.json.exists() else []
        known = sorted([one for one in known if one["name"] != name] + [entry], key=lambda one: one["name"])
        given.json.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    sys.exit(1 if entry["failed"] or not entry["passed"] else 0)
