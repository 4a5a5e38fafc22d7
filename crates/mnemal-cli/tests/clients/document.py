"""Checks the server's OpenAPI document with openapi-spec-validator, and drives the server with the client that
openapi-python-client makes of it: `document.py PROGRAM`."""

import compileall
import importlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager

from openapi_spec_validator import OpenAPIV31SpecValidator

# Bodies and answers of lines of JSON, which the generator does not know; it leaves them out.
LEFT_OUT = "application/x-ndjson"
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        raise SystemExit(f"FAILED: {what}")


@contextmanager
def serving(program, home, compat):
    """Serves over HTTP while the block runs; gives the address and the key that a person's own programs share."""
    env = {**os.environ, "MNEMAL_DATA_DIR": f"{home}/data", "MNEMAL_COMPAT__MEM0": str(compat).lower()}
    with subprocess.Popen([program, "serve", "--listen", "127.0.0.1:0"], env=env, stderr=subprocess.PIPE, text=True) as child:
        try:
            address = child.stderr.readline().split("http://")[1].split("/")[0]
            key = subprocess.run([program, "key", "local"], env=env, capture_output=True, check=True, text=True)
            yield f"http://{address}", key.stdout.strip()
        finally:
            child.terminate()


def document(address, key):
    request = urllib.request.Request(f"{address}/openapi.json", headers={"authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def generated(folder, spec):
    """Makes a client; gives the folder, and what the generator left out."""
    source = folder / "openapi.json"
    source.write_text(json.dumps(spec))
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    command += ["--path", str(source), "--output-path", str(folder / "generated")]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    check(done.returncode == 0, f"the generator: {done.stdout}{done.stderr}")
    told = [line for line in done.stdout.splitlines() if "content_type" in line or "content type" in line or "WARNING" in line]
    return [line for line in told if LEFT_OUT not in line and "POST /v1/spaces/{space}/import" not in line]


def drive(folder, address, key):
    """Stores, finds and erases with the client that was made."""
    check(compileall.compile_dir(str(folder / "generated"), quiet=1), "the client compiles")
    sys.path.insert(0, str(folder))
    of = lambda name: importlib.import_module(f"generated.api.default.{name}")
    models = importlib.import_module("generated.models")
    make = importlib.import_module("generated").AuthenticatedClient
    with make(base_url=address, token=key) as client:
        of("space_create").sync(client=client, body=models.NewSpace(name="made"))
        note = models.NewMemory(content="Deploys happen on Tuesdays", key="deploy_day")
        stored = of("memory_add").sync("made", client=client, body=note)
        check(stored.status == "active", f"stored: {stored}")
        found = of("recall").sync("made", client=client, body=models.Recall(query="when do deploys happen?"))
        check("Tuesdays" in found.hits[0].text, f"found: {found}")
        listed = of("memory_list").sync("made", client=client, limit=5)
        check([row.key for row in listed.items] == ["deploy_day"], f"listed: {listed}")
        missing = of("memory_get_by_key").sync("made", "no-such-key", client=client)
        check(isinstance(missing, models.Problem) and missing.code == "not_found", f"a problem: {missing}")
        gone = of("memory_forget_by_key").sync_detailed("made", "deploy_day", client=client)
        check(gone.status_code == 200, f"erased: {gone}")


def main(program):
    # The one installation shows all of its routes, the other what a server has by itself.
    for compat in (True, False):
        with tempfile.TemporaryDirectory() as home, serving(program, home, compat) as (address, key):
            spec = document(address, key)
            errors = [f"{'/'.join(map(str, error.path))}: {error.message}" for error in OpenAPIV31SpecValidator(spec).iter_errors()]
            check(errors == [], f"the document: {errors[:5]}")
            if not compat:
                folder = pathlib.Path(home)
                left_out = generated(folder, spec)
                check(left_out == [], f"the generator leaves out: {left_out}")
                drive(folder, address, key)
    names = ("openapi-spec-validator", "openapi-python-client")
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in names) + f": {checks} checks")


main(sys.argv[1])
