"""What the tests of adapters share: a server, the framework's own tests, and what became of them."""

import argparse
import contextlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
# The tests of a framework are no part of its wheel.
sys.path.remove(str(HERE))

import pytest

checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        raise SystemExit(f"FAILED: {what}")


def raised(kind, act):
    """Returns what an act raises."""
    try:
        act()
    except kind as error:
        return error
    raise SystemExit(f"FAILED: no {kind.__name__} is raised")


@contextlib.contextmanager
def server(program):
    """Runs a server with data of its own; the client finds it by the environment."""
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
def source(package, version):
    """Yields the folder of a package as it was published, with its tests."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", package]
        subprocess.run([*pip, f"{package}=={version}", "-d", folder], check=True)
        (archive,) = pathlib.Path(folder).glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        (inside,) = (one for one in pathlib.Path(folder).iterdir() if one.is_dir())
        yield inside


class Counts:
    """What became of each test; tests of `left_out` are skipped, each with its reason."""

    def __init__(self, left_out, chosen=""):
        self.fates, self.left_out, self.chosen, self.met = {}, left_out, chosen, {}

    def pytest_collection_modifyitems(self, items):
        for item in items:
            names = (getattr(item, "originalname", item.name), item.cls.__name__ if item.cls else "")
            reason = next((self.left_out[name] for name in names if name in self.left_out), None)
            if reason:
                self.met[reason] = self.met.get(reason, 0) + 1
                item.add_marker(pytest.mark.skip(reason=reason))

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.fates[report.nodeid] = report.outcome

    def number(self, outcome):
        return sum(1 for one in self.fates.values() if one == outcome)


def run_tests(root, files, counts, *options, plugins=()):
    """Runs tests of a framework as they are."""
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as settings:
        settings.write("[pytest]\nasyncio_mode = auto\n")
        settings.flush()
        fixed = ["-q", "-c", settings.name, "-p", "no:cacheprovider", "--tb=short", "-W", "ignore", *options]
        done = pytest.main([*fixed, f"--rootdir={root}", *(str(root / file) for file in files)], plugins=[counts, *plugins])
    if done not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SystemExit(f"FAILED: the tests cannot be run: {done!r}")


def arguments(about, more=None):
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--json", type=pathlib.Path, help="the file of results, of which one entry is made anew")
    if more:
        more(parser)
    return parser.parse_args()


def keep(given, result):
    """Makes the entry of a framework anew in the file of results, where that is asked for."""
    words = ["python", f"integrations/python/tests/{pathlib.Path(sys.argv[0]).name}", "PROGRAM", "--json FILE"]
    words += ["--tests CHECKOUT"] if getattr(given, "tests", None) else []
    result |= {"date": "2026-11-29", "command": " ".join(words)}
    if given.json:
        known = json.loads(given.json.read_text()) if given.json.exists() else []
        known = [one for one in known if one["name"] != result["name"]] + [result]
        given.json.write_text(json.dumps(sorted(known, key=lambda one: one["name"]), indent=1) + "\n")


def finish(given, name, package, version, suite, files, counts):
    """Prints what passed, keeps it, and fails if anything did."""
    fates = {outcome: counts.number(outcome) for outcome in ("passed", "failed", "skipped")}
    about = {"name": name, "suite": suite, "files": list(files), "version": f"{package} {version}", **fates}
    keep(given, {**about, "skipped_because": dict(sorted(counts.met.items())), "own_checks": checks})
    told = ", ".join(f"{number} {outcome}" for outcome, number in fates.items())
    print(f"{package} {version}: {told} of its own tests, {checks} checks of ours")
    sys.exit(1 if fates["failed"] or not fates["passed"] else 0)


def finish_own(given, name, package, version, suite):
    """The same where the framework has no tests of its own: a check that fails has ended the run already."""
    fates = {"passed": checks, "failed": 0, "skipped": 0}
    keep(given, {"name": name, "suite": suite, "version": f"{package} {version}", **fates})
    print(f"{package} {version}: {checks} checks of ours passed")
    sys.exit(0)


def pinned(package, version):
    """Makes sure that the version is there whose protocol was read."""
    found = importlib.metadata.version(package)
    if found != version:
        raise SystemExit(f"FAILED: this test is for {package} {version}, and {found} is installed")
