#!/usr/bin/env bash
# graphiti-core 0.31.2, kuzu 0.11.3; seen 2026-11-30: the MMR reranker finds nothing of a fact that is stored in two wordings.
# Expected: maximal marginal relevance takes the nearest candidate first, and then marks down what is like those already taken.
# Seen: each candidate is marked down by its likeness to any other candidate, so that two near copies mark down each other and the
# best one is not spared. With `mmr_lambda` 0.5 both come out just under 0, which is the lowest score that the ready-made recipe
# lets through: "Ana lives in Oslo" is found until "Ana's home is in Oslo" is added, and then neither is, and no error is raised.
# For a user: with this recipe, saying a thing again makes it unfindable; the RRF recipe finds all three, and so does MMR with a
# `reranker_min_score` of -1.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export GRAPHITI_TELEMETRY_ENABLED=false
python3 -m venv v; v/bin/pip -q install graphiti-core==0.31.2 kuzu==0.11.3 httpx==0.28.1
v/bin/pip list --format=freeze | grep -E '^(graphiti-core|kuzu)=='
v/bin/python -W ignore - <<'P'
import asyncio, datetime, math
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.nodes import EntityNode
from graphiti_core.search.search_config import EdgeSearchMethod
from graphiti_core.search.search_config_recipes import EDGE_HYBRID_SEARCH_MMR, EDGE_HYBRID_SEARCH_RRF

def at(degrees): return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]
class Embedder(EmbedderClient):
    async def create(self, input_data): return at(0)
class NoReranker(CrossEncoderClient):
    async def rank(self, query, passages): raise NotImplementedError
class NoModel(LLMClient):
    async def _generate_response(self, *a, **k): raise NotImplementedError

async def main():
    now, driver = datetime.datetime.now(datetime.timezone.utc), KuzuDriver()
    graph = Graphiti(graph_driver=driver, llm_client=NoModel(LLMConfig()), embedder=Embedder(), cross_encoder=NoReranker())
    ana, oslo = [EntityNode(name=name, group_id="g", created_at=now, name_embedding=at(0)) for name in ("Ana", "Oslo")]
    for node in (ana, oslo): await node.save(driver)
    async def add(fact, degrees):
        await EntityEdge(group_id="g", source_node_uuid=ana.uuid, target_node_uuid=oslo.uuid, created_at=now, name="FACT",
                         fact=fact, fact_embedding=at(degrees)).save(driver)
    async def ask(recipe, **changed):
        config = recipe.model_copy(deep=True, update=changed)
        config.edge_config.search_methods = [EdgeSearchMethod.cosine_similarity]  # full text needs an extension of the database
        found = await graph.search_("Where does Ana live?", config=config, group_ids=["g"])
        return [edge.fact for edge in found.edges]
    await add("Ana lives in Oslo", 5)
    await add("Ana likes tea", 50)
    seen = {"mmr, one wording": await ask(EDGE_HYBRID_SEARCH_MMR)}
    await add("Ana's home is in Oslo", 7)
    seen["mmr, two wordings"] = await ask(EDGE_HYBRID_SEARCH_MMR)
    seen["mmr, two wordings, no lowest score"] = await ask(EDGE_HYBRID_SEARCH_MMR, reranker_min_score=-1)
    seen["rrf, two wordings"] = await ask(EDGE_HYBRID_SEARCH_RRF)
    for what, answer in seen.items(): print(f"{what}: {answer}")
    every = ["Ana lives in Oslo", "Ana's home is in Oslo", "Ana likes tea"]
    assert list(seen.values()) == [every[:1], [], every, every], "graphiti-core ranks otherwise now"
asyncio.run(main())
P
