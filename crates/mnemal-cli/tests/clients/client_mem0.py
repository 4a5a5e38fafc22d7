"""Drives `mnemal serve` with the client of mem0 from PyPI, and asks as Hermes and qwen-code do: `client_mem0.py PROGRAM`."""

import asyncio
import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager

os.environ["MEM0_TELEMETRY"] = "False"
HOME = tempfile.TemporaryDirectory()
os.environ["MEM0_DIR"] = HOME.name

import httpx
from mem0 import AsyncMemoryClient, MemoryClient
from mem0.client.types import AddMemoryOptions, SearchMemoryOptions, UpdateMemoryOptions
from mem0.exceptions import MemoryNotFoundError, ValidationError

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


def words(answer):
    return [row["memory"] for row in answer["results"]]


@contextmanager
def serving(program, home):
    """Serves over HTTP while the block runs; gives the address and a key of one space that may do all."""
    env = {**os.environ, "MNEMAL_DATA_DIR": f"{home}/data", "MNEMAL_COMPAT__MEM0": "true"}
    command = [program, "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as child:
        try:
            address = child.stderr.readline().split("http://")[1].split("/")[0]
            create = [program, "-s", "friends", "key", "create", "--name", "mem0", "--rights", "read,write,erase"]
            key = subprocess.run([*create, "--json"], env=env, capture_output=True, check=True, text=True)
            yield f"http://{address}", json.loads(key.stdout)["secret"]
        finally:
            child.terminate()


def memories(client):
    """What is added is found, listed, changed and erased."""
    added = client.add("The ferry leaves at nine", user_id="ana", metadata={"topic": "boats", "deck": 2}, infer=False)
    check([row["event"] for row in added["results"]] == ["ADD"], f"add: {added}")
    ferry = added["results"][0]["id"]
    turns = [{"role": "user", "content": "The ferry is red"}, {"role": "assistant", "content": "The tram is blue"}]
    client.add(turns, AddMemoryOptions(filters={"user_id": "ana", "run_id": "trip"}, timestamp=1_790_000_000))
    client.add("The ferry leaves at noon", user_id="bo", app_id="boats", expiration_date="2999-12-31")
    one = client.get(ferry)
    check(one["memory"] == "The ferry leaves at nine" and one["user_id"] == "ana", f"get: {one}")
    check(one["metadata"] == {"topic": "boats", "deck": 2}, f"metadata keeps its types: {one}")
    page = client.get_all(filters={"user_id": "ana"}, page=1, page_size=2)
    check((page["count"], len(page["results"]), page["previous"]) == (3, 2, None), f"get_all: {page}")
    rest = client.get_all(filters={"user_id": "ana"}, page=2, page_size=2)
    check(words(rest) == ["The ferry leaves at nine"] and rest["next"] is None, f"its last page: {rest}")
    changed = client.update(ferry, UpdateMemoryOptions(text="The ferry leaves at ten", metadata={"deck": 3}))
    check("message" in changed, f"update: {changed}")
    check(client.get(ferry)["metadata"]["deck"] == 3, "an update of the metadata")
    history = client.history(ferry)
    check([change["new_memory"] for change in history] == ["The ferry leaves at nine", "The ferry leaves at ten"], f"{history}")
    return ferry


def conditions(client, ferry):
    """Conditions of a search are carried out or refused."""
    everyone = {"OR": [{"user_id": "ana"}, {"user_id": "bo"}]}
    both = client.search("ferry", filters=everyone)
    check(len([text for text in words(both) if "ferry" in text]) == 3, f"a search of two users: {both}")
    for filters, expected in [
        ({"user_id": "bo"}, {"The ferry leaves at noon"}),
        ({"AND": [{"user_id": "ana"}, {"deck": {"gte": 3}}]}, {"The ferry leaves at ten"}),
        ({"AND": [everyone, {"NOT": [{"topic": "boats"}]}, {"app_id": "*"}]}, {"The ferry leaves at noon"}),
        ({"user_id": "ana", "run_id": "trip"}, {"The ferry is red"}),
    ]:
        found = client.search("ferry", filters=filters, top_k=5)
        got = {text for text in words(found) if "ferry" in text}
        check(got == expected, f"{filters}: {found}")
    best = client.search("when does the ferry leave?", SearchMemoryOptions(filters={"user_id": "ana"}, top_k=1, rerank=False))
    check(len(best["results"]) == 1 and best["results"][0]["score"] > 0, f"one hit: {best}")
    none = client.search("ferry", filters={"user_id": "ana"}, threshold=1.0)
    check(words(none) == [], f"nothing is as near as that: {none}")
    some = client.search("ferry", filters={"user_id": "bo"}, fields=["id", "memory"])
    check(set(some["results"][0]) == {"id", "memory"}, f"fields: {some}")
    for filters in ({}, {"deck": 3}, {"user_id": {"near": "ana"}}):
        error = raised(ValidationError, lambda: client.search("ferry", filters=filters))
        check("user_id" in str(error) or "near" in str(error), f"{filters}: {error}")
    check(client.get(ferry)["id"] == ferry, "a refused search changes nothing")


def owners(client):
    """Whose memories there are, and what goes with them."""
    named = {(row["type"], row["name"], row["total_memories"]) for row in client.users()["results"]}
    check(named == {("user", "ana", 3), ("user", "bo", 1), ("app", "boats", 1), ("run", "trip", 2)}, f"users: {named}")
    raised(ValidationError, lambda: client.delete_all())
    check(client.users()["count"] == 4, "to erase nobody's erases nothing")
    client.delete_users(app_id="boats")
    check({row["name"] for row in client.users()["results"]} == {"ana", "trip"}, "the memories of an application")
    client.delete_all(user_id="ana", run_id="trip")
    check(words(client.get_all(filters={"user_id": "ana"})) == ["The ferry leaves at ten"], "delete_all of a run")


def batches(client, ferry):
    """Several at once, and one that is gone."""
    client.batch_update([{"memory_id": ferry, "text": "The ferry leaves at eleven"}])
    check(client.get(ferry)["memory"] == "The ferry leaves at eleven", "a batch of changes")
    second = client.add("The pier is closed", user_id="ana")["results"][0]["id"]
    client.batch_delete([{"memory_id": second}])
    raised(MemoryNotFoundError, lambda: client.get(second))
    client.delete(ferry, delete_linked=True)
    raised(MemoryNotFoundError, lambda: client.get(ferry))
    check(client.get_all(filters={"user_id": "ana"})["count"] == 0, "nothing is left")
    raised(ValueError, client.reset)
    client.add("The pier is open", agent_id="guide")
    client.reset()
    check(client.users()["count"] == 0, "a reset")


async def awaited(host, key):
    """The same client for programs that wait for nothing."""
    async with AsyncMemoryClient(api_key=key, host=host) as client:
        added = await client.add("The mill grinds on Mondays", user_id="cy")
        found = await client.search("mill", filters={"user_id": "cy"})
        check(words(found) == ["The mill grinds on Mondays"], f"an awaited search: {found}")
        await client.delete(added["results"][0]["id"])
        check((await client.get_all(filters={"user_id": "cy"}))["count"] == 0, "an awaited deletion")


def hermes(host, key):
    """The requests of `SelfHostedBackend` in NousResearch/hermes-agent, `plugins/memory/mem0/_backend.py`."""
    with httpx.Client(base_url=host, headers={"Content-Type": "application/json", "X-API-Key": key}) as client:
        ask = lambda method, path, **rest: client.request(method, path, **rest).raise_for_status().json()
        turns = [{"role": "user", "content": "Rye is in the pantry"}, {"role": "assistant", "content": "I wrote down the rye"}]
        body = {"messages": turns, "user_id": "dee", "agent_id": "hermes", "infer": False, "metadata": {"channel": "cli"}}
        rows = ask("POST", "/memories", json=body)["results"]
        check(len(rows) == 2 and all(row["event"] == "ADD" for row in rows), f"hermes adds: {rows}")
        search = {"query": "where is the rye?", "top_k": 10, "filters": {"user_id": "dee"}}
        found = ask("POST", "/search", json=search)["results"]
        check("Rye is in the pantry" in [row["memory"] for row in found], f"hermes searches: {found}")
        check(all(isinstance(row["score"], float) and row["id"] for row in found), f"what hermes reads: {found}")
        ask("PUT", f"/memories/{rows[0]['id']}", json={"text": "Rye is in the cellar"})
        ask("DELETE", f"/memories/{rows[1]['id']}")
        left = ask("POST", "/search", json=search)["results"]
        check([row["memory"] for row in left] == ["Rye is in the cellar"], f"hermes changes and deletes: {left}")


def qwen(host, key):
    """The three contracts of `memory.mem0` in QwenLM/qwen-code, `integrations/external-context/src/mem0-presets.ts`."""
    for header, search, write, scope, place in [
        ({"authorization": f"Token {key}"}, ("/v2/memories/search", {"limit": 5}), "/v1/memories", {"user_id": "q2"}, "filters"),
        ({"authorization": f"Token {key}"}, ("/v3/memories/search/", {"top_k": 5, "threshold": 0.1, "rerank": False}), "/v3/memories/add/", {"app_id": "q3"}, "filters"),
        ({"x-api-key": key}, ("/search", {"top_k": 5}), "/memories", {"user_id": "q1", "agent_id": "a1"}, "filters"),
    ]:
        path, body = search
        with httpx.Client(base_url=host, headers=header) as client:
            message = {"messages": [{"role": "user", "content": "Builds need clang"}], "infer": False, **scope}
            added = client.post(write, json=message).raise_for_status().json()
            check(added["status"] == "SUCCEEDED" and added["results"][0]["id"], f"{write}: {added}")
            found = client.post(path, json={"query": "what do builds need?", **body, place: scope}).raise_for_status().json()
            rows = [(row["memory"], type(row["id"]), type(row["score"])) for row in found["results"]]
            check(rows == [("Builds need clang", str, float)], f"{path}: {found}")
            other = {name: "somebody-else" for name in scope}
            check(client.post(path, json={"query": "builds", **body, place: other}).json()["results"] == [], f"{path}: another")


def main(program):
    with serving(program, HOME.name) as (host, key):
        error = raised(ValueError, lambda: MemoryClient(api_key="mk_no-such-key", host=host))
        check("key" in str(error), f"an unknown key: {error}")
        client = MemoryClient(api_key=key, host=host)
        check(client.project_id == "friends", f"validated: {client.project_id}")
        ferry = memories(client)
        conditions(client, ferry)
        owners(client)
        batches(client, ferry)
        asyncio.run(awaited(host, key))
        hermes(host, key)
        qwen(host, key)
    print(f"mem0ai {importlib.metadata.version('mem0ai')} for Python: {checks} checks")


main(sys.argv[1])
