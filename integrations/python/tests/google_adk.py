"""Checks `MnemalMemoryService` against the protocol of ADK's memory services and with its real runner: `google_adk.py PROGRAM`.

ADK's source package comes without its tests. What they ask of the in-memory service is asked here of it and of ours at once, so
that the service of ADK itself says what is expected. Needed is google-adk.
"""

import asyncio
import time

from framework import account, arguments, check, erase, events_of, found, is_pinned, picture, raised, served

from google.adk.agents import Agent
from google.adk.events.event import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from mnemal import Mnemal, MnemalConnectionError
from mnemal.google_adk import MnemalMemoryService

PINNED = "google-adk==2.13.0"


def said(text, author="user", **more):
    role = "user" if author == "user" else "model"
    parts = more.pop("parts", None) or [types.Part(text=text)]
    return Event(author=author, content=types.Content(role=role, parts=parts), invocation_id="i", id=Event.new_id(), **more)


def session(events, name="s1", user="ana", app="shop"):
    return Session(app_name=app, user_id=user, id=name, events=events)


async def search(service, query, user="ana", app="shop"):
    for _ in range(20):
        answer = await service.search_memory(app_name=app, user_id=user, query=query)
        if answer.memories:
            break
    return answer.memories


async def none(service, query, user="ana", app="shop"):
    return (await service.search_memory(app_name=app, user_id=user, query=query)).memories


def texts(memories):
    return ["".join(part.text or "" for part in one.content.parts) for one in memories]


async def protocol(service, name):
    """What ADK's own service does, and ours."""
    is_in = lambda text, memories: any(text in one for one in texts(memories))
    check(await none(service, "boat") == [], f"{name}: a user who is not known has no memories")
    first, second = said("The boat is called Wanda"), said("Noted, Wanda.", "sailor", timestamp=time.time() + 1)
    empty = Event(author="user", invocation_id="i", id=Event.new_id())
    await service.add_session_to_memory(session([first, empty]))
    await service.add_session_to_memory(session([first, empty, second]))
    got = await search(service, "Wanda boat")
    check(sorted(texts(got)) == ["Noted, Wanda.", "The boat is called Wanda"], f"{name}: what is added again is there once {got}")
    check({one.author for one in got} == {"user", "sailor"} and all(one.id and one.timestamp for one in got), f"{name}: who and when {got}")
    await service.add_events_to_memory(app_name="shop", user_id="ana", events=[said("The dog is called Rex")], session_id="s2")
    await service.add_events_to_memory(app_name="shop", user_id="ana", events=[said("The cat is called Tom")])
    check(is_in("Rex", await search(service, "dog Rex")), f"{name}: events alone")
    check(is_in("Tom", await search(service, "cat Tom")), f"{name}: events without a session")
    for user, app in (("ben", "shop"), ("ana", "bank"), ("shop/ana", "shop"), ("ana", "shop/ana")):
        check(not is_in("Wanda", await none(service, "Wanda boat", user, app)), f"{name}: {user} of {app} sees nothing of it")
    [rex] = [one for one in await search(service, "dog Rex") if is_in("Rex", [one])]
    await service.delete_memory(app_name="shop", user_id="ben", memory_id=rex.id)
    check(is_in("Rex", await search(service, "dog Rex")), f"{name}: nobody deletes another's")
    await service.delete_memory(app_name="shop", user_id="ana", memory_id=rex.id)
    await service.delete_memory(app_name="shop", user_id="ana", memory_id="nobody")
    await service.delete_memory(app_name="shop", user_id="ana", memory_id=None)
    check(not is_in("Rex", await none(service, "dog Rex")), f"{name}: what is deleted is gone")
    wanda = next(one for one in await search(service, "boat Wanda") if is_in("The boat", [one]))
    await service.delete_memory(app_name="shop", user_id="ana", memory_id=wanda.id)
    await service.add_session_to_memory(session([first, second]))
    check(not is_in("The boat", await none(service, "boat Wanda")), f"{name}: and comes back with no session")
    lots = [said(f"The shelf number {n} is blue", timestamp=time.time() + n) for n in range(30)]
    await asyncio.gather(*(service.add_events_to_memory(app_name="shop", user_id="ana", events=[one], session_id="many") for one in lots))
    check(len(await search(service, "blue shelf")) == 10, f"{name}: the ten best")


async def parts(memory):
    """Every kind of part comes back whole, as do memories that are added."""
    service = MnemalMemoryService(memory)
    all_parts = [
        types.Part(text="Look at the lighthouse"),
        types.Part(text="what he may mean", thought=True, thought_signature=b"\x00\xff"),
        types.Part(inline_data=types.Blob(mime_type="image/png", data=picture(300_000))),
        types.Part(file_data=types.FileData(mime_type="a/b", file_uri="gs://x/y")),
        types.Part(function_call=types.FunctionCall(id="c1", name="look", args={"at": ["é", 1, None]})),
        types.Part(function_response=types.FunctionResponse(id="c1", name="look", response={"result": "a red lantern"})),
        types.Part(executable_code=types.ExecutableCode(language="PYTHON", code="1 + 1")),
        types.Part(text="long " * 20_000),
    ]
    event = said("", "sailor", parts=all_parts)
    await service.add_session_to_memory(session([event]))
    for query in ("lighthouse", "red lantern"):
        [one] = await search(service, query)
        check(one.content == event.content, f"all parts come back by {query}")
    kept = MemoryEntry(
        content=types.Content(role="user", parts=[types.Part(text="Ana likes green tea")]),
        author="nurse", timestamp="2026-01-02T03:04:05", custom_metadata={"of": "check"},
    )
    await service.add_memory(app_name="shop", user_id="ana", memories=[kept], custom_metadata={"from": "us", "of": "all"})
    [one] = [one for one in await search(service, "green tea") if "tea" in texts([one])[0]]
    check((one.content, one.author, one.timestamp) == (kept.content, "nurse", kept.timestamp), f"a memory comes back {one}")
    check(one.custom_metadata == {"of": "check", "from": "us"}, f"with what was said of it {one}")
    check("Ana likes green tea" in [hit["text"] for hit in memory.recall("green tea", user="shop/ana")], "others recall it")
    await service.delete_memory(app_name="shop", user_id="ana", memory_id=one.id)
    check(not any("tea" in one for one in texts(await none(service, "green tea"))), "a memory is deleted")
    memory.remember("The harbour closes at nine", user="shop/ana")
    found_one = (await search(service, "when does the harbour close?"))[0]
    check("harbour closes" in texts([found_one])[0], f"what others noted is found {found_one}")
    check(isinstance(service, BaseMemoryService), "it is a memory service")


