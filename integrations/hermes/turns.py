"""What a turn of Hermes is in events, and the tools that the agent gets."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

# Characters of one event; a longer text is several.
LONGEST = 60_000

TOOLS: list[dict[str, Any]] = [
    {
        "name": "mnemal_recall",
        "description": "Finds what was said, done or noted in earlier sessions, word for word, best first.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 50}},
            "required": ["query"],
        },
    },
    {
        "name": "mnemal_remember",
        "description": "Keeps a note that lasts. Under a key that is in use it takes the place of what was there.",
        "parameters": {
            "type": "object",
            "properties": {"content": {"type": "string"}, "key": {"type": "string"}},
            "required": ["content"],
        },
    },
]


def settings(path: Path) -> dict[str, Any]:
    """Returns what a file of settings says."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def short_hash(text: str) -> str:
    """Returns a name for a text or a user that fits into a key."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def parts(event: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns events that together say what one says."""
    text = event["content"].encode(errors="replace").decode()
    if not text.strip() and event["type"] == "message":
        return []
    return [{**event, "content": text[at : at + LONGEST]} for at in range(0, max(len(text), 1), LONGEST)]


def acts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the calls of tools of the last turn, and what they answered."""
    begin = max((place for place, one in enumerate(messages) if one.get("role") == "user"), default=len(messages))
    events: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for one in messages[begin + 1 :]:
        for call in one.get("tool_calls") or []:
            names[call.get("id")] = name = call["function"]["name"]
            events.append({"type": "tool_call", "tool_name": name, "content": call["function"].get("arguments") or ""})
        if one.get("role") == "tool":
            content = one.get("content") or ""
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            name = one.get("name") or names.get(one.get("tool_call_id")) or "tool"
            events.append({"type": "tool_result", "tool_name": name, "content": text})
    return events
