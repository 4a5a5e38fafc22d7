"""The native part of the package: `crates/mnemal-python`."""

import os
from typing import final

@final
class Engine:
    """The engine of one memory, behind the operations of the HTTP API; any thread may ask."""

    def __new__(
        cls, path: str | os.PathLike[str] | None = None, space: str | None = None, settings: str = ""
    ) -> Engine:
        """Opens a memory: a file, the folder of an installation, or memory alone without a path; `settings` is a JSON object."""

    @property
    def space(self) -> str:
        """The space that is meant."""

    def ask(
        self, method: str, target: str, headers: list[tuple[str, str]], body: bytes | None = None
    ) -> tuple[int, str]:
        """Answers a request as the HTTP API does: the status and the body."""

    def close(self) -> None:
        """Finishes the work in progress and closes the files; later calls fail. A second time nothing happens."""
