#!/usr/bin/env bash
# mcp-memory-libsql 0.0.17, @modelcontextprotocol/sdk 1.32.2; seen 2026-11-30: telling this memory one thing more erases what it knew.
# Expected: `create_entities` for a name that is there adds the observation, or leaves the entity as it is, as the official memory server
# does, whose tools it has; and `read_graph` gives the graph.
# Seen: the observations of the entity are all deleted and those of the call put in their place (`create_entities` of the DatabaseManager), its type
# as well, and the answer is "Successfully processed 1 entities". There is no tool that adds an observation or takes one away. `read_graph`
# gives the ten entities that were created last, whatever was told of the others since, with their relations to entities that it
# leaves out; `search_nodes` finds Ana by "moved oslo", and not by "oslo moved".
# For a user: an agent that is told "Ana moved to Oslo" no longer knows that Ana is allergic to nuts.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts mcp-memory-libsql@0.0.17 @modelcontextprotocol/sdk@1.32.2 >/dev/null 2>&1
echo "mcp-memory-libsql $(node -p 'require("./node_modules/mcp-memory-libsql/package.json").version')"
cat > ask.mjs <<'J'
import assert from "node:assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "ask", version: "1" });
const env = { ...process.env, LIBSQL_URL: "file:memory.db" }, args = ["node_modules/mcp-memory-libsql/dist/index.js"];
await client.connect(new StdioClientTransport({ command: "node", args, env, stderr: "ignore" }));
const call = async (name, args = {}) => (await client.callTool({ name, arguments: args })).content[0].text;
const tell = (name, ...observations) => call("create_entities", { entities: [{ name, entityType: "person", observations }] });
const found = async (query) => JSON.parse(await call("search_nodes", { query })).entities.map((one) => `${one.name}: ${one.observations.join(", ")}`);

const tools = (await client.listTools()).tools.map((tool) => tool.name).sort().join(" ");
await tell("Ana", "is allergic to nuts", "has a dog");
const before = await found("Ana");
const answer = await tell("Ana", "moved to Oslo");
const after = await found("Ana"), orders = [(await found("moved oslo")).length, (await found("oslo moved")).length];
for (let number = 1; number <= 12; number++) await tell(`Friend ${number}`, "is a friend");
const graph = JSON.parse(await call("read_graph")).entities.length;
console.log("tools:", tools); console.log("told of Ana:", before); console.log("told one thing more:", answer); console.log("found after:", after);
console.log("found by moved oslo, oslo moved:", ...orders); console.log("entities stored: 13, in read_graph:", graph);
await client.close();
assert.strictEqual(tools, "create_entities create_relations delete_entity delete_relation read_graph search_nodes");
assert.deepStrictEqual([before, after], [["Ana: is allergic to nuts, has a dog"], ["Ana: moved to Oslo"]]);
assert.deepStrictEqual([orders, graph], [[1, 0], 10]);
J
node ask.mjs
