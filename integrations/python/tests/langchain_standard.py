"""The standard tests of LangChain (`langchain-tests`) for what this package has of it, run by `check.py` against its server."""

import os

from langchain_tests.integration_tests import RetrieversIntegrationTests

from mnemal import Mnemal
from mnemal.langchain import MnemalRetriever


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return MnemalRetriever

    @property
    def retriever_constructor_params(self):
        memory = Mnemal("standard", base_url=os.environ["MNEMAL_URL"])
        for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"):
            memory.remember(f"The boat leaves the harbour on {day}", key=day)
        return {"memory": memory}

    @property
    def retriever_query_example(self):
        return "when does the boat leave?"
