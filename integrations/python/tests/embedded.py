"""Checks the engine in this process, and that it answers as a server does: `embedded.py PROGRAM MODULE`.

`MODULE` is the native module as cargo builds it, or `-` for the one of the package that is installed.
"""

import asyncio
import importlib.util
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import redirect_stdout

from facade import check, facade, found, passed, raised, waiting, whole
from framework import HERE, served

from mnemal import AsyncMemory, AsyncMnemal, Client, Memory, Mnemal, MnemalError

# Loads a module of cargo as that of the package, in a process of its own too.
LOAD = '''
import importlib.util, sys
def load(path):
    if path != "-":
        spec = importlib.util.spec_from_file_location("mnemal._engine", path)
        sys.modules["mnemal._engine"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
'''
exec(LOAD)


def refused(code, act):
    """Returns the error that an act raises, which has this code."""
    error = raised(MnemalError, act)
    check(error.code == code and error.detail, f"{code}: {error}")
    return error


def shape(value):
    """Returns what kinds of values stand under which names, without the values."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in sorted(value.items())}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return type(value).__name__


def answers(memory):
    """Returns answers of every sort, and errors."""
    space, client = memory.space, memory.client
    yield memory.remember("The harbor lies in the north", key="harbor", tags=["places"], metadata={"n": 1})
    yield memory.log("s1", ("user", "My sister Ana lives in Porto")).answer
    yield whole(lambda: memory.recall("where is the harbor?", explain=True).answer)
    yield whole(lambda: memory.context("where does my sister live?", session="s1"))
    yield whole(lambda: memory.ask("Where is the harbor?"))
    yield client.event_list(space, limit=1)
    yield client.memory_list(space)
    yield client.working_put(space, "a/b", "[1]")
    yield client.stats(space)
    yield client.session_list(space)
    for act in (
        lambda: client.memory_add(space, ""),
        lambda: client.memory_add(space, 3),
        lambda: client.memory_get_by_key(space, "none"),
        lambda: client.recall(space, "x", limit=-1),
        lambda: client.event_list(space, cursor="nonsense"),
        lambda: client.recall("no such space", "x"),
    ):
        error = raised(MnemalError, act)
        yield {"status": error.status, "code": error.code, "detail": error.detail.replace(space, "SPACE"), "hint": error.hint}


def alike(folder):
    """Each answer has the form of the server's, and each error is the server's."""
    with Memory(folder, space="alike") as here:
        for there, near in zip(answers(Mnemal("alike")), answers(here), strict=True):
            is_problem = "status" in there and "hint" in there
            there, near = (there, near) if is_problem else (shape(there), shape(near))
            check(there == near, f"as the server says:\n{there}\n{near}")


def file(folder):
    """A memory is one file beside the key of the installation; it is there when it is opened again."""
    path = pathlib.Path(folder) / "agent.db"
    with Memory(path) as memory:
        check(memory.space == "agent", f"named by its file {memory.space}")
        memory.log("s1", ("user", "Deploys happen on Tuesdays"))
        check(memory.client.stats("agent")["bytes"] > 0, "it has a size")
        check([one["name"] for one in memory.client.space_list()["items"]] == ["agent"], "one space")
        refused("not_found", lambda: memory.client.memory_add("other", "x"))
        refused("unsupported", lambda: memory.client.space_remove("agent", confirm="agent"))
        refused("unsupported", lambda: memory.client.space_set("agent", always_on=True))
        check("belongs to its process" in refused("not_found", memory.client.key_list).hint, "no keys")
    refused("closed", lambda: memory.recall("deploys"))
    memory.close()
    with Memory(path, settings={"layers": {"graph": False}}) as memory:
        memory.remember("Deploys are announced on Mondays")
        check(len(found(lambda: memory.recall("deploys"))) == 2, "what was stored is there again")
        refused("unsupported", lambda: memory.client.entity_list("agent"))
    check(sorted(os.listdir(folder)) == ["agent.db", "installation.key"], f"closed {os.listdir(folder)}")


def nowhere():
    """Without a path nothing is written, and two of them have nothing in common."""
    with Memory() as one, Memory(space="two") as two:
        one.remember("The harbor lies in the north")
        check(found(lambda: one.recall("harbor")) and not two.recall("harbor"), "apart")
        check(one.client.stats("memory")["bytes"] == 0 and two.space == "two", "in no file")


def wrong(folder):
    """What cannot be opened is told, and leaves nothing open."""
    folder = pathlib.Path(folder)
    text = folder / "text.db"
    text.write_text("this is no database, and it stays as it is")
    refused("invalid_request", lambda: Memory(text))
    check(text.read_text().startswith("this is no"), "it is left as it was")
    check("text.db" in refused("unavailable", lambda: Memory(text / "agent.db")).detail, "it names the file")
    refused("invalid_request", lambda: Memory(folder / "no space.db"))
    refused("invalid_request", lambda: Memory("a\0b.db"))
    error = refused("invalid_request", lambda: Memory(folder / "a.db", settings={"recall": {"limits": 3}}))
    check("recall.limits" in error.detail, f"the setting is named {error}")
    raised(TypeError, lambda: Memory(3))
    refused("invalid_request", lambda: Memory().client.memory_add("memory", "x", idempotency_key="a\nb"))


def threads(folder):
    """Any thread may ask, also while another one does, and the others go on while the engine works."""
    with Memory(pathlib.Path(folder) / "threads.db") as memory:
        failures = []

        def work(name):
            try:
                for number in range(20):
                    memory.log(name, ("user", f"Boat {number} of {name} lies in the harbor"))
                    memory.recall("boats in the harbor")
            except Exception as error:
                failures.append(error)

        workers = [threading.Thread(target=work, args=(f"s{number}",)) for number in range(8)]
        for one in workers:
            one.start()
        for one in workers:
            one.join()
        check(not failures and memory.client.stats("threads")["events"] == 160, f"all is stored {failures}")
        long = threading.Thread(target=lambda: memory.client.event_add("threads", events=turns(900)))
        long.start()
        begun = before = time.monotonic()
        longest = 0.0
        while long.is_alive():
            now = time.monotonic()
            longest, before = max(longest, now - before), now
        check(longest < 0.75 * (before - begun), f"this thread goes on meanwhile: {longest} of {before - begun}")


def turns(count):
    return [{"content": f"Turn {number} says that boat {number} lies in harbor {number % 7}"} for number in range(count)]


def interrupted(folder):
    """A signal ends the wait for an answer, and what was begun goes on."""
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    with Memory(pathlib.Path(folder) / "interrupted.db") as memory:
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        try:
            for _ in range(1_000):
                memory.client.event_add("interrupted", events=turns(900))
        except Alarm:
            check(True, "the call ends with the exception of the signal")
        else:
            check(False, "a signal is heard")
        signal.setitimer(signal.ITIMER_REAL, 0)
        until = time.monotonic() + 60
        while memory.client.stats("interrupted")["events"] == 0 and time.monotonic() < until:
            pass
        stored = memory.client.stats("interrupted")["events"]
        check(stored > 0 and stored % 900 == 0, f"all of a batch, or none {stored}")


def forked(folder):
    """A process that was forked while a memory was open is told so; the one that opened it goes on."""
    path = pathlib.Path(folder) / "forked.db"
    memory = Memory(path)
    memory.remember("The harbor lies in the north", key="harbor")

    def child():
        codes = []
        for act in (lambda: memory.recall("harbor"), lambda: Memory(path), Memory):
            try:
                act()
                codes.append("done")
            except MnemalError as error:
                codes.append(error.code)
        memory.close()
        return codes

    check(in_child(child) == ["forked"] * 3, "the child is told")
    check(memory.client.memory_get_by_key("forked", "harbor")["content"].startswith("The harbor"), "the parent goes on")
    memory.close()

    def opener():
        with Memory(path) as own:
            return [own.client.memory_get_by_key("forked", "harbor")["key"]]

    check(in_child(opener) == ["harbor"], "a child that inherits nothing may open it")


def in_child(act):
    """Returns what an act returns in a process that is forked for it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, json.dumps(act()).encode())
        except BaseException as error:
            os.write(writer, json.dumps([repr(error)]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        answer = json.load(said)
    os.waitpid(child, 0)
    return answer


def ends(folder, module):
    """An interpreter that ends without closing its memory closes it, and an awaited one at the end of its block."""
    path = pathlib.Path(folder) / "ends.db"
    program = f"{LOAD}\nload(sys.argv[1])\nfrom mnemal import Memory\nmemory = Memory(sys.argv[2])\nmemory.log('s1', ('user', 'one'))"
    here = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    subprocess.run([sys.executable, "-B", "-c", program, module, str(path)], env=here, check=True)
    check(not path.with_name("ends.db-wal").exists(), "closed at its end")

    async def awaited():
        async with AsyncMemory(path) as memory:
            await memory.log("s1", ("user", "two"))
            return (await memory.client.stats("ends"))["events"]

    check(asyncio.run(awaited()) == 2, "both are there")


def guide():
    """The programs of the guide, as they stand there."""
    page = (HERE.parents[2] / "docs/guide/src/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    printed, before = io.StringIO(), os.getcwd()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(printed):
        os.chdir(folder)
        try:
            for block in blocks:
                exec(block, {})
        finally:
            os.chdir(before)
    check(len(blocks) == 2 and printed.getvalue().count("Deploys happen on Tuesdays") >= 2, f"the guide: {printed.getvalue()}")


def main(program, module):
    load(module)
    with served(program), tempfile.TemporaryDirectory() as home:
        facade(Mnemal("facade"))
        asyncio.run(waiting(AsyncMnemal("waiting")))
        check(isinstance(Memory().client, Client), "what takes a client takes this one")
        with Memory(home, space="facade") as memory:
            facade(memory)

        async def awaited():
            async with AsyncMemory(home, space="waiting") as memory:
                await waiting(memory)

        asyncio.run(awaited())
        alike(home)
    for part in (file, wrong, threads, interrupted, forked, lambda folder: ends(folder, module)):
        with tempfile.TemporaryDirectory() as folder:
            part(folder)
    nowhere()
    guide()
    print(f"embedded: {len(passed)} checks passed")


main(*map(lambda given: given if given == "-" else os.path.abspath(given), sys.argv[1:3]))
