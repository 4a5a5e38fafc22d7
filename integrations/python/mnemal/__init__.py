"""mnemal, the memory engine for AI agents: in this process (`Memory`), or on a server (`Mnemal`).

>>> from mnemal import Memory                              # doctest: +SKIP
>>> memory = Memory("agent.db")                            # doctest: +SKIP
>>> memory.remember("Deploys happen on Tuesdays", key="deploy_day")   # doctest: +SKIP
>>> memory.recall("when do we deploy?")[0]["text"]         # doctest: +SKIP
'Deploys happen on Tuesdays'
"""

from .client import AsyncClient, Client, MnemalConnectionError, MnemalError
from .embedded import AsyncEmbeddedClient, AsyncMemory, EmbeddedClient, Memory
from .memory import AsyncMnemal, Events, Hits, Mnemal

__all__ = [
    "AsyncClient",
    "AsyncEmbeddedClient",
    "AsyncMemory",
    "AsyncMnemal",
    "Client",
    "EmbeddedClient",
    "Events",
    "Hits",
    "Memory",
    "Mnemal",
    "MnemalConnectionError",
    "MnemalError",
]
