#!/usr/bin/env bash
# google-adk 2.13.0: InMemoryMemoryService loses events that were added alone when their session is added.
# Seen: `add_events_to_memory` is for a part of a session, as its newest turn, and `add_session_to_memory` "may be added multiple times".
# The second replaces all that is known of the session: an older copy of it, as another process holds, takes the added event away.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install google-adk==2.13.0
v/bin/python -W ignore - <<'P'
import asyncio
from google.adk.events.event import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.sessions import Session
from google.genai import types

def said(text):
    return Event(author="user", id=Event.new_id(), content=types.Content(role="user", parts=[types.Part(text=text)]))

async def main():
    service, boat, dog = InMemoryMemoryService(), said("The boat is called Wanda"), said("The dog is called Rex")
    copy = lambda: Session(app_name="a", user_id="u", id="s", events=[boat])
    async def known(query):
        return len((await service.search_memory(app_name="a", user_id="u", query=query)).memories)
    await service.add_session_to_memory(copy())
    await service.add_events_to_memory(app_name="a", user_id="u", session_id="s", events=[dog])
    before = await known("dog")
    await service.add_session_to_memory(copy())
    after = await known("dog")
    print("found after add_events_to_memory:", before); print("found after the session is added again:", after)
    assert (before, after) == (1, 0)

asyncio.run(main())
P
