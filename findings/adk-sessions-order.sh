#!/usr/bin/env bash
# google-adk 2.13.0, SQLAlchemy 2.1.9; seen 2026-11-30: the three session services of ADK give the same appended events in three orders.
# Expected: a conversation is read in the order in which its events were appended, wherever it is kept.
# Seen: InMemorySessionService keeps that order. SqliteSessionService sorts by time, and by order of appending where times are equal.
# DatabaseSessionService sorts by time and then by the ID of the event, which is random: eight turns of one second come
# back shuffled, answers before their questions, and `num_recent_events=2` gives any two of them. An event that is older than one
# before it (a part of a transcript that is added later, a clock that was set back) moves ahead in both databases.
# For a user: a transcript with times of whole seconds, as many exports have, must be given times that grow before it is imported.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install google-adk==2.13.0 SQLAlchemy==2.1.9 greenlet==3.5.6 aiosqlite==0.22.1
v/bin/pip list --format=freeze | grep -E '^(google-adk|SQLAlchemy)=='
v/bin/python -W ignore - <<'P'
import asyncio
from google.adk.events.event import Event
from google.adk.sessions import DatabaseSessionService, InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

def said(number, time):
    user = number % 2 == 0
    content = types.Content(role="user" if user else "model", parts=[types.Part(text=str(number))])
    return Event(author="user" if user else "agent", timestamp=time, invocation_id=f"i{number // 2}", content=content)

async def kept(service, times):
    session = await service.create_session(app_name="a", user_id="u")
    appended = [await service.append_event(session, said(number, time)) for number, time in enumerate(times)]
    async def read(**config):
        whole = await service.get_session(app_name="a", user_id="u", session_id=session.id, config=GetSessionConfig(**config))
        return [int(event.content.parts[0].text) for event in whole.events]
    by_id = [int(event.content.parts[0].text) for event in sorted(appended, key=lambda event: event.id)]
    return {"all": await read(), "last two": await read(num_recent_events=2), "by id": by_id}

async def main():
    services = {
        "memory": InMemorySessionService(),
        "sqlite": SqliteSessionService("events.db"),
        "database": DatabaseSessionService("sqlite+aiosqlite:///database.db"),
    }
    now, seen = 1_800_000_000.0, {}
    for name, service in services.items():
        seen[name] = {"one second": await kept(service, [now] * 8), "a part later": await kept(service, [now, now + 1, now - 10, now - 9])}
        for what, answer in seen[name].items(): print(name, what, answer["all"], "last two", answer["last two"])
    appended, problem = list(range(8)), "the session services of ADK sort otherwise now"
    for name in ("memory", "sqlite"):
        assert seen[name]["one second"]["all"] == appended and seen[name]["one second"]["last two"] == [6, 7], problem
    shuffled = seen["database"]["one second"]
    assert shuffled["all"] == shuffled["by id"] and shuffled["last two"] == shuffled["by id"][-2:], problem
    assert seen["memory"]["a part later"]["all"] == [0, 1, 2, 3], problem
    assert seen["sqlite"]["a part later"]["all"] == seen["database"]["a part later"]["all"] == [2, 3, 0, 1], problem
asyncio.run(main())
P
