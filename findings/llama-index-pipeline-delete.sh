#!/usr/bin/env bash
# llama-index-core 0.14.25; seen 2026-11-30: what the pipeline deletes is still found, where documents are not split into chunks.
# Expected: with `DocstoreStrategy.UPSERTS_AND_DELETE` a document that is missing from a run is deleted from both of its stores.
# Seen: it is, if a splitter is among the transformations. Without one the document store forgets the document and the vector store
# keeps its vector, under the name "None" of a document: the next search finds it, `delete` by its ID does not take it away, and
# no later run does, since the document store no longer knows of it.
# For a user: memories of a sentence or two need no splitter; what was to be forgotten is then told further on.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install llama-index-core==0.14.25
v/bin/pip list --format=freeze | grep -E '^llama-index-core=='
v/bin/python -W ignore - 2>errors <<'P'
from llama_index.core import Document, MockEmbedding
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore, VectorStoreQuery

def run(*splitter):
    documents, vectors = SimpleDocumentStore(), SimpleVectorStore()
    pipeline = IngestionPipeline(transformations=[*splitter, MockEmbedding(embed_dim=2)], docstore=documents, vector_store=vectors,
                                 docstore_strategy=DocstoreStrategy.UPSERTS_AND_DELETE)
    tea, boat = Document(id_="tea", text="Ana drinks tea"), Document(id_="boat", text="Ana has a boat")
    pipeline.run(documents=[tea, boat])
    pipeline.run(documents=[tea])
    pipeline.run(documents=[tea])
    count = lambda: len(vectors.query(VectorStoreQuery(query_embedding=[1.0, 1.0], similarity_top_k=9)).ids)
    found = count()
    vectors.delete("boat")
    return sorted(documents.docs), found, count(), sorted(set(vectors.data.text_id_to_ref_doc_id.values()))

whole, split = run(), run(TokenTextSplitter(tokenizer=str.split))
for what, answer in {"not split": whole, "split": split}.items():
    print(f"{what}: documents {answer[0]}, found {answer[1]}, found after delete {answer[2]}, names of documents {answer[3]}")
assert whole == (["tea"], 2, 2, ["None"]) and split == (["tea"], 1, 1, ["tea"]), "the pipeline deletes otherwise now"
P
