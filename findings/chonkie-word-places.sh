#!/usr/bin/env bash
# chonkie 1.7.0; seen 2026-11-30: with the tokenizer "word" the places of chunks are wrong by one letter more from chunk to chunk.
# Expected: `text[chunk.start_index:chunk.end_index]` is `chunk.text`, as with the tokenizer "character" and in the SentenceChunker.
# Seen: the space between two chunks belongs to none and is not counted, so that chunk 8 begins 7 letters too early: what stands at
# its place ends in half a word. With an overlap of one word or more all places are right. A word is what stands between two
# spaces: a list of 200 lines without a space in them is one word, and so one chunk whatever `chunk_size` is.
# For a user: quotes and highlights that are cut out by these places begin and end in the wrong word, more so the longer the text is.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install chonkie==1.7.0
v/bin/pip list --format=freeze | grep -E '^chonkie=='
v/bin/python - <<'P'
from chonkie import SentenceChunker, TokenChunker

text = " ".join(f"word{number:02}" for number in range(40))
def drift(chunker): return [text.index(chunk.text.strip()) - chunk.start_index for chunk in chunker.chunk(text)]
plain = TokenChunker(tokenizer="word", chunk_size=5, chunk_overlap=0)
last = plain.chunk(text)[-1]
lapped = drift(TokenChunker(tokenizer="word", chunk_size=5, chunk_overlap=1))
letters = TokenChunker(tokenizer="character", chunk_size=30, chunk_overlap=0).chunk(text)
print("letters by which each chunk begins too early:", drift(plain), "with an overlap of 1:", lapped)
print("last chunk:", repr(last.text)); print("at its place:", repr(text[last.start_index:last.end_index]))
lines = "\n".join(f"line{number}" for number in range(200))
chunks = plain.chunk(lines)
print("chunks of a list of 200 lines:", len(chunks), "tokens:", chunks[0].token_count)
assert drift(plain) == list(range(8)) and set(lapped) == {0}, "places are counted otherwise now"
assert all(text[chunk.start_index:chunk.end_index] == chunk.text for chunk in letters)
assert len(chunks) == 1 and chunks[0].token_count == 1, "lines are words now"
P
