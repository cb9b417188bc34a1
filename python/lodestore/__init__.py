"""Lodestore: an RDF quad store and SPARQL engine, in this process.

>>> import lodestore
>>> db = lodestore.open()
>>> _ = db.update("INSERT DATA { <http://example.org/ann> <http://example.org/age> 41 }")
>>> db.select("SELECT ?age { ?who <http://example.org/age> ?age }").to_dicts()
[{'age': 41}]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._database import Database, FileReport, LoadReport, UpdateReport, open
from ._errors import (
    Cancelled,
    Closed,
    Damaged,
    DataSyntaxError,
    Error,
    Forbidden,
    FormatError,
    LoadError,
    Locked,
    MemoryLimit,
    Mistake,
    NotFound,
    QueryError,
    QuerySyntaxError,
    ReadOnly,
    ServerError,
    StorageError,
    SyntaxError,
    Timeout,
    TooManyRows,
)
from ._lodestore import IRI, BlankNode, Literal, Triple, __version__
from ._results import Result, Row, Solutions, Triples
from ._server import Server
from ._settings import QueryOptions
from ._transaction import Commit, Transaction
from ._values import Term, Value, to_term

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """`%load_ext lodestore`: the magic `%%sparql`."""
    from . import _magic

    _magic.load(shell)


__all__ = [
    "IRI",
    "BlankNode",
    "Cancelled",
    "Closed",
    "Commit",
    "Damaged",
    "DataSyntaxError",
    "Database",
    "Error",
    "FileReport",
    "Forbidden",
    "FormatError",
    "Literal",
    "LoadError",
    "LoadReport",
    "Locked",
    "MemoryLimit",
    "Mistake",
    "NotFound",
    "QueryError",
    "QueryOptions",
    "QuerySyntaxError",
    "ReadOnly",
    "Result",
    "Row",
    "Server",
    "ServerError",
    "Solutions",
    "StorageError",
    "SyntaxError",
    "Term",
    "Timeout",
    "TooManyRows",
    "Transaction",
    "Triple",
    "Triples",
    "UpdateReport",
    "Value",
    "__version__",
    "open",
    "to_term",
]
