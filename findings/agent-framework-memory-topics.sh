#!/usr/bin/env bash
# agent-framework-core 1.23.0; seen 2026-11-30: topics of the memory that are not written in a to z are all one topic.
# Expected: a memory is stored under the topic that the model names, and deleting a topic deletes that one.
# Seen: of a topic only a to z and 0 to 9 count. Whatever is written in Greek, Russian or Japanese goes into one file, `memory-topic.md`,
# under the name that came first, "C++" and "C#" into `c.md`, and `delete_memory_topic` of one deletes all of them. What is
# stored second in a topic does not change its summary, by which topics are chosen, so that a question about it loads nothing.
# For a user: an agent that speaks Greek has one topic, and to forget the flat is to forget the allergy.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install agent-framework-core==1.23.0
v/bin/pip list --format=freeze | grep -E '^agent-framework-core=='
v/bin/python -W ignore - <<'P'
import asyncio, json
from agent_framework import AgentSession, MemoryContextProvider, MemoryFileStore, Message, SessionContext

async def memory(owner, said="hello"):
    session = AgentSession(session_id=owner); session.state["owner"] = owner
    provider = MemoryContextProvider(store=MemoryFileStore("memory", owner_state_key="owner"))
    context = SessionContext(session_id=owner, input_messages=[Message(role="user", contents=[said])])
    await provider.before_run(agent=None, session=session, context=context, state={})
    tools = {tool.name: tool.func for tool in context.tools}
    loaded = context.get_messages()[-1].text.split("### Auto-loaded topic files\n")[1]
    topics = lambda: {one["topic"]: one["slug"] for one in json.loads(tools["list_memory_topics"]())}
    return tools, topics, loaded

async def main():
    seen = {}
    for owner, kept in {
        "english": [("health", "Ana is allergic to nuts"), ("flat", "Ana rents a flat")],
        "greek": [("υγεία", "Ana is allergic to nuts"), ("σπίτι", "Ana rents a flat")],
        "code": [("C++", "Ana writes drivers in it"), ("C#", "Ana writes games in it")],
    }.items():
        tools, topics, _ = await memory(owner)
        for topic, text in kept: await tools["write_memory"](topic, text)
        before = topics()
        await tools["delete_memory_topic"](kept[1][0])
        seen[owner] = [before, topics()]
        print(f"{owner}: topics {before}, after {kept[1][0]} was deleted: {seen[owner][1]}")
    tools, _, _ = await memory("second")
    await tools["write_memory"]("boat", "It is blue"); await tools["write_memory"]("boat", "The engine was repaired in May")
    seen["loaded"] = [(await memory("second", question))[2] != "- none auto-loaded for this turn" for question in ("Is it blue?", "When was the engine repaired?")]
    print("loaded for a question about what was stored first, second:", *seen["loaded"])
    assert seen == {
        "english": [{"flat": "flat", "health": "health"}, {"health": "health"}],
        "greek": [{"υγεία": "memory-topic"}, {}],
        "code": [{"C++": "c"}, {}],
        "loaded": [True, False],
    }, "agent-framework keeps topics otherwise now"
asyncio.run(main())
P
