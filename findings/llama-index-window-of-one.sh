#!/usr/bin/env bash
# llama-index-core 0.14.25; seen 2026-12-01: with a window of one message, the vector memory of LlamaIndex searches with the whole conversation.
# Expected: `retrieval_context_window`, "Maximum number of messages to include for context when retrieving", makes 1 the last message alone.
# Seen: 2, 3 and so on take that many of the last messages, and 1 takes all of them, as the window counts from 2 on only. A question about the
# dentist after six messages about a trip and a word of thanks finds the trip with 1, as with 8, and the dentist with 2. No message says so.
# For a user: who asks for the narrowest search gets the widest, and the older the conversation, the less a question counts.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install llama-index-core==0.14.25; v/bin/pip list --format=freeze | grep '^llama-index-core=='
v/bin/python -W ignore - <<'P'
import asyncio, hashlib
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import VectorMemoryBlock
from llama_index.core.vector_stores.types import BasePydanticVectorStore, VectorStoreQueryResult

class Words(BaseEmbedding):  # one place of the vector for each word
    def _get_text_embedding(self, text):
        row = [0.0] * 256
        for word in text.lower().replace("<", " <").replace(">", "> ").split(): row[int(hashlib.md5(word.encode()).hexdigest(), 16) % 256] += 1
        return row
    _get_query_embedding = _get_text_embedding
    async def _aget_query_embedding(self, text): return self._get_text_embedding(text)

class Store(BasePydanticVectorStore):  # exact, in memory
    stores_text: bool = True
    nodes: list = []
    @property
    def client(self): return None
    def add(self, nodes, **_): self.nodes.extend(nodes); return [node.node_id for node in nodes]
    def delete(self, *_, **__): pass
    def query(self, query, **_):
        score = lambda node: sum(a * b for a, b in zip(node.embedding, query.query_embedding))
        best = sorted(self.nodes, key=score, reverse=True)[:query.similarity_top_k]
        return VectorStoreQueryResult(nodes=best, similarities=[score(node) for node in best], ids=[node.node_id for node in best])

def user(text): return ChatMessage(role="user", content=text)
async def found(window):
    block = VectorMemoryBlock(vector_store=Store(), embed_model=Words(), similarity_top_k=1, retrieval_context_window=window)
    for text in ("the dentist is on Monday at nine", "the trip goes from Oslo to Rome with Ben"): await block.aput([user(text)])
    talk = [user(f"trip from Oslo to Rome with Ben, part {number}") for number in range(6)] + [user("thanks"), user("when is the dentist")]
    return "dentist" if "nine" in await block.aget(talk) else "trip"

seen = {window: asyncio.run(found(window)) for window in (1, 2, 8)}
for window, answer in seen.items(): print(f"retrieval_context_window={window}: finds the {answer}")
assert seen == {1: "trip", 2: "dentist", 8: "trip"}, "the window works otherwise now"
P
