"""An open database."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Type, Union

from . import _sources
from ._errors import Error
from ._lodestore import Answer, NativeDatabase, QuadReader
from ._requests import Node, Queries
from ._server import Server
from ._settings import (
    Bytes,
    LoadSettings,
    OpenSettings,
    Pattern,
    QueryOptions,
    RunSettings,
    ServeSettings,
    bytes_of,
    run_settings,
)
from ._transaction import Transaction

if TYPE_CHECKING:
    from typing_extensions import Unpack


_opened: "weakref.WeakSet[Database]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """What is open ends before the interpreter does: threads must not find it gone."""
    for database in list(_opened):
        database.close()


class UpdateReport(NamedTuple):
    """What an update did."""

    operations: int
    inserted: int
    deleted: int
    version: int
    seconds: float
    warnings: List[str]


class FileReport(NamedTuple):
    """What was found in a source: quads, statements that were set aside, and why it was set aside itself, if it was."""

    name: str
    quads: int
    bad: int
    failed: Optional[str]


class LoadReport(NamedTuple):
    """What a load did: quads read and added, those that came twice or were there already, and statements that were set aside."""

    quads: int
    added: int
    duplicates: int
    existing: int
    quarantined: int
    files: List[FileReport]


class Database(Queries):
    """A database, open for queries and changes from any thread. `lodestore.open` opens one.

    >>> import lodestore
    >>> with lodestore.open() as db:
    ...     db.load(b"<e:ann> <e:knows> <e:bob> .", format="ttl").added
    1
    """

    def __init__(self, path: Optional["os.PathLike[str] | str"], settings: OpenSettings) -> None:
        self.path = None if path is None else os.fspath(path)
        self._native = NativeDatabase(self.path, settings)
        self._open_transaction: Optional[Transaction] = None
        self._writer: Optional[int] = None
        self._servers: List[Server] = []

    def _ask(self, text: str, settings: RunSettings) -> Answer:
        return self._native.query(text, settings)

    def _quads(self, pattern: Pattern) -> QuadReader:
        return self._native.quads(pattern)

    def graphs(self) -> List[Node]:
        """The names of all graphs that have quads, without the default graph."""
        return self._native.graphs()

    def explain(self, text: str, **options: "Unpack[QueryOptions]") -> str:
        """The plan of a query, for people. Nothing is run.

        >>> import lodestore
        >>> db = lodestore.open()
        >>> _ = db.update("INSERT DATA { <e:ann> <e:age> 41 }")
        >>> "IndexScan" in db.explain("SELECT * { ?s <e:age> ?o }")
        True
        """
        return self._native.explain(text, run_settings(text, options), False)

    def explain_json(self, text: str, **options: "Unpack[QueryOptions]") -> str:
        """The plan of a query as JSON, for programs."""
        return self._native.explain(text, run_settings(text, options), True)

    def update(self, text: str, **options: "Unpack[QueryOptions]") -> UpdateReport:
        """Runs an update: all of its operations, or none. It is durable when this returns.

        Values for variables of WHERE and of the templates come by `bindings`:

        >>> import lodestore
        >>> db = lodestore.open()
        >>> insert = "INSERT { ?who <e:name> ?name } WHERE {}"
        >>> db.update(insert, bindings={"who": lodestore.IRI("e:ann"), "name": 'Ann "the first"'}).inserted
        1
        """
        self._check_own_transaction()
        return UpdateReport(**self._native.update(text, run_settings(text, options)))

    def load(
        self,
        *sources: _sources.Source,
        format: Optional[str] = None,
        graph: Optional[str] = None,
        base: Optional[str] = None,
        lenient: bool = False,
        quarantine: Optional["os.PathLike[str] | str"] = None,
        allow_url: bool = False,
        threads: Optional[int] = None,
        memory: Optional[Bytes] = None,
        timeout: Optional[float] = None,
        progress: Optional[Callable[[Dict[str, Any]], object]] = None,
    ) -> LoadReport:
        """Loads documents of any size, in any mix of syntaxes and compressions: all of them, or nothing.

        A source is the path of a file or a folder, bytes, a file that is open for bytes, or (with `allow_url`) an address. `quarantine`
        names a new file that takes statements which are wrong; without, the first of them ends the load. `progress` is called now and
        then with `stage`, `quads`, `bytes_read` and `bytes_total`.
        """
        self._check_own_transaction()
        if not sources:
            raise TypeError("load() takes at least one source")
        found = [named for source in sources for named in _sources.find(source, allow_url, format is not None)]
        settings = LoadSettings(
            format=format,
            graph=graph,
            base=base,
            lenient=lenient,
            quarantine=None if quarantine is None else os.fspath(quarantine),
            threads=threads,
            memory=bytes_of(memory),
            timeout=timeout,
            progress=progress,
        )
        report = self._native.load(found, settings)
        report["files"] = [FileReport(*file) for file in report["files"]]
        return LoadReport(**report)

    def transaction(self, timeout: Optional[float] = None) -> Transaction:
        """Begins a transaction over several requests; it waits for other writers. `timeout`: seconds for all of it."""
        self._check_own_transaction()
        native = self._native.begin(timeout)
        transaction = Transaction(native, self._transaction_ended)
        self._open_transaction, self._writer = transaction, threading.get_ident()
        return transaction

    def _transaction_ended(self) -> None:
        self._open_transaction = self._writer = None

    def _check_own_transaction(self) -> None:
        open_transaction = self._open_transaction
        if open_transaction is not None and open_transaction.has_ended:
            self._transaction_ended()
        # It would wait for itself.
        if self._writer == threading.get_ident():
            raise Error("this thread has an open transaction: change the database through it, or end it first")

    def serve(
        self,
        bind: str = "127.0.0.1:7878",
        *,
        timeout: Optional[float] = None,
        anonymous: Optional[str] = None,
        users: Optional["os.PathLike[str] | str"] = None,
        hosts: Sequence[str] = (),
        cors: Sequence[str] = (),
    ) -> Server:
        """Serves this database over HTTP, in threads of this process, until the server is stopped or the database closed.

        `anonymous` is what those may do who send no name: `'none'`, `'read'`, `'update'` or `'admin'`; unless told, all on this machine, and
        reading elsewhere. Port 0 takes one that is free.

        >>> import lodestore
        >>> with lodestore.open() as db, db.serve("127.0.0.1:0") as server:
        ...     server.url.startswith("http://127.0.0.1:")
        True
        """
        settings = ServeSettings(
            bind=bind,
            timeout=timeout,
            anonymous=anonymous,
            users=None if users is None else os.fspath(users),
            hosts=list(hosts),
            cors=list(cors),
        )
        server = Server(self._native.serve(settings))
        self._servers.append(server)
        return server

    @property
    def version(self) -> int:
        """The number of the current version: each change makes a new one."""
        return self._native.version()

    @property
    def read_only(self) -> bool:
        """Whether it can not be changed."""
        return not self._native.is_writable()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._native.is_closed()

    def __len__(self) -> int:
        """How many quads it has."""
        return self._native.quad_count()

    def __bool__(self) -> bool:
        return True

    def close(self) -> None:
        """Closes it: servers stop, and an open transaction is rolled back. What was answered before can still be read."""
        while self._servers:
            self._servers.pop().stop()
        transaction = self._open_transaction
        if transaction is not None:
            transaction.rollback()
        self._native.close()

    def __enter__(self) -> "Database":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = " (closed)" if self.closed else ""
        return f"<lodestore.Database {self.path or 'in memory'}{state}>"


def open(
    path: Optional[Union[str, "os.PathLike[str]"]] = None,
    *,
    create: bool = True,
    read_only: bool = False,
    memory: Optional[Bytes] = None,
    cache: Optional[Bytes] = None,
) -> Database:
    """Opens the database in a folder, or makes an empty one where nothing is; without a path, an empty one in memory.

    One process at a time may have a database open for changes; any number of them may read it (`read_only`), each as it was when it was
    opened. `memory` is what queries, changes and the cache may take together (a number of bytes, or a text such as `'2GiB'`); unless told,
    half of what the machine has.

    >>> import lodestore
    >>> db = lodestore.open()
    >>> len(db)
    0
    >>> db.close()
    """
    settings = OpenSettings(
        create=create and not read_only, read_only=read_only, memory=bytes_of(memory), cache=bytes_of(cache)
    )
    database = Database(path, settings)
    _opened.add(database)
    return database
