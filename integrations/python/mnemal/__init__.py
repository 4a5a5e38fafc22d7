"""Client of mnemal, the memory engine for AI agents.

>>> from mnemal import Mnemal                              # doctest: +SKIP
>>> memory = Mnemal("demo")                                # doctest: +SKIP
>>> memory.remember("Deploys happen on Tuesdays", key="deploy_day")   # doctest: +SKIP
>>> memory.recall("when do we deploy?")[0]["text"]         # doctest: +SKIP
'Deploys happen on Tuesdays'
"""

from .client import AsyncClient, Client, MnemalConnectionError, MnemalError
from .memory import AsyncMnemal, Events, Hits, Mnemal

__all__ = [
    "AsyncClient",
    "AsyncMnemal",
    "Client",
    "Events",
    "Hits",
    "Mnemal",
    "MnemalConnectionError",
    "MnemalError",
]
