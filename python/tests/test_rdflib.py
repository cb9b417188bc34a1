"""The store of rdflib, by the things that rdflib's own tests look at: triples, patterns, contexts, datasets, SPARQL, blank nodes."""

from __future__ import annotations

import pathlib
from typing import Any, Iterator, Optional, Set

import lodestore
import pytest
from lodestore.rdflib_store import LodeStore
from rdflib import RDF, XSD, BNode, Dataset, Graph, Literal, Namespace, URIRef, Variable, plugin
from rdflib.compare import isomorphic
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID, ConjunctiveGraph, QuotedGraph
from rdflib.plugins.sparql import prepareQuery
from rdflib.term import Node as RdflibNode
from rdflib.store import NO_STORE, VALID_STORE, Store

EX = Namespace("http://example.org/")
MICHEL, TAREK, BOB, LIKES, HATES = EX.michel, EX.tarek, EX.bob, EX.likes, EX.hates
PIZZA, CHEESE = EX.pizza, EX.cheese
C1, C2 = EX.c1, EX.c2


@pytest.fixture
def store() -> Iterator[LodeStore]:
    store = LodeStore()
    yield store
    store.close()


def stuff(graph: Graph) -> None:
    for triple in [
        (TAREK, LIKES, PIZZA),
        (TAREK, LIKES, CHEESE),
        (MICHEL, LIKES, PIZZA),
        (MICHEL, LIKES, CHEESE),
        (BOB, LIKES, CHEESE),
        (BOB, HATES, PIZZA),
        (BOB, HATES, MICHEL),
    ]:
        graph.add(triple)


def test_rdflib_finds_the_plugin() -> None:
    assert plugin.get("Lodestore", Store) is LodeStore
    assert isinstance(Graph("Lodestore").store, LodeStore)


def test_triples_by_pattern(store: LodeStore) -> None:
    graph = Graph(store, identifier=C1)
    stuff(graph)

    def count(*pattern: Optional[RdflibNode]) -> int:
        return len(list(graph.triples(pattern)))  # type: ignore[arg-type]

    assert (count(None, None, None), len(graph)) == (7, 7)
    assert (count(TAREK, None, None), count(None, LIKES, None), count(None, None, PIZZA)) == (2, 5, 3)
    assert (count(TAREK, LIKES, None), count(None, HATES, PIZZA), count(BOB, None, MICHEL)) == (2, 1, 1)
    assert (count(TAREK, LIKES, PIZZA), count(TAREK, HATES, PIZZA), count(EX.none, None, None)) == (1, 0, 0)
    assert (BOB, HATES, MICHEL) in graph and (MICHEL, HATES, BOB) not in graph
    assert set(graph.subjects(LIKES, CHEESE)) == {TAREK, MICHEL, BOB}
    assert set(graph.predicate_objects(BOB)) == {(LIKES, CHEESE), (HATES, PIZZA), (HATES, MICHEL)}
    choices: Any = (None, LIKES, [PIZZA, CHEESE])
    assert len(list(graph.triples_choices(choices))) == 5
    assert graph.value(BOB, LIKES) == CHEESE
    # A subject can be no literal: such a pattern finds nothing.
    assert count(Literal("x"), None, None) == 0 == count(None, BNode(), None)
    graph.remove((TAREK, None, None))
    assert len(graph) == 5
    graph.remove((None, None, None))
    assert len(graph) == 0


def test_a_triple_is_there_once(store: LodeStore) -> None:
    graph = Graph(store, identifier=C1)
    for _ in range(3):
        graph.add((TAREK, LIKES, PIZZA))
    assert len(graph) == 1
    graph.remove((TAREK, LIKES, PIZZA))
    graph.remove((TAREK, LIKES, PIZZA))
    assert len(graph) == 0


