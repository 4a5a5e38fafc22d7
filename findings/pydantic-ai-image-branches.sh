#!/usr/bin/env bash
# pydantic-ai-slim 2.68.0: a history with an image is another one after a way through JSON, and the store keeps it twice.
# Seen: an image that is given as `BinaryContent` is read back from JSON as `BinaryImage`, and the two are not equal. A conversation that
# an application keeps as JSON, extends by one message and saves is taken for a rewritten one: all messages from the image on are stored
# again, on a branch. Without the image only the new message is stored.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install pydantic-ai-slim==2.68.0
v/bin/python -W ignore - <<'P'
import asyncio
from pydantic_ai import ModelMessagesTypeAdapter
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import InMemoryConversationStore
from pydantic_ai.messages import BinaryContent, ModelRequest, ModelResponse, TextPart, UserPromptPart

async def stored(prompt):
    store = InMemoryConversationStore()
    messages = [ModelRequest(parts=[UserPromptPart(prompt)]), ModelResponse(parts=[TextPart("A cat.")])]
    conversation = Conversation(conversation_id="c", messages=messages)
    await store.save(conversation)
    again = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
    longer = [*again, ModelRequest(parts=[UserPromptPart("And now?")])]
    entries = await store.save(Conversation(conversation_id="c", messages=longer, revision=conversation.revision))
    [record] = await store.list_conversations()
    return {"equal": again == messages, "stored anew": len(entries), "branches": len(record.branches)}

words = asyncio.run(stored(["What is it?"]))
image = asyncio.run(stored(["What is it?", BinaryContent(b"x", media_type="image/png")]))
print("words:", words); print("with an image:", image)
assert words == {"equal": True, "stored anew": 1, "branches": 0}
assert image == {"equal": False, "stored anew": 3, "branches": 1}
P