async def erased(memory):
    """What was erased comes back in no memory, whoever says it again and wherever it stands."""
    service, words = MnemalMemoryService(memory), "My locker code is seven four one one"
    first = said(words)
    await service.add_session_to_memory(session([first]))
    for event in events_of(memory, "s1"):
        check(not event["content"] or event["content"] not in str(event["metadata"]), f"words stand in no metadata {event}")
    erase(memory, words, "s1", "shop/ana")
    repeated = said("", "sailor", parts=[
        types.Part(text=words), types.Part(text=words, thought=True), types.Part(text="The lantern of the boat is red"),
        types.Part(function_call=types.FunctionCall(id="c1", name="note", args={"it": words})),
        types.Part(function_response=types.FunctionResponse(id="c1", name="note", response={"result": words, "deep": [words]})),
    ])
    await service.add_session_to_memory(session([first, repeated]))
    await service.add_events_to_memory(app_name="shop", user_id="ana", events=[said("The lantern is red", timestamp=time.time() + 1)],
                                       custom_metadata={"of": words}, session_id="s2")
    got = await search(service, "lantern red")
    check(len(got) == 2 and "seven four" not in str(got), f"nothing of it comes back {got}")
    check("seven four" not in str(events_of(memory, "s1") + events_of(memory, "s2")), "nor is it in the log")
    private = MemoryEntry(content=types.Content(role="user", parts=[types.Part(text="Ana drinks tea <private>and her pin is 4711")]))
    await service.add_memory(app_name="shop", user_id="ana", memories=[private], custom_metadata={"note": "a <private>b"})
    [one] = [one for one in await search(service, "what does Ana drink?") if "tea" in texts([one])[0]]
    check((texts([one]), one.custom_metadata) == (["Ana drinks tea [private]"], {"note": "a [private]"}), f"private parts are cut {one}")


class Scripted(BaseLlm):
    """Says what it is told to, and keeps what it was asked."""

    model: str = "scripted"
    script: list = []
    asked: list = []

    async def generate_content_async(self, llm_request, stream=False):
        self.asked.append(llm_request)
        yield LlmResponse(content=types.Content(role="model", parts=[self.script.pop(0)]))


async def runner(memory):
    """Two sessions of the real runner: the second calls `load_memory`, the third is told by `PreloadMemoryTool`."""
    model = Scripted(script=[
        types.Part(text="Noted."),
        types.Part(function_call=types.FunctionCall(name="load_memory", args={"query": "what is the boat called?"})),
        types.Part(text="Wanda."), types.Part(text="Wanda again."),
    ], asked=[])
    sessions, service = InMemorySessionService(), MnemalMemoryService(memory)

    async def turn(text, name, tools):
        agent = Agent(name="sailor", model=model, tools=tools)
        run = Runner(app_name="shop", agent=agent, session_service=sessions, memory_service=service)
        await sessions.create_session(app_name="shop", user_id="ana", session_id=name)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in run.run_async(user_id="ana", session_id=name, new_message=message):
            pass
        await service.add_session_to_memory(await sessions.get_session(app_name="shop", user_id="ana", session_id=name))

    await turn("My boat is called Wanda", "one", [])
    await search(service, "boat Wanda")
    await turn("What is my boat called?", "two", [load_memory])
    answers = [part.function_response.response for one in model.asked[2].contents for part in one.parts if part.function_response]
    check("My boat is called Wanda" in str(answers), f"the tool is answered {answers}")
    await turn("And the boat's name?", "three", [PreloadMemoryTool()])
    check("My boat is called Wanda" in str(model.asked[3].contents), f"the model is told beforehand {model.asked[3].contents}")
    check(found(lambda: memory.recall("boat", user="shop/ana")), "and others recall it")


def main():
    given = arguments(__doc__)
    is_pinned(PINNED)
    with served(given.program):
        asyncio.run(protocol(InMemoryMemoryService(), "ADK's"))
        asyncio.run(protocol(MnemalMemoryService(Mnemal("protocol")), "ours"))
        asyncio.run(parts(Mnemal("parts")))
        asyncio.run(erased(Mnemal("erased")))
        asyncio.run(runner(Mnemal("runner")))
        nobody = MnemalMemoryService(Mnemal("s", base_url="http://127.0.0.1:9", key="k"))
        raised(MnemalConnectionError, lambda: none(nobody, "x"))
        check(True, "errors are the client's own")
    account(given, "Google ADK", PINNED, "own checks of the protocol, asked of InMemoryMemoryService as well, and the real runner")


if __name__ == "__main__":
    main()
