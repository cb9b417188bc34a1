"""A store for rdflib: `Dataset(store="Lodestore")`, or `Dataset(LodeStore(database))`.

>>> from rdflib import Dataset, Literal, URIRef
>>> graph = Dataset(store="Lodestore")
>>> _ = graph.add((URIRef("e:ann"), URIRef("e:age"), Literal(41)))
>>> for row in graph.query("SELECT ?age { ?who <e:age> ?age }"):
...     print(row.age.toPython())
41

Queries and updates are answered by Lodestore, not by rdflib. Changes by `add` and `remove` are gathered, and become a transaction before the
next look at the store, at `commit()` and at `close()`; `with store.transaction():` makes one of all that is done in it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import threading
from typing import Any, Dict, Generator, Iterable, Iterator, List, Mapping, Optional, Set, Tuple, Union

from rdflib import BNode, Graph, URIRef, Variable
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, QuotedGraph
from rdflib.plugins.sparql.sparql import Query as PreparedQuery
from rdflib.plugins.sparql.sparql import Update as PreparedUpdate
from rdflib.query import Result
from rdflib.store import NO_STORE, VALID_STORE, Store
from rdflib.term import Identifier, Node as RdflibNode

from . import _database
from ._errors import Error, NotFound
from ._lodestore import BlankNode
from ._rdflib_shared import shared
from ._rdflib_sparql import dataset, handed_on
from ._rdflib_terms import Terms, Unknown
from ._requests import Node
from ._results import Solutions, Triples
from ._transaction import Transaction
from ._values import Term

# Changes that are gathered at most.
_GATHERED_MAX = 1 << 14

_Triple = Tuple[RdflibNode, RdflibNode, RdflibNode]
_Pattern = Tuple[Optional[RdflibNode], Optional[RdflibNode], Optional[RdflibNode]]
_Quad = Tuple[Node, Any, Term, Optional[Node]]


class LodeStore(Store):
    """The store. Given no database, `open(path)` opens one; until then it is in memory."""

    context_aware = True
    graph_aware = True
    formula_aware = False
    transaction_aware = False

    def __init__(
        self,
        database: Union[_database.Database, str, "os.PathLike[str]", None] = None,
        identifier: Optional[Identifier] = None,
        configuration: Optional[str] = None,
    ) -> None:
        self._lock = threading.RLock()
        self._terms = Terms()
        self._gathered: List[_Quad] = []
        self._transaction: Optional[Transaction] = None
        # Graphs that were named and have no quads: a database has none.
        self._empty: Set[Optional[Node]] = set()
        self._prefixes: Dict[str, URIRef] = {}
        self._is_given = isinstance(database, _database.Database)
        self._database: Optional[_database.Database] = None
        if isinstance(database, _database.Database):
            self._database = database
        elif database is not None:
            configuration = os.fspath(database)
        super().__init__(configuration, identifier)

    # Life

    @property
    def database(self) -> _database.Database:
        """The database, with all that was changed."""
        self._flush()
        return self._opened()

    def _opened(self) -> _database.Database:
        if self._database is None:
            self._database = _database.open()
        return self._database

    def open(self, configuration: Union[str, Tuple[str, str]], create: bool = False) -> Optional[int]:
        """Opens the database in a folder; `create` makes one where none is."""
        if self._is_given:
            raise Error("this store was given a database that is open")
        if not isinstance(configuration, str):
            raise ValueError("the configuration of a Lodestore is the path of a database")
        self.close()
        try:
            self._database = shared.open(configuration, create)
        except NotFound:
            return NO_STORE
        return VALID_STORE

    def close(self, commit_pending_transaction: bool = False) -> None:
        """Makes all changes durable and closes the database, unless the store was given it."""
        if self._database is not None and not self._database.closed:
            self._flush()
            if not self._is_given:
                shared.close(self._database)
        if not self._is_given:
            self._database = None

    def destroy(self, configuration: str) -> None:
        """Removes a database that is not open."""
        if self._database is not None:
            raise Error("close the store before its database is removed")
        # Refused where there is no database, or somebody uses it.
        _database.open(configuration, create=False).close()
        shutil.rmtree(configuration)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done within is one transaction; an exception rolls it back."""
        with self._lock:
            if self._transaction is not None:
                raise Error("this store has an open transaction")
            self._flush()
            with self._opened().transaction() as transaction:
                self._transaction = transaction
                try:
                    yield
                    self._flush()
                finally:
                    self._gathered.clear()
                    self._transaction = None

    def commit(self) -> None:
        """Makes what was changed so far durable."""
        self._flush()

    def rollback(self) -> None:
        """There is nothing to be rolled back but by an exception in `with store.transaction()`."""
        raise Error("only what is done in `with store.transaction():` can be rolled back: by an exception")

    # Changes

    def add(self, triple: _Triple, context: Graph, quoted: bool = False) -> None:
        """Adds a triple to a graph."""
        if quoted:
            raise ValueError("Lodestore holds no formulas (quoted triples of N3)")
        super().add(triple, context, quoted)
        self._gather([(*triple, context)])

    def addN(self, quads: Iterable[Tuple[RdflibNode, RdflibNode, RdflibNode, Graph]]) -> None:  # noqa: N802
        """Adds quads."""
        self._gather(quads)

    def _gather(self, quads: Iterable[Tuple[RdflibNode, RdflibNode, RdflibNode, Graph]]) -> None:
        with self._lock:
            for subject, predicate, object, context in quads:
                if isinstance(context, QuotedGraph):
                    raise ValueError("Lodestore holds no formulas (quoted triples of N3)")
                self._gathered.append(self._terms.quad(subject, predicate, object, _name(context)))
                if len(self._gathered) >= _GATHERED_MAX:
                    self._flush()

    def _flush(self) -> None:
        with self._lock:
            if not self._gathered:
                return
            gathered, self._gathered = self._gathered, []
            with self._change() as transaction:
                transaction.add(self._terms.known(gathered, transaction))

    @contextlib.contextmanager
    def _change(self) -> Iterator[Transaction]:
        """The transaction that is open, or one of its own."""
        if self._transaction is not None:
            yield self._transaction
            return
        with self._opened().transaction() as transaction:
            yield transaction

    def remove(self, triple: _Pattern, context: Optional[Graph] = None) -> None:
        """Removes the triples that match, from one graph or from all."""
        with self._lock:
            self._flush()
            found = self._terms.pattern(triple)
            graphs = [] if context is None else [self._terms.graph(_name(context))]
            if found is not None and not any(graph is Terms.UNKNOWN for graph in graphs):
                with self._change() as transaction:
                    transaction.remove(*found, graphs)  # type: ignore[arg-type]
        super().remove(triple, context)

    # What there is

    def _source(self) -> Union[_database.Database, Transaction]:
        self._flush()
        return self._transaction or self._opened()

    def triples(
        self, triple_pattern: _Pattern, context: Optional[Graph] = None
    ) -> Iterator[Tuple[_Triple, Iterator[Optional[Graph]]]]:
        """The triples that match, each with the graphs that have it."""
        with self._lock:
            source = self._source()
            found = self._terms.pattern(triple_pattern)
            graphs = [] if context is None else [self._terms.graph(_name(context))]
            if found is None or any(graph is Terms.UNKNOWN for graph in graphs):
                return
            quads = source.quads(*found, graphs)  # type: ignore[arg-type]
        for triple, same in itertools.groupby(quads, lambda quad: quad[:3]):
            names = [graph for _, _, _, graph in same]
            yield self._terms.triple(*triple), (self._graph(name) for name in names)

    def __len__(self, context: Optional[Graph] = None) -> int:
        """How many triples a graph has, or all of them together."""
        count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
        source = self._source()
        if context is None:
            return _number(source.select(count, union_default_graph=True))
        graph = self._terms.graph(_name(context))
        if isinstance(graph, Unknown):
            return 0
        if isinstance(graph, BlankNode):
            # A query can not name it.
            number = 0
            for _ in source.quads(graphs=[graph]):
                number += 1
            return number
        return _number(source.select(count, default_graphs=[graph.value]) if graph else source.select(count))

    def contexts(self, triple: Optional[_Triple] = None) -> Generator[Graph, None, None]:
        """The graphs that have a triple, or any."""
        if triple is not None and any(term is not None for term in triple):
            for _, graphs in self.triples(triple):
                yield from (graph for graph in graphs if graph is not None)
            return
        source = self._source()
        names: List[Optional[Node]] = list(source.graphs())
        if any(True for _ in source.quads(graphs=[None])):
            names.append(None)
        yield from (self._graph(name) for name in names)
        yield from (self._graph(name) for name in self._empty - set(names))

    def _graph(self, name: Optional[Node]) -> Graph:
        identifier = DATASET_DEFAULT_GRAPH_ID if name is None else self._terms.to_rdflib(name)
        return Graph(self, identifier)

    def add_graph(self, graph: Graph) -> None:
        """Remembers a graph that has no triples yet."""
        name = self._terms.graph(_name(graph))
        if name is not Terms.UNKNOWN:
            self._empty.add(name)  # type: ignore[arg-type]

    def remove_graph(self, graph: Graph) -> None:
        """Removes a graph with its triples."""
        self.remove((None, None, None), graph)
        self._empty.discard(self._terms.graph(_name(graph)))

    # Queries and updates

    def query(
        self,
        query: Union[PreparedQuery, str],
        initNs: Mapping[str, Any],  # noqa: N803
        initBindings: Mapping[str, Identifier],  # noqa: N803
        queryGraph: Any,  # noqa: N803
        **kwargs: Any,
    ) -> Result:
        """Has Lodestore answer a query."""
        text, options = self._request(query, initNs, initBindings, queryGraph, kwargs)
        found = self._source().query(text, **options)
        if isinstance(found, Solutions):
            return self._select(found)
        if isinstance(found, Triples):
            result = Result("CONSTRUCT")
            result.graph = Graph()
            for triple in found:
                result.graph.add(self._terms.triple(triple.subject, triple.predicate, triple.object))
            return result
        result = Result("ASK")
        result.askAnswer = found
        return result

    def _select(self, found: Solutions) -> Result:
        result = Result("SELECT")
        result.vars = [Variable(name) for name in found.variables]
        variables = result.vars
        terms = self._terms
        result.bindings = (
            {variable: terms.to_rdflib(term) for variable, term in zip(variables, row) if term is not None}
            for row in found
        )
        return result

    def update(
        self,
        update: Union[PreparedUpdate, str],
        initNs: Mapping[str, Any],  # noqa: N803
        initBindings: Mapping[str, Identifier],  # noqa: N803
        queryGraph: Any,  # noqa: N803
        **kwargs: Any,
    ) -> None:
        """Has Lodestore run an update."""
        text, options = self._request(update, initNs, initBindings, queryGraph, kwargs)
        with self._lock:
            self._flush()
            if self._transaction is not None:
                self._transaction.update(text, **options)
            else:
                self._opened().update(text, **options)

    def _request(
        self,
        request: Union[PreparedQuery, PreparedUpdate, str],
        prefixes: Mapping[str, Any],
        bindings: Mapping[str, Identifier],
        graph: Any,
        options: Dict[str, Any],
    ) -> Tuple[str, Dict[str, Any]]:
        text, options = handed_on(request, prefixes, bindings, options, self._terms)
        return text, {**options, **dataset(graph, self._source().graphs)}

    # Prefixes

    def bind(self, prefix: str, namespace: URIRef, override: bool = True) -> None:
        """Binds a prefix, as long as the store is there."""
        bound = self.prefix(namespace)
        if override:
            if bound is not None:
                del self._prefixes[bound]
            self._prefixes[prefix] = namespace
        elif bound is None and prefix not in self._prefixes:
            self._prefixes[prefix] = namespace

    def namespace(self, prefix: str) -> Optional[URIRef]:
        """The namespace of a prefix."""
        return self._prefixes.get(prefix)

    def prefix(self, namespace: URIRef) -> Optional[str]:
        """The prefix of a namespace."""
        return next((prefix for prefix, bound in self._prefixes.items() if bound == namespace), None)

    def namespaces(self) -> Iterator[Tuple[str, URIRef]]:
        """All prefixes."""
        yield from list(self._prefixes.items())


def _name(context: Union[Graph, RdflibNode]) -> RdflibNode:
    return context.identifier if isinstance(context, Graph) else context


def _number(found: Solutions) -> int:
    number = next(found).to_python()[0]
    return number if isinstance(number, int) else 0