def test_contexts(store: LodeStore) -> None:
    triple = (MICHEL, LIKES, PIZZA)
    one, two = Graph(store, C1), Graph(store, C2)
    one.add(triple)
    two.add(triple)
    two.add((MICHEL, LIKES, CHEESE))
    union = ConjunctiveGraph(store)
    assert (len(one), len(two), len(union)) == (1, 2, 2)
    assert {graph.identifier for graph in union.contexts()} == {C1, C2}
    assert {graph.identifier for graph in union.contexts(triple)} == {C1, C2}
    assert {graph.identifier for graph in union.contexts((MICHEL, LIKES, CHEESE))} == {C2}
    assert list(union.contexts((MICHEL, LIKES, TAREK))) == []
    assert len(list(union.triples((None, None, None)))) == 2
    assert {(quad[0], getattr(quad[3], "identifier", None)) for quad in union.quads(triple)} == {(MICHEL, C1), (MICHEL, C2)}
    one.remove(triple)
    assert len(union) == 2 and triple in union
    union.remove(triple)
    assert len(union) == 1
    union.remove_context(two)
    assert len(union) == 0


def test_datasets(store: LodeStore) -> None:
    dataset = Dataset(store)
    assert [graph.identifier for graph in dataset.graphs()] == [DATASET_DEFAULT_GRAPH_ID]
    named = dataset.graph(C1)
    # An empty graph is one of the dataset.
    assert {graph.identifier for graph in dataset.graphs()} == {C1, DATASET_DEFAULT_GRAPH_ID}
    named.add((TAREK, LIKES, PIZZA))
    dataset.add((TAREK, LIKES, CHEESE))
    dataset.graph(C2).add((TAREK, LIKES, CHEESE))
    # As of rdflib's own stores: the triples of all graphs, each once.
    assert len(dataset) == 2
    assert set(dataset.quads((None, None, None, None))) == {
        (TAREK, LIKES, PIZZA, C1),
        (TAREK, LIKES, CHEESE, DATASET_DEFAULT_GRAPH_ID),
        (TAREK, LIKES, CHEESE, C2),
    }
    dataset.remove_graph(C1)
    assert {graph.identifier for graph in dataset.graphs()} == {C2, DATASET_DEFAULT_GRAPH_ID}
    union = Dataset(store, default_union=True)
    assert len(list(union.triples((None, None, None)))) == 1
    assert len(dataset.serialize(format="nquads").split()) == 4 + 5


def test_literals_come_back_as_they_were(store: LodeStore) -> None:
    graph = Graph(store, C1)
    literals = [
        Literal("text"),
        Literal("chat", lang="fr"),
        Literal(41),
        Literal("007", datatype=XSD.integer, normalize=False),
        Literal("no number", datatype=XSD.integer),
        Literal(1.5),
        Literal(True),
        Literal("2026-02-03", datatype=XSD.date),
        Literal("odd", datatype=EX.type),
        Literal('" \\ \n \t é 漢 😀'),
        Literal(""),
    ]
    for literal in literals:
        graph.add((MICHEL, EX.says, literal))
    assert set(graph.objects(MICHEL)) == set(literals)
    for literal in literals:
        assert (MICHEL, EX.says, literal) in graph
    assert {str(found) for found in graph.objects(MICHEL) if found.datatype == XSD.integer} == {  # type: ignore[attr-defined]
        "41",
        "007",
        "no number",
    }


def test_blank_nodes_keep_what_they_are(store: LodeStore) -> None:
    graph = Graph(store, C1)
    one, two, odd = BNode(), BNode("b1"), BNode("http://odd/ label")
    graph.add((one, LIKES, two))
    graph.add((two, LIKES, odd))
    assert set(graph) == {(one, LIKES, two), (two, LIKES, odd)}
    assert list(graph.objects(one)) == [two] and (two, LIKES, odd) in graph
    # In another batch it is the same node.
    graph.add((one, HATES, odd))
    assert len(set(graph.subjects())) == 2
    assert list(graph.triples((BNode("unknown"), None, None))) == []
    graph.remove((two, None, None))
    assert len(graph) == 2
    # Those of the database have names of their own.
    store.database.update("INSERT DATA { GRAPH <http://example.org/c1> { _:x <http://example.org/new> 1 } }")
    (found,) = graph.subjects(EX.new)
    assert isinstance(found, BNode) and list(graph.objects(found)) == [Literal(1)]
    graph.add((found, EX.new, Literal(2)))
    assert len(list(graph.objects(found, EX.new))) == 2
    assert [row.s for row in graph.query("SELECT ?s { ?s <http://example.org/new> 1 }")] == [found]  # type: ignore[union-attr]


