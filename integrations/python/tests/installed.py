"""Tries the engine of an installed package out, from any folder: `installed.py`."""

import asyncio
import pathlib
import tempfile

from mnemal import AsyncMemory, Memory, MnemalError


async def awaited(path):
    async with AsyncMemory(path) as memory:
        return await memory.recall("when do we deploy?")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "agent.db"
        with Memory(path) as memory:
            memory.log("s1", ("user", "I moved to Lyon"))
            memory.remember("Deploys happen on Tuesdays", key="deploy_day")
            context = memory.context("where do I live?", budget_tokens=500)["text"]
            assert "Lyon" in context, context
            assert memory.ask("When do deploys happen?")["known"]
        hits = asyncio.run(awaited(path))
        assert hits[0]["key"] == "deploy_day", hits
        try:
            Memory(folder + "/none/agent.db")
        except MnemalError as error:
            assert error.code == "unavailable", error
        else:
            raise AssertionError("a folder that is not there")
    print("Memory stores, recalls, answers and is opened again")


main()
