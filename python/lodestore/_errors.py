"""What can go wrong. All exceptions of the package are `Error`; messages are the engine's, with the place and what would help."""

from __future__ import annotations

import builtins
from typing import List, NamedTuple, Optional, Sequence, Tuple


class Error(Exception):
    """Anything that the engine refuses or cannot do."""


class Closed(Error):
    """The database, the transaction or the answer has ended."""


class QueryError(Error):
    """A query or an update cannot be done as it is."""


class Mistake(NamedTuple):
    """A mistake in the text of a query: line and column begin at 1, and are 0 where it has no place."""

    line: int
    column: int
    message: str
    help: str


class SyntaxError(Error):
    """A text is not what it should be.

    `line` and `column` begin at 1; they are `None` where the mistake has no place.
    """

    def __init__(self, message: str, line: Optional[int] = None, column: Optional[int] = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class QuerySyntaxError(SyntaxError, QueryError):
    """A text is no SPARQL. `mistakes` are all that were found."""

    def __init__(
        self,
        message: str,
        line: Optional[int] = None,
        column: Optional[int] = None,
        mistakes: Sequence[Tuple[int, int, str, str]] = (),
    ) -> None:
        super().__init__(message, line, column)
        self.mistakes: List[Mistake] = [Mistake(*mistake) for mistake in mistakes]


class LoadError(Error):
    """A document cannot be read or loaded."""


class DataSyntaxError(SyntaxError, LoadError):
    """A document is not well-formed. `file` is its name."""

    def __init__(
        self, message: str, line: Optional[int] = None, column: Optional[int] = None, file: Optional[str] = None
    ) -> None:
        super().__init__(message, line, column)
        self.file = file


class Cancelled(Error):
    """Somebody has cancelled it, as `close()` of an answer does."""


class Timeout(Error, builtins.TimeoutError):
    """It took longer than it may."""


class MemoryLimit(Error, builtins.MemoryError):
    """It needs more memory than it may take."""


class TooManyRows(QueryError):
    """The answer has more rows than `rows_max`."""


class FormatError(Error, builtins.ValueError):
    """There is no such format, or it cannot hold this answer."""


class Forbidden(Error, builtins.PermissionError):
    """It may not be done."""


class StorageError(Error):
    """The database's files cannot be read or written."""


class NotFound(StorageError):
    """There is no database."""


class Locked(StorageError):
    """Another process writes to the database."""


class ReadOnly(StorageError):
    """The database was opened for reading."""


class Damaged(StorageError):
    """The bytes of a file are not what was written."""


class ServerError(Error):
    """The server cannot be started."""