def test_graphs_whose_names_are_blank(store: LodeStore) -> None:
    one, two = Graph(store), Graph(store)
    one.add((MICHEL, LIKES, PIZZA))
    two.add((TAREK, LIKES, PIZZA))
    assert (len(one), len(two), len(Graph(store))) == (1, 1, 0)
    assert {graph.identifier for graph in ConjunctiveGraph(store).contexts()} == {one.identifier, two.identifier}
    # Such a graph can not be named in a query: rdflib evaluates it.
    assert [row.s for row in one.query("SELECT ?s { ?s ?p ?o }")] == [MICHEL]  # type: ignore[union-attr]


def test_documents_round_trip(store: LodeStore) -> None:
    text = """
        @prefix : <http://example.org/> .
        :a :list (1 2 [ :deep "x"@en ]) ; :at _:x . _:x :back :a .
    """
    graph, plain = Graph(store, C1), Graph()
    graph.parse(data=text, format="turtle")
    plain.parse(data=text, format="turtle")
    assert len(graph) == len(plain) and isomorphic(graph, plain)
    for format in ("turtle", "nt", "xml", "json-ld"):
        again = Graph(LodeStore(), C1)
        again.parse(data=graph.serialize(format=format), format=format)
        assert isomorphic(again, plain)
    assert graph + plain is not None and len(graph - graph) == 0


def test_queries(store: LodeStore) -> None:
    dataset = Dataset(store)
    stuff(dataset.default_graph)
    dataset.graph(C1).add((EX.other, LIKES, PIZZA))
    dataset.bind("ex", EX)
    rows = dataset.query("SELECT ?who WHERE { ?who ex:likes ex:pizza } ORDER BY ?who")
    assert rows.vars == [Variable("who")] and [row.who for row in rows] == [MICHEL, TAREK]  # type: ignore[union-attr]
    assert len(rows) == 2 and b"michel" in (rows.serialize(format="json") or b"")
    assert bool(dataset.query("ASK { ex:bob ex:hates ex:michel }")) is True
    built = dataset.query("CONSTRUCT { ?b ex:hatedBy ?a } WHERE { ?a ex:hates ?b }").graph
    assert built is not None and (MICHEL, EX.hatedBy, BOB) in built
    bound = dataset.query("SELECT ?what { ?who ?how ?what }", initBindings={"who": BOB, "how": LIKES, "not": BOB})
    assert [row.what for row in bound] == [CHEESE]  # type: ignore[union-attr]
    prepared = prepareQuery("SELECT ?o { ?s x:hates ?o } ORDER BY ?o", initNs={"x": EX})
    assert [row.o for row in dataset.query(prepared, initBindings={"s": BOB})] == [MICHEL, PIZZA]  # type: ignore[union-attr]
    assert [row.who for row in Dataset(store).graph(C1).query("SELECT ?who { ?who ?p ?o }")] == [EX.other]  # type: ignore[union-attr]
    union = Dataset(store, default_union=True).query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
    assert [row.n.toPython() for row in union] == [8]  # type: ignore[union-attr]
    with pytest.raises(lodestore.QuerySyntaxError, match="line 2"):
        dataset.query("SELECT *\n{ oops }")


def test_updates(store: LodeStore) -> None:
    dataset = Dataset(store)
    dataset.update("INSERT DATA { <http://example.org/a> <http://example.org/p> 1 }")
    assert (EX.a, EX.p, Literal(1)) in dataset
    dataset.add((EX.b, EX.p, Literal(2)))
    # What was added by hand before is there for the update.
    dataset.update("DELETE { ?s ?p ?o } INSERT { ?s ?p 3 } WHERE { ?s ?p ?o }", initBindings={"s": EX.b})
    assert set(dataset.objects()) == {Literal(1), Literal(3)}


def test_databases_stay(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "my.db")
    graph = Dataset(store="Lodestore")
    assert graph.open(path, create=False) == NO_STORE
    assert graph.open(path, create=True) == VALID_STORE
    graph.add((MICHEL, LIKES, PIZZA))
    graph.close()
    again = Dataset(store="Lodestore")
    again.open(path)
    assert set(again.triples((None, None, None))) == {(MICHEL, LIKES, PIZZA)}
    with pytest.raises(lodestore.Error, match="close the store"):
        again.destroy(path)
    again.close()
    again.destroy(path)
    assert not (tmp_path / "my.db").exists()
    with pytest.raises(lodestore.NotFound):
        LodeStore().destroy(path)


