"""Asks `mnemal serve` what its OpenAPI document allows and what it forbids, with schemathesis:
`fuzz.py PROGRAM [--requests N] [--seed N] [--write FILE]`.

An answer of the 500s, one that the document does not know, and one that breaks its schema are failures.
The stream of events is left out: it has no end.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
# Everything happens in one space: names of spaces are tried by the paths that make, change and remove them.
CONFIG = 'parameters = { space = "fuzz" }\n'
# The suite writes no lines of JSON by itself.
HOOKS = """
import schemathesis

@schemathesis.serializer("application/x-ndjson")
def ndjson(ctx, value):
    text = value if isinstance(value, str) else str(value)
    return text.encode("utf-8", errors="surrogateescape")
"""


def serving(program, home):
    env = {**os.environ, "HOME": home, "MNEMAL_DATA_DIR": f"{home}/data"}
    # Limits of requests are tested elsewhere; here they would hide what is behind them.
    env |= {"MNEMAL_SERVER__RATE_LIMIT_RPS": "100000", "MNEMAL_SERVER__RATE_LIMIT_BURST": "100000"}
    command = [program, "serve", "--listen", "127.0.0.1:0", "--no-auth"]
    child = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    for line in child.stderr:
        if "http://" in line:
            return child, "http://" + line.split("http://")[1].split("/")[0]
    raise SystemExit(f"FAILED: the server did not start: {child.wait()}")


def run(address, folder, seed, examples):
    """One run; returns the answers by status, and what failed."""
    report = folder / f"{seed}.ndjson"
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(folder / "schemathesis.toml"),
        "run", str(folder / "openapi.json"), "-u", address, "--phases", "coverage,fuzzing", "-c", CHECKS,
        "-n", str(examples), "--seed", str(seed), "--workers", "1", "--request-timeout", "30",
        "--continue-on-failure", "--no-shrink", "--exclude-path-regex", "/stream$",
        "--suppress-health-check", "all", "--warnings", "off",
        "--report", "ndjson", "--report-ndjson-path", str(report),
    ]
    env = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(folder), "NO_COLOR": "1"}
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True)
    answers, failures = collections.Counter(), []
    for line in report.read_text().splitlines():
        (kind, event), = json.loads(line).items()
        if kind == "NonFatalError":
            failures.append({"operation": event.get("label"), "error": event["value"]["message"]})
        recorder = event.get("recorder", {}) if kind == "ScenarioFinished" else {}
        for case, interaction in recorder.get("interactions", {}).items():
            response = interaction.get("response")
            answers[str(response["status_code"]) if response else "none"] += 1
            for check in recorder.get("checks", {}).get(case, []):
                if check["status"] not in ("success", "skip"):
                    failures.append({"operation": recorder["label"], "check": check["name"], "case": case})
    if done.returncode != 0:
        print(done.stdout[-12_000:])
        failures = failures or [{"error": done.stdout[-500:] + done.stderr[-500:]}]
    return answers, failures


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("program")
    parse.add_argument("--requests", type=int, default=10_000)
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--examples", type=int, default=40)
    parse.add_argument("--write")
    asked = parse.parse_args()
    answers, failures, begun, runs = collections.Counter(), [], time.monotonic(), 0
    with tempfile.TemporaryDirectory() as home:
        child, address = serving(asked.program, home)
        folder = pathlib.Path(home)
        try:
            with urllib.request.urlopen(f"{address}/openapi.json") as document:
                (folder / "openapi.json").write_bytes(document.read())
            (folder / "schemathesis.toml").write_text(CONFIG)
            (folder / "hooks.py").write_text(HOOKS)
            while answers.total() < asked.requests and not failures:
                found, wrong = run(address, folder, asked.seed + runs, asked.examples)
                answers += found
                failures += wrong
                runs += 1
            died = child.poll()
        finally:
            child.terminate()
            child.wait()
    outcome = {
        "requests": answers.total(),
        "answers": dict(sorted(answers.items())),
        "server_errors": sum(count for status, count in answers.items() if status.startswith("5")),
        "unanswered": answers["none"],
        "failures": failures,
        "server_died": died is not None,
        "seeds": [asked.seed + run for run in range(runs)],
        "seconds": round(time.monotonic() - begun, 1),
    }
    text = json.dumps(outcome, indent=1)
    print(text)
    if asked.write:
        pathlib.Path(asked.write).write_text(text + "\n")
    if failures or died is not None or outcome["server_errors"] or outcome["unanswered"]:
        raise SystemExit("FAILED")


main()
