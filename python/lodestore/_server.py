"""The HTTP endpoint of an open database."""

from __future__ import annotations

from types import TracebackType
from typing import Optional, Type

from ._lodestore import NativeServer


class Server:
    """A server that runs in threads of this process, on a database that is open here. As a context manager it stops at the end."""

    def __init__(self, native: NativeServer) -> None:
        self._native = native

    @property
    def url(self) -> str:
        """Where it is: the page for browsers; `/sparql` below it is the endpoint."""
        return self._native.url

    def stop(self) -> None:
        """Stops it. What is being answered has a second to end."""
        self._native.stop()

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<lodestore.Server {self.url}>"