def test_stores_of_one_process_share_a_database(tmp_path: pathlib.Path) -> None:
    one, two = (Dataset(store="Lodestore") for _ in range(2))
    one.open(str(tmp_path / "my.db"), create=True)
    two.open(str(tmp_path / "other" / ".." / "my.db"))
    one.add((MICHEL, LIKES, PIZZA))
    one.commit()
    assert (MICHEL, LIKES, PIZZA) in two
    one.close()
    two.add((MICHEL, LIKES, CHEESE))
    two.close()
    with lodestore.open(tmp_path / "my.db", create=False) as db:
        assert len(db) == 2


def test_a_store_over_a_database_that_is_open(db: lodestore.Database) -> None:
    graph = Dataset(LodeStore(db))
    graph.add((MICHEL, LIKES, PIZZA))
    graph.commit()
    assert len(db) == 1
    graph.add((MICHEL, LIKES, CHEESE))
    graph.close()
    assert len(db) == 2 and not db.closed


def test_transactions(store: LodeStore) -> None:
    graph = Dataset(store)
    graph.add((MICHEL, LIKES, PIZZA))
    with pytest.raises(ZeroDivisionError):
        with store.transaction():
            graph.add((MICHEL, LIKES, CHEESE))
            graph.remove((MICHEL, LIKES, PIZZA))
            graph.update("INSERT DATA { <e:a> <e:b> 1 }")
            assert set(graph.objects()) == {CHEESE, Literal(1)}
            1 / 0
    assert set(graph.objects()) == {PIZZA}
    with store.transaction():
        graph.add((MICHEL, LIKES, CHEESE))
    assert set(graph.objects()) == {PIZZA, CHEESE}
    with pytest.raises(lodestore.Error, match="rolled back"):
        graph.rollback()


def test_prefixes(store: LodeStore) -> None:
    store.bind("a", URIRef("http://a/"))
    store.bind("b", URIRef("http://a/"), override=False)
    assert store.prefix(URIRef("http://a/")) == "a" and store.namespace("b") is None
    store.bind("b", URIRef("http://a/"))
    assert dict(store.namespaces()) == {"b": URIRef("http://a/")}


def test_what_is_no_iri_comes_back_as_it_was(store: LodeStore) -> None:
    texts = ["relative", "", "a b", "http://e/<x>", "urn:x-rdflib:text:a", "%41"]
    graph = Graph(store, URIRef("own name"))
    for text in texts:
        graph.add((URIRef(text), LIKES, Literal("x", datatype=URIRef("my type"))))
    assert {str(name) for name in graph.subjects()} == set(texts)
    assert len(graph) == 6 and (URIRef("a b"), LIKES, None) in graph
    assert {value.datatype for value in graph.objects()} == {URIRef("my type")}  # type: ignore[attr-defined]
    assert [graph.identifier for graph in ConjunctiveGraph(store).contexts()] == [URIRef("own name")]
    # For others it is an IRI like any other.
    assert lodestore.IRI("urn:x-rdflib:text:a%20b") in {quad[0] for quad in store.database.quads()}


def test_formulas_are_refused(store: LodeStore) -> None:
    with pytest.raises(ValueError, match="no formulas"):
        QuotedGraph(store, C1).add((MICHEL, LIKES, PIZZA))
    assert len(Graph(store, C1)) == 0


def test_many_triples(store: LodeStore) -> None:
    graph = Graph(store, C1)
    graph.addN((EX[str(number)], RDF.value, Literal(number), graph) for number in range(40_000))
    assert len(graph) == 40_000
    seen: Set[Any] = set()
    for _, _, value in graph:
        seen.add(value.toPython())  # type: ignore[attr-defined]
        if len(seen) == 10:
            # A change does not disturb who reads.
            graph.add((EX.new, RDF.value, Literal(-1)))
    assert len(seen) == 40_000
