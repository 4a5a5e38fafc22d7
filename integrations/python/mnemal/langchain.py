"""LangChain on mnemal: recall as a retriever. The history of a conversation is in `mnemal.langgraph`."""

from __future__ import annotations

import warnings
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from .memory import Mnemal


class MnemalRetriever(BaseRetriever):
    """Finds what was said or noted: `MnemalRetriever(memory=Mnemal("demo"), k=5)`.

    `options` go to each recall, as `{"user": "ana"}` or `{"category": "work"}`. Of a document, `metadata` has what a hit has
    beside its text: its score, origin, level and time.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Mnemal
    k: int = 4
    options: dict[str, Any] = {}

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        hits = self.memory.recall(query, **{**self.options, "limit": self.k if k is None else k})
        for gap in hits.gaps:
            warnings.warn(f"not all was looked through: {gap['layer']} {gap['cause']}", stacklevel=2)
        beside = [{name: value for name, value in hit.items() if name not in ("id", "text")} for hit in hits]
        return [Document(id=hit["id"], page_content=hit["text"], metadata=more) for hit, more in zip(hits, beside)]
