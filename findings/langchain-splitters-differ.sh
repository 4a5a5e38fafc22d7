#!/usr/bin/env bash
# langchain-text-splitters 1.1.3, @langchain/textsplitters 1.0.2; seen 2026-11-30: one text with one setting has other chunks in Python and JavaScript.
# Expected: the splitters of one name, with one size and one overlap, cut a text in the same places in both languages.
# Seen: plain prose is cut alike. Around a block of code the MarkdownTextSplitter of Python takes the closing marks for the beginning of
# what follows, so that the next heading stands in one chunk with the end of the code and the text below it; that of JavaScript
# leaves them with the code. With short lines and an overlap the CharacterTextSplitter of JavaScript begins the next chunk
# one line later, and with `keep_separator` off the recursive one makes four chunks where Python makes three.
# For a user: chunks that are known by a hash of their text are stored twice where one store is filled from both languages.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langchain-text-splitters==1.1.3 langchain-core==1.8.3
v/bin/pip list --format=freeze | grep -E '^langchain-text-splitters=='
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts @langchain/textsplitters@1.0.2 @langchain/core@1.4.0 >/dev/null 2>&1
grep -H -m1 '"version"' node_modules/@langchain/textsplitters/package.json | sed 's/node_modules.//; s/.package.json: */ /'
cat > texts.json <<'J'
["Ana has a boat. It is called Wanda! Is it blue? Yes.\n\nBen drinks tea. He has 3.5 liters of it.\nAnd so on",
 "# Plan\nintro\n\n## Steps\n- one\n- two is longer than that\n\n```py\n# a remark\nx = 1\n```\n### After\nlast\n",
 "a\n\nb\n\nc\n\nda\n\nb\n\nc\n\nda\n\nb\n\nc\n\nda\n\nb\n\nc\n\nd"]
J
cat > ask.mjs <<'J'
import { readFileSync } from "node:fs";
import { CharacterTextSplitter, MarkdownTextSplitter, RecursiveCharacterTextSplitter } from "@langchain/textsplitters";
const answers = [];
for (const text of JSON.parse(readFileSync("texts.json", "utf8"))) {
  const size = { chunkSize: 20, chunkOverlap: 5 };
  answers.push(await new RecursiveCharacterTextSplitter(size).splitText(text), await new MarkdownTextSplitter({ chunkSize: 40, chunkOverlap: 0 }).splitText(text),
    await new CharacterTextSplitter({ ...size, separator: "\n" }).splitText(text), await new RecursiveCharacterTextSplitter({ ...size, keepSeparator: false }).splitText(text));
}
console.log(JSON.stringify(answers));
J
node ask.mjs 2>errors | tail -1 > javascript.json
v/bin/python -W ignore - 2>errors <<'P'
import json
from langchain_text_splitters import CharacterTextSplitter, MarkdownTextSplitter, RecursiveCharacterTextSplitter

texts, javascript = json.load(open("texts.json")), json.load(open("javascript.json"))
size = {"chunk_size": 20, "chunk_overlap": 5}
splitters = {"recursive": RecursiveCharacterTextSplitter(**size), "Markdown": MarkdownTextSplitter(chunk_size=40, chunk_overlap=0),
             "by lines": CharacterTextSplitter(**size, separator="\n"), "recursive, separators off": RecursiveCharacterTextSplitter(**size, keep_separator=False)}
differ = []
for number, (text, (name, splitter)) in enumerate((text, one) for text in texts for one in splitters.items()):
    python = splitter.split_text(text)
    if python == javascript[number]: continue
    differ.append((texts.index(text), name, len(python), len(javascript[number])))
    print(f"text {texts.index(text) + 1}, {name}"); print("  Python:", python); print("  JavaScript:", javascript[number])
assert differ == [(1, "Markdown", 5, 5), (2, "by lines", 2, 2), (2, "recursive, separators off", 3, 4)], "the splitters differ otherwise now"
P
