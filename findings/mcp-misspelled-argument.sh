#!/usr/bin/env bash
# mcp 2.3.0 (Python) and @modelcontextprotocol/sdk 1.32.2 (TypeScript): a tool runs without the argument whose name the model misspells.
# Seen: `list` with an optional `user` is called with `usr`. Both official SDKs drop it without a word, and memories of everybody are listed;
# FastMCP 4.2.3 refuses the call. `null` for the optional `user`, and "7" for a number, are refused in TypeScript and taken in Python.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install mcp==2.3.0 fastmcp==4.2.3
npm init -y >/dev/null; npm i --silent @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 >/dev/null
cat >s.py <<'P'
import asyncio
import sys
from fastmcp import Client, FastMCP
from mcp.server.mcpserver import MCPServer

memories = {"ana": "Ana sails", "ben": "Ben rows"}
calls = [{"user": "ana"}, {"usr": "ana"}, {"user": None}, {"limit": "1"}]

def list_memories(user: str | None = None, limit: int = 5) -> str:
    return ", ".join([text for name, text in memories.items() if user in (None, name)][:limit])

async def official():
    server = MCPServer("memories")
    server.tool()(list_memories)
    for call in calls:
        print((await server.call_tool("list_memories", call)).content[0].text)

async def fast():
    server = FastMCP("memories")
    server.tool(list_memories)
    async with Client(server) as client:
        for call in calls:
            try:
                print((await client.call_tool("list_memories", call)).content[0].text)
            except Exception:
                print("refused")

asyncio.run(official() if sys.argv[1] == "official" else fast())
P
cat >s.mjs <<'J'
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { z } from "zod";
const memories = { ana: "Ana sails", ben: "Ben rows" };
const server = new McpServer({ name: "memories", version: "1" });
const inputSchema = { user: z.string().optional(), limit: z.number().default(5) };
server.registerTool("list_memories", { inputSchema }, async ({ user, limit }) => {
  const texts = Object.entries(memories).filter(([name]) => !user || name === user).map(([, text]) => text);
  return { content: [{ type: "text", text: texts.slice(0, limit).join(", ") }] };
});
const [one, other] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: "asker", version: "1" });
await Promise.all([server.connect(one), client.connect(other)]);
for (const call of [{ user: "ana" }, { usr: "ana" }, { user: null }, { limit: "1" }]) {
  const answer = await client.callTool({ name: "list_memories", arguments: call });
  console.log(answer.isError ? "refused" : answer.content[0].text);
}
process.exit(0);
J
shown() { echo "$1:"; printf '%s\n' "$2"; [ "$2" = "$3" ]; }
shown "Python" "$(v/bin/python -W ignore s.py official 2>/dev/null)" $'Ana sails\nAna sails, Ben rows\nAna sails, Ben rows\nAna sails'
shown "FastMCP" "$(v/bin/python -W ignore s.py fast 2>/dev/null)" $'Ana sails\nrefused\nAna sails, Ben rows\nAna sails'
shown "TypeScript" "$(node s.mjs)" $'Ana sails\nAna sails, Ben rows\nrefused\nrefused'
