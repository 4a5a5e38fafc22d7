#!/usr/bin/env bash
# mcp 2.3.0 (Python) and @modelcontextprotocol/sdk 1.32.2 (TypeScript): servers with the same resource template get other names
# from the same address.
# Seen: for `memory://person/{name}` the Python server is given `Anna Smith` and `Jörg`, the TypeScript server `Anna%20Smith` and
# `J%C3%B6rg`, also where the client writes the name plainly; both say that a name with a comma is not found, which FastMCP 4.2.3 finds.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install mcp==2.3.0 fastmcp==4.2.3
npm init -y >/dev/null; npm i --silent @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 >/dev/null
cat >s.py <<'P'
import asyncio
import sys
from fastmcp import Client, FastMCP
from mcp.server.mcpserver import MCPServer

names = ["Anna%20Smith", "J%C3%B6rg", "Jörg", "Smith,%20Anna"]

def person(name: str) -> str:
    return name

async def official():
    server = MCPServer("people")
    server.resource("memory://person/{name}")(person)
    for name in names:
        try:
            print(list(await server.read_resource("memory://person/" + name))[0].content)
        except Exception:
            print("not found")

async def fast():
    server = FastMCP("people")
    server.resource("memory://person/{name}")(person)
    async with Client(server) as client:
        for name in names:
            print((await client.read_resource("memory://person/" + name))[0].text)

asyncio.run(official() if sys.argv[1] == "official" else fast())
P
cat >s.mjs <<'J'
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
const server = new McpServer({ name: "people", version: "1" });
const template = new ResourceTemplate("memory://person/{name}", { list: undefined });
const read = async (uri, { name }) => ({ contents: [{ uri: uri.href, text: name }] });
server.registerResource("person", template, {}, read);
const [one, other] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: "asker", version: "1" });
await Promise.all([server.connect(one), client.connect(other)]);
for (const name of ["Anna%20Smith", "J%C3%B6rg", "Jörg", "Smith,%20Anna"]) {
  const uri = "memory://person/" + name;
  console.log(await client.readResource({ uri }).then((found) => found.contents[0].text, () => "not found"));
}
process.exit(0);
J
shown() { echo "$1:"; printf '%s\n' "$2"; [ "$2" = "$3" ]; }
shown "Python" "$(v/bin/python -W ignore s.py official 2>/dev/null)" $'Anna Smith\nJörg\nJörg\nnot found'
shown "FastMCP" "$(v/bin/python -W ignore s.py fast 2>/dev/null)" $'Anna Smith\nJörg\nJörg\nSmith, Anna'
shown "TypeScript" "$(node s.mjs)" $'Anna%20Smith\nJ%C3%B6rg\nJ%C3%B6rg\nnot found'
