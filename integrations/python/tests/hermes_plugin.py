"""Drives the memory provider for Hermes Agent 0.19.0 through its loader, its manager and its agent: `hermes_plugin.py PROGRAM`.

The published package has no tests of providers, so the checks are ours; the agent is the real one, with a model that is a script
on this machine. It needs hermes-agent and pytest, and is no part of continuous integration.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOME = tempfile.TemporaryDirectory()
os.environ.update(HERMES_HOME=HOME.name, HERMES_YOLO_MODE="1", OPENAI_API_KEY="none")

from framework import HERE, account, arguments, check, is_pinned, served

PINNED = "hermes-agent==0.19.0"
is_pinned(PINNED)

from agent.memory_manager import MemoryManager

from mnemal import Client, Mnemal

PLUGIN = HERE.parents[1] / "hermes"
home = pathlib.Path(HOME.name)


def install():
    """Puts the plugin where a person puts it."""
    shutil.copytree(PLUGIN, home / "plugins/mnemal", ignore=shutil.ignore_patterns("__pycache__"))
    (home / "config.yaml").write_text("memory:\n  provider: mnemal\n")


def manager(session, **more):
    from plugins.memory import load_memory_provider

    # Each agent loads a provider of its own.
    provider = type(load_memory_provider("mnemal"))()
    found = MemoryManager()
    found.add_provider(provider)
    found.initialize_all(session_id=session, **{"platform": "cli", "hermes_home": str(home), "agent_context": "primary", **more})
    return found


def told(one, query, word, session="other"):
    """Asks again while a layer is too slow to answer."""
    for _ in range(20):
        text = one.prefetch_all(query, session_id=session)
        if word in text:
            break
    return text


def events(memory, **where):
    return memory.client.event_list(memory.space, all=True, limit=200, **where)["items"]


def provider():
    """What the manager asks of a provider."""
    from plugins.memory import discover_memory_providers

    found = {name: is_available for name, _, is_available in discover_memory_providers()}
    check(found.get("mnemal") is True, f"the plugin is found where its server has a key {found}")
    memory = Mnemal("hermes")
    ana, bob, owner = manager("s1", platform="telegram", user_id="7"), manager("s2", platform="telegram", user_id="8"), manager("s3")
    check(ana.prefetch_all("anything") == "", "nothing is known in a space that nobody made")
    messages = [
        {"role": "user", "content": "old"}, {"role": "assistant", "content": "old answer"},
        {"role": "user", "content": "Where do I live?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": '{"at": "map"}'}}]},
        {"role": "tool", "tool_call_id": "c", "content": "a map of Lyon"},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "part"}]},
        {"role": "assistant", "content": "You live in Lyon."},
    ]
    ana.sync_all("I moved to Lyon, where do I live?", "You live in Lyon.", session_id="s1", messages=messages)
    check(ana.flush_pending(20), "turns are written")
    kept = events(memory, session="s1")
    check([(one["type"], one.get("tool_name")) for one in kept] == [
        ("message", None), ("tool_call", "look"), ("tool_result", "look"), ("tool_result", "look"), ("message", None)
    ], f"a turn is logged with what was done in it {kept}")
    check([one["content"] for one in kept][1:3] == ['{"at": "map"}', "a map of Lyon"], "word for word")
    check({one["user"] for one in kept} == {"telegram:7"}, "as the user's own")
    text = told(ana, "In which town do I live?", "Lyon")
    check("Lyon" in text, f"what was said is told {text}")
    check("Lyon" not in bob.prefetch_all("In which town do I live?") + owner.prefetch_all("In which town do I live?"), "to nobody else")

    many = "x" * 150_000
    bob.sync_all(many, " ", session_id="s2", messages=[])
    bob.sync_all("nul \0 and \ud800", "fine", session_id="s2")
    bob.flush_pending(20)
    kept = [one["content"] for one in events(memory, session="s2")]
    check("".join(kept[:3]) == many and len(kept) == 5, f"a long text is several events {[len(one) for one in kept]}")

    (quiet := manager("s4", agent_context="cron")).sync_all("cron", "cron", session_id="s4")
    quiet.flush_pending(20)
    check(events(memory, session="s4") == [], "what nobody said is not logged")
    ana.on_session_switch("s5", reset=True)
    ana.sync_all("new session", "yes", session_id="")
    ana.flush_pending(20)
    check(len(events(memory, session="s5")) == 2, "a session that was switched to")

    result = json.dumps({"success": True})
    for operation in (
        {"action": "add", "content": "Likes green tea"}, {"action": "add", "content": "Likes dogs"},
        {"action": "replace", "old_text": "green", "content": "Likes black tea"}, {"action": "remove", "old_text": "dogs"},
        {"action": "remove", "old_text": "nothing holds this"},
    ):
        for one in (ana, bob):
            one.notify_memory_tool_write(result, {"target": "user", **operation})
    for user in ("telegram:7", "telegram:8"):
        rows = memory.client.memory_list(memory.space, category="hermes/user", user=user)["items"]
        check([row["content"] for row in rows] == ["Likes black tea"], f"notes follow the agent's own memory {rows}")
    ana.notify_memory_tool_write(json.dumps({"success": False}), {"target": "user", "action": "add", "content": "No"})
    check(len(memory.client.memory_list(memory.space, category="hermes/user", user="telegram:7")["items"]) == 1, "only what was kept")

    stored = json.loads(ana.handle_tool_call("mnemal_remember", {"content": "The door code is 1111", "key": "door"}))
    json.loads(bob.handle_tool_call("mnemal_remember", {"content": "My door code is 9999", "key": "door"}))
    json.loads(ana.handle_tool_call("mnemal_remember", {"content": "The door code is 2222", "key": "door"}))
    check(stored["status"] == "active", f"a note {stored}")
    for _ in range(20):
        found = json.loads(ana.handle_tool_call("mnemal_recall", {"query": "door code", "limit": 5}))
        if "2222" in str(found):
            break
    check("2222" in str(found) and "1111" not in str(found) and "9999" not in str(found), f"recall is one user's {found}")
    check("error" in json.loads(ana.handle_tool_call("mnemal_recall", {})), "a call without a query is told")
    check("mnemal_recall" in ana.build_system_prompt() and ana.get_all_tool_names() == {"mnemal_recall", "mnemal_remember"}, "its tools")


def away():
    """A server that does not answer loses no turn."""
    url = os.environ.pop("MNEMAL_URL")
    one = manager("away")
    one.sync_all("said while nobody listened", "first", session_id="away")
    one.flush_pending(20)
    (inner,) = one.providers
    inner._memory = Mnemal("hermes", base_url=url)
    os.environ["MNEMAL_URL"] = url
    one.sync_all("said later", "second", session_id="away")
    one.flush_pending(20)
    kept = [event["content"] for event in events(Mnemal("hermes"), session="away")]
    check(kept == ["said while nobody listened", "first", "said later", "second"], f"turns wait for the server {kept}")
    inner.save_config({"space": "elsewhere"}, str(home)), inner.save_config({"url": url}, str(home))
    other = manager("cfg")
    other.sync_all("in another space", "yes", session_id="cfg")
    other.shutdown_all()
    check(len(events(Mnemal("elsewhere"), session="cfg")) == 2, "settings say where")
    (home / "mnemal.json").unlink()


class Model(BaseHTTPRequestHandler):
    """A model that answers with the next of its lines, and keeps what it was told."""

    lines: list = []
    heard: list = []

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.path.endswith("/chat/completions"):
            return self.send_error(404)
        self.heard.append(asked)
        line = self.lines.pop(0) if self.lines else {"content": "Yes."}
        calls = line.get("tool_calls")
        delta = {"role": "assistant", "content": line.get("content")}
        if calls:
            delta["tool_calls"] = [{"index": 0, "type": "function", **calls[0]}]
        reason = "tool_calls" if calls else "stop"
        base = {"id": "x", "created": 1, "model": "scripted", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        if asked.get("stream"):
            chunks = [
                {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {**base, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            ]
            body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
            kind = "text/event-stream"
        else:
            delta["tool_calls"] = calls
            body = json.dumps({**base, "object": "chat.completion", "choices": [{"index": 0, "message": delta, "finish_reason": reason}]})
            kind = "application/json"
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        self.send_error(404)

    def log_message(self, *_):
        pass


def agent():
    """The agent itself, in two sessions."""
    from run_agent import AIAgent

    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def run(session, text, *lines):
            Model.lines[:], Model.heard[:] = lines, []
            one = AIAgent(
                base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none", provider="custom", model="scripted",
                quiet_mode=True, session_id=session, enabled_toolsets=["memory"],
            )
            answer = one.run_conversation(text)["final_response"]
            one._memory_manager.flush_pending(20)
            one.shutdown_memory_provider()
            return answer, list(Model.heard)

        call = {"id": "t", "function": {"name": "mnemal_remember", "arguments": json.dumps({"content": "The boat is called Albatross"})}}
        answer, heard = run("run-1", "Remember how my boat is called: Albatross", {"tool_calls": [call]}, {"content": "Noted, Albatross."})
        tools = [one["function"]["name"] for one in heard[0].get("tools", [])]
        check("mnemal_recall" in tools and answer == "Noted, Albatross.", f"the agent has the tools {tools} {answer}")
        kept = [one["type"] for one in events(Mnemal("hermes"), session="run-1")]
        check(kept[-4:] == ["message", "tool_call", "tool_result", "message"], f"the turn is logged {kept}")
        for turn in range(10):
            _, heard = run(f"run-2-{turn}", "What is the name of my boat?", {"content": "It is in my memory."})
            if "Albatross" in str(heard[0]["messages"]):
                break
        check("Albatross" in str(heard[0]["messages"]), f"and is told in the next session {heard[0]['messages'][-1]}")
        server.shutdown()


with served((given := arguments(__doc__)).program):
    install()
    provider()
    away()
    agent()
HOME.cleanup()
account(given, "Hermes Agent", PINNED, "own checks with its loader, manager and agent; the package has no tests of providers")
