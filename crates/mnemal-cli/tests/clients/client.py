"""Drives `mnemal mcp` and `mnemal serve` with the official Python client, in both eras of the protocol: `client.py PROGRAM`."""

import asyncio
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

TOOLS = [
    "memory_context", "memory_answer", "memory_recall", "memory_store", "memory_forget", "memory_entity", "memory_relationships",
    "working_put", "working_get", "working_find",
]
checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        raise SystemExit(f"FAILED: {what}")


def server(program, data):
    return StdioServerParameters(command=program, args=["mcp", "--space", "clients"], env={"MNEMAL_DATA_DIR": data})


@contextmanager
def serving(program, data):
    """Serves over HTTP while the block runs; gives the address and the key that a person's own programs share."""
    env = {**os.environ, "MNEMAL_DATA_DIR": data}
    command = [program, "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as child:
        try:
            address = child.stderr.readline().split("http://")[1].split("/")[0]
            key = subprocess.run([program, "key", "local"], env=env, capture_output=True, check=True, text=True)
            yield f"http://{address}/mcp/clients", key.stdout.strip()
        finally:
            child.terminate()


def over_http(url, key):
    web = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=30)
    return streamable_http_client(url, http_client=web)


def text(result):
    return result.content[0].text


async def errors(client):
    missing = await client.call_tool("memory_recall", {})
    check(missing.is_error and "query is missing" in text(missing), f"advice: {missing}")
    wrong = await client.call_tool("memory_store", {"content": "x", "importance": "very"})
    check(wrong.is_error and "importance must be a number" in text(wrong), f"advice: {wrong}")
    unknown = await client.call_tool("memory_forget", {"key": "deploy_dya"})
    check(unknown.is_error and "Nearest: 'deploy_day'" in text(unknown), f"nearest key: {unknown}")


async def parts(client):
    """Resources, prompts and what completes their names."""
    listed = await client.list_resources()
    check(len(listed.resources) == 3, f"resources: {listed}")
    summary = await client.read_resource(listed.resources[0].uri)
    check(summary.contents[0].mime_type == "text/markdown", f"a resource: {summary}")
    templates = await client.list_resource_templates()
    check(len(templates.resource_templates) == 4, f"templates: {templates}")
    prompts = await client.list_prompts()
    check([prompt.name for prompt in prompts.prompts][0] == "load_context", f"prompts: {prompts}")
    loaded = await client.get_prompt("load_context", {"topic": "deploys"})
    check("deploys" in loaded.messages[0].content.text.lower(), f"a prompt: {loaded}")


async def drive(program, data, way, target, mode, version):
    async with Client(target, mode=mode) as client:
        check(client.protocol_version == version, f"{mode} speaks {client.protocol_version}")
        check(client.server_info.name == "mnemal", f"identity: {client.server_info}")
        listed = await client.list_tools()
        check([tool.name for tool in listed.tools] == TOOLS, "the tools in their order")
        for tool in listed.tools:
            hints = tool.annotations
            given = [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint]
            check(None not in given and tool.output_schema is not None, f"hints and output of {tool.name}")

        note = {"key": "deploy_day", "content": f"Deploys happen on Tuesdays, says {mode} {way}", "tags": ["calendar"]}
        stored = await client.call_tool("memory_store", note)
        check(not stored.is_error and stored.structured_content["created"] is True, f"stored: {stored}")
        again = await client.call_tool("memory_store", note)
        check(again.structured_content["created"] is False, f"one effect: {again}")
        check(again.structured_content["id"] == stored.structured_content["id"], "the same note")

        found = await client.call_tool("memory_recall", {"q": "when do we deploy?", "limit": "3"})
        hits = found.structured_content["hits"]
        check(hits[0]["id"] == stored.structured_content["id"], f"recalled: {found}")
        check(set(hits[0]) >= {"id", "text", "date", "origin", "score"}, f"fields: {hits[0]}")
        check(text(found).startswith("<mnemal-context nonce="), f"marked: {text(found)}")
        loaded = await client.call_tool("memory_context", {"query": "when do we deploy?", "budget_tokens": 500})
        check(note["content"] in text(loaded), f"context: {loaded}")
        check(loaded.structured_content["recall_id"].startswith("rcl_"), "a receipt")
        await errors(client)
        await parts(client)

        # What the user said is known as facts, with the sentence.
        subprocess.run(
            [program, "log", "add", "My sister Anna lives in Oslo.", "--idempotency-key", "anna", "--space", "clients"],
            env={**os.environ, "MNEMAL_DATA_DIR": data}, capture_output=True, check=True,
        )
        anna = await client.call_tool("memory_entity", {"name": "anna"})
        check("My sister Anna lives in Oslo" in text(anna), f"entity: {anna}")
        check(anna.structured_content["edges"][0]["predicate"] == "lives_in", f"edges: {anna}")
        ways = await client.call_tool("memory_relationships", {"from": "Anna", "to": "Oslo"})
        check(len(ways.structured_content["paths"]) == 1, f"paths: {ways}")

        # What this process wrote, another one reads at once.
        listed = subprocess.run(
            [program, "recall", "deploys", "--space", "clients", "--json"],
            env={**os.environ, "MNEMAL_DATA_DIR": data}, capture_output=True, check=True, text=True,
        )
        check(note["content"] in listed.stdout, f"a second process: {listed.stdout}")

        preview = await client.call_tool("memory_forget", {"key": "deploy_day"})
        token = preview.structured_content["confirm_token"]
        check(preview.structured_content["status"] == "preview", f"preview: {preview}")
        erased = await client.call_tool("memory_forget", {"key": "deploy_day", "confirm_token": token})
        check(erased.structured_content["status"].startswith("erased"), f"erased: {erased}")
        gone = await client.call_tool("memory_recall", {"query": "when do we deploy?"})
        check(note["content"] not in text(gone), f"gone: {gone}")


async def confirm(program, data):
    """A client that can ask its person is asked, and the person's word counts."""
    answers = []

    async def ask(_context, params):
        answers.append(params.message)
        return ElicitResult(action="accept", content={"erase": len(answers) > 1})

    async with Client(server(program, data), elicitation_callback=ask) as client:
        await client.call_tool("memory_store", {"key": "editor", "content": "The user uses Helix"})
        kept = await client.call_tool("memory_forget", {"key": "editor"})
        check("said no" in text(kept), f"kept: {kept}")
        erased = await client.call_tool("memory_forget", {"key": "editor"})
        check(erased.structured_content["status"].startswith("erased"), f"erased: {erased}")
        check(len(answers) == 2 and "'editor'" in answers[0], f"questions: {answers}")


async def main(program):
    with tempfile.TemporaryDirectory() as data:
        for mode, version in [("auto", "2026-07-28"), ("legacy", "2025-11-25")]:
            await drive(program, data, "by pipe", server(program, data), mode, version)
        await confirm(program, data)
        with serving(program, data) as (url, key):
            for mode, version in [("auto", "2026-07-28"), ("legacy", "2025-11-25")]:
                await drive(program, data, "by http", over_http(url, key), mode, version)
    print(f"python client: {checks} checks passed in 2026-07-28 and 2025-11-25, on standard input and over HTTP")


asyncio.run(main(sys.argv[1]))
