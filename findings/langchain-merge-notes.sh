#!/usr/bin/env bash
# langchain-core 1.8.3 (Python), @langchain/core 1.4.0 (JavaScript); seen 2026-11-30: merging two messages in a row adds up what is noted beside them.
# Expected: `merge_message_runs` joins the texts, and of `additional_kwargs` it keeps those of one message, or a list of both.
# Seen: texts are put together without a space and whole numbers are added: two messages of "ana" are of "anaana", 10:00 and 10:05 are
# one time that no parser reads, and turns 3 and 4 are turn 7. The two languages differ in the rest: equal numbers stay as they are in
# Python, 5 and 5 is 5, and are added in JavaScript, 10; "timestamp" is that of the last message in Python and of the first in
# JavaScript; an "id" in a dictionary is "12" there and "2" here. The text of the merged message and its ID, that of the first, look right.
# For a user: an importance, a time or a speaker that is kept with a message is another one after the merging; take it out before.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langchain-core==1.8.3
v/bin/pip list --format=freeze | grep -E '^langchain-core=='
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts @langchain/core@1.4.0 >/dev/null 2>&1
grep -H -m1 '"version"' node_modules/@langchain/core/package.json | sed 's/node_modules.//; s/.package.json: */ /'
cat > notes.json <<'J'
[{"speaker": "ana", "when": "2026-11-30T10:00", "turn": 3, "importance": 5, "weight": 0.5, "source": {"id": "1"}, "tags": ["tea"], "timestamp": 1},
 {"speaker": "ana", "when": "2026-11-30T10:05", "turn": 4, "importance": 5, "weight": 0.5, "source": {"id": "2"}, "tags": ["tea"], "timestamp": 2}]
J
cat > ask.mjs <<'J'
import { readFileSync } from "node:fs";
import { HumanMessage, mergeMessageRuns } from "@langchain/core/messages";
const notes = JSON.parse(readFileSync("notes.json", "utf8"));
const [one] = mergeMessageRuns(notes.map((additional_kwargs, n) => new HumanMessage({ content: `text ${n}`, id: `m${n}`, additional_kwargs })));
console.log(JSON.stringify({ id: one.id, ...one.additional_kwargs }));
J
node ask.mjs > javascript.json
v/bin/python -W ignore - <<'P'
import json
from langchain_core.messages import HumanMessage, merge_message_runs

notes = json.load(open("notes.json"))
(one,) = merge_message_runs([HumanMessage(f"text {n}", id=f"m{n}", additional_kwargs=note) for n, note in enumerate(notes)])
python, javascript = {"id": one.id, **one.additional_kwargs}, json.load(open("javascript.json"))
for key in python: print(f"{key}: in Python {python[key]}, in JavaScript {javascript[key]}")
both = {"id": "m0", "speaker": "anaana", "when": "2026-11-30T10:002026-11-30T10:05", "turn": 7, "tags": ["tea", "tea"]}
assert python == {**both, "importance": 5, "weight": 0.5, "source": {"id": "12"}, "timestamp": 2}, "langchain-core merges otherwise now"
assert javascript == {**both, "importance": 10, "weight": 1, "source": {"id": "2"}, "timestamp": 1}, "@langchain/core merges otherwise now"
P
