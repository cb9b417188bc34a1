"""Opening, loading, queries, updates, errors."""

from __future__ import annotations

import io
import pathlib
import threading
import time
from typing import Any, Dict, List, Tuple, Union

import lodestore
import pytest
from lodestore import IRI, BlankNode, Literal


def test_rows_have_terms(people: lodestore.Database) -> None:
    query = "PREFIX : <http://example.org/> SELECT ?who ?age ?nothing { ?who :age ?age } ORDER BY ?age"
    solutions = people.select(query)
    assert solutions.variables == ("who", "age", "nothing")
    bob, ann = solutions.rows()
    assert ann["who"] == IRI("http://example.org/ann") and ann[1] == Literal(41) and ann["?nothing"] is None
    assert bob.to_python() == ("http://example.org/bob", 7, None)
    assert bob.asdict() == {"who": IRI("http://example.org/bob"), "age": Literal(7)}
    assert bob.keys() == ["who", "age", "nothing"] and len(bob) == 3 and bob == bob != ann
    assert repr(bob) == f"Row(who={bob[0]!r}, age={bob[1]!r}, nothing=None)"
    assert solutions.rows() == []
    with pytest.raises(KeyError):
        ann["other"]


def test_forms_of_queries(people: lodestore.Database) -> None:
    assert people.query("ASK { ?s ?p ?o }") is True
    assert people.ask("ASK { ?s ?p 12345 }") is False
    triples = people.construct("CONSTRUCT { ?o ?p ?s } { ?s ?p ?o FILTER (isIRI(?o)) }").triples()
    assert [str(triple.subject) for triple in triples] == ["<http://example.org/bob>"]
    assert isinstance(people.query("DESCRIBE <http://example.org/ann>"), lodestore.Triples)
    for wrong in (people.select, people.construct):
        with pytest.raises(lodestore.QueryError, match="this is no"):
            wrong("ASK {}")
    with pytest.raises(lodestore.QueryError, match="this is no ASK"):
        people.ask("SELECT * {}")


def test_many_rows_come_in_order(db: lodestore.Database) -> None:
    lines = "".join(f"<e:{number}> <e:p> {number} .\n" for number in range(50_000))
    assert db.load(lines.encode(), format="ttl").added == len(db) == 50_000
    rows = db.select("SELECT ?o { ?s <e:p> ?o } ORDER BY ?o")
    assert [row[0].to_python() for row in rows] == list(range(50_000))  # type: ignore[union-attr]
    first = db.select("SELECT ?o { ?s <e:p> ?o } ORDER BY ?o")
    assert next(first).to_python() == (0,)
    first.close()
    with pytest.raises(lodestore.Closed, match="has ended"):
        first.rows()


def test_bindings_are_never_read_as_text(people: lodestore.Database) -> None:
    query = "PREFIX : <http://example.org/> SELECT ?who { ?who :name ?name }"
    assert people.select(query, bindings={"name": "Ann"}).to_dicts() == [{"who": "http://example.org/ann"}]
    assert people.select(query, bindings={"?name": Literal("Bob", language="en")}).rows()[0][0] == IRI(
        "http://example.org/bob"
    )
    for evil in ['x" } DROP ALL #', "x' ?y", "\\u0022 .", "?who", "\n"]:
        assert people.select(query, bindings={"name": evil}).rows() == []
        answer = people.select("SELECT (?value AS ?same) {}", bindings={"value": evil})
        assert answer.to_dicts() == [{"same": evil}]
    with pytest.raises(ValueError, match="has no variable .nam"):
        people.select(query, bindings={"nam": "Ann"})
    with pytest.raises(TypeError, match="no literal"):
        people.select(query, bindings={"name": object()})  # type: ignore[dict-item]


def test_bindings_of_updates(people: lodestore.Database) -> None:
    evil = 'a" } ; DROP ALL ; INSERT DATA { <e:x> <e:y> "z'
    insert = "INSERT { GRAPH ?g { ?s <e:note> ?note } } WHERE {}"
    report = people.update(insert, bindings={"g": IRI("e:g"), "s": IRI("e:s"), "note": evil})
    assert (report.inserted, report.deleted, report.operations) == (1, 0, 1)
    assert people.select("SELECT ?n { GRAPH <e:g> { ?s ?p ?n } }").to_dicts() == [{"n": evil}]
    delete = "DELETE { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }"
    assert people.update(delete, bindings={"o": "other"}).deleted == 0
    assert people.update(delete, bindings={"o": evil}).deleted == 1


def test_quads_by_pattern(people: lodestore.Database) -> None:
    more, bob = IRI("http://example.org/more"), IRI("http://example.org/bob")
    assert len(list(people.quads())) == len(people) == 9
    assert [(o, g) for _, _, o, g in people.quads(bob, graphs=[more])] == [(Literal("tea"), more)]
    assert {g for _, _, _, g in people.quads(bob)} == {None, more}
    assert len(list(people.quads(bob, graphs=[None]))) == 2
    assert [s for s, _, _, _ in people.quads(object=41)] == [IRI("http://example.org/ann")]
    assert list(people.quads(IRI("e:none"))) == [] == list(people.quads(graphs=[IRI("e:none")]))
    assert people.graphs() == [more]


def test_blank_nodes_of_answers_mean_the_same_node(db: lodestore.Database) -> None:
    db.update("INSERT DATA { _:a <e:p> 1 . _:b <e:p> 2 }")
    node = db.select("SELECT ?s { ?s <e:p> 2 }").rows()[0][0]
    assert isinstance(node, BlankNode)
    assert [o for _, _, o, _ in db.quads(node)] == [Literal(2)]
    with pytest.raises(TypeError, match="a query can not name"):
        db.select("SELECT ?o { ?s <e:p> ?o }", bindings={"s": node})
    with db.transaction() as tx:
        tx.remove(node)
    assert len(db) == 1


def test_datasets(people: lodestore.Database) -> None:
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"

    def rows(**options: Any) -> object:
        return people.select(count, **options).to_dicts()[0]["n"]

    assert (rows(), rows(union_default_graph=True)) == (8, 9)
    assert rows(default_graphs=["http://example.org/more"]) == 1
    named = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"
    assert people.select(named, named_graphs=["e:none"]).to_dicts() == [{"n": 0}]
    with pytest.raises(lodestore.QuerySyntaxError, match="not an IRI"):
        rows(default_graphs=["no iri"])
    with pytest.raises(TypeError, match="takes a list"):
        rows(default_graphs="http://example.org/more")
    with pytest.raises(TypeError, match="there is no option 'tmeout'"):
        rows(tmeout=1)
    assert people.ask("ASK { <ann> ?p ?o }", base="http://example.org/") is True


def test_reasoning(db: lodestore.Database) -> None:
    db.load(
        b"""
        @prefix : <e:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :schema { :Cat rdfs:subClassOf :Animal . :owns rdfs:domain :Person }
        :data { :tom a :Cat . :ann :owns :tom }
        """,
        format="trig",
    )

    def found(name: str, **options: Any) -> List[str]:
        rows = db.select(f"SELECT ?x {{ GRAPH ?g {{ ?x a <e:{name}> }} }}", **options)
        return [str(row.to_python()[0]) for row in rows]

    assert (found("Animal"), found("Animal", reason="none")) == ([], [])
    assert (found("Animal", reason="hierarchies"), found("Person", reason="hierarchies")) == (["e:tom"], [])
    assert found("Person", reason="domain") == found("Person", reason="rdfs") == ["e:ann"]
    assert found("Animal", reason="rdfs", schema_graphs=["e:schema"]) == ["e:tom"]
    assert found("Animal", reason="rdfs", schema_graphs=["e:data"]) == []
    assert "e:Cat" in db.explain("SELECT * { GRAPH ?g { ?x a <e:Animal> } }", reason="rdfs")
    with pytest.raises(ValueError, match="no rules are called `owl`; there are"):
        found("Animal", reason="owl")
    with pytest.raises(ValueError, match="schema_graphs"):
        found("Animal", reason="rdfs", schema_graphs=["no iri"])
    with pytest.raises(TypeError, match="a list"):
        found("Animal", reason="rdfs", schema_graphs="e:schema")


def test_formats(people: lodestore.Database, tmp_path: pathlib.Path) -> None:
    query = "SELECT ?n { <http://example.org/ann> <http://example.org/age> ?n }"
    assert people.select(query).serialize("csv") == b"n\r\n41\r\n"
    assert b'"bindings"' in people.select(query).serialize()
    assert people.select(query).serialize("parquet")[:4] == b"PAR1"
    assert people.construct("CONSTRUCT { <e:a> <e:b> 1 } {}").serialize("nt").startswith(b"<e:a> <e:b> ")
    with open(tmp_path / "rows.tsv", "wb") as file:
        assert people.select(query).write(file, "tsv") == 1
    assert (tmp_path / "rows.tsv").read_bytes() == b"?n\n41\n"
    with pytest.raises(lodestore.FormatError, match="unknown format exe"):
        people.select(query).serialize("exe")
    with pytest.raises(lodestore.FormatError):
        people.select(query).serialize("ttl")

    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        people.select(query).write(Full(), "csv")


def test_syntax_errors_have_places(db: lodestore.Database) -> None:
    with pytest.raises(lodestore.QuerySyntaxError) as raised:
        db.select("SELECT *\n{ ?s ?p }")
    assert (raised.value.line, raised.value.column) == (2, 9)
    assert "line 2, column 9" in str(raised.value) and "^" in str(raised.value)
    assert raised.value.mistakes[0].line == 2
    assert isinstance(raised.value, (lodestore.SyntaxError, lodestore.QueryError))
    with pytest.raises(lodestore.DataSyntaxError, match="nothing was loaded\nhint: quarantine=") as data:
        db.load(b"<e:a> <e:b> <e:c> .\n<e:a> <e:b> oops .", format="ttl")
    assert (data.value.line, data.value.file) == (2, "bytes") and data.value.column is not None
    assert len(db) == 0


def test_loads(db: lodestore.Database, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.nt").write_text("<e:a> <e:p> <e:1> .\n")
    (folder / "deep" / "b.ttl").write_text("<e:b> <e:p> <e:2>, <e:3> .\n")
    (folder / "notes.txt").write_text("no RDF")
    report = db.load(folder)
    assert (report.added, sorted(file.quads for file in report.files)) == (3, [1, 2])
    assert db.load(str(folder / "a.nt"), graph="e:g").added == 1
    with open(folder / "deep" / "b.ttl", "rb") as file:
        again = db.load(file, format="ttl")
    assert (again.added, again.existing) == (0, 2)
    bad = b"<e:a> <e:p> <e:4> .\n<e:a> <e:p> nonsense\n<e:a> <e:p> <e:5> .\n"
    report = db.load(bad, format="nt", quarantine=tmp_path / "bad.nt")
    assert (report.added, report.quarantined) == (2, 1)
    assert "nonsense" in (tmp_path / "bad.nt").read_text()
    wrong: List[Tuple[Union[str, pathlib.Path], str]] = [
        (tmp_path / "none.ttl", "there is no such file"),
        ("http://127.0.0.1:1/x.ttl", "allow_url=True"),
        (tmp_path / "data" / "deep" / "empty", "there is no such file"),
    ]
    for source, message in wrong:
        with pytest.raises(lodestore.LoadError, match=message):
            db.load(source)
    with pytest.raises(lodestore.FormatError, match="unknown format"):
        db.load(b"", format="exe")
    with pytest.raises(lodestore.LoadError, match="give the name of a new file"):
        db.load(bad, format="nt", quarantine=tmp_path / "bad.nt")
    with pytest.raises(lodestore.LoadError, match="open for bytes"):
        db.load(io.StringIO("text"), format="nt")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="at least one"):
        db.load()

    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise ConnectionResetError("gone")

    with pytest.raises(ConnectionResetError, match="gone"):
        db.load(Broken(), format="nt")  # type: ignore[arg-type]


def test_a_load_tells_how_far_it_is(db: lodestore.Database) -> None:
    told: List[Dict[str, Any]] = []

    class Slow(io.RawIOBase):
        rest = 10

        def read(self, size: int = -1) -> bytes:
            time.sleep(0.02)
            self.rest -= 1
            return b"<e:a> <e:p> %d .\n" % self.rest if self.rest > 0 else b""

    assert db.load(Slow(), format="ttl", progress=told.append).added == 9  # type: ignore[arg-type]
    assert told and set(told[0]) == {"stage", "quads", "bytes_read", "bytes_total"}


def test_databases_stay(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "my.db"
    with pytest.raises(lodestore.NotFound, match="there is no database"):
        lodestore.open(path, create=False)
    with pytest.raises(lodestore.NotFound, match="there is no database"):
        lodestore.open(path, read_only=True)
    with lodestore.open(path) as db:
        db.update("INSERT DATA { <e:a> <e:p> 1 }")
        with lodestore.open(path, read_only=True) as reader:
            assert len(reader) == 1 and reader.read_only and not db.read_only
            with pytest.raises(lodestore.ReadOnly):
                reader.update("INSERT DATA { <e:a> <e:p> 2 }")
        with pytest.raises(lodestore.Locked, match="read_only=True"):
            lodestore.open(path)
        assert repr(db) == f"<lodestore.Database {path}>"
    assert db.closed and repr(db).endswith("(closed)>")
    with pytest.raises(lodestore.Closed, match="open it again"):
        db.query("ASK {}")
    db.close()
    with lodestore.open(path, create=False, memory="64 MiB", cache="8MiB") as again:
        assert again.ask("ASK { <e:a> <e:p> 1 }")
    (tmp_path / "file").write_text("x")
    with pytest.raises(lodestore.StorageError):
        lodestore.open(tmp_path / "file")
    with pytest.raises(ValueError, match="no number of bytes"):
        lodestore.open(memory="much")


def test_what_was_answered_outlives_the_database(tmp_path: pathlib.Path) -> None:
    db = lodestore.open(tmp_path / "my.db")
    db.load(b"<e:a> <e:p> 1, 2, 3 .", format="ttl")
    rows = db.select("SELECT ?o { ?s ?p ?o }")
    db.close()
    assert len(rows.rows()) == 3
    # Nobody holds the lock any more.
    lodestore.open(tmp_path / "my.db").close()


def test_limits(db: lodestore.Database) -> None:
    db.load("".join(f"<e:{n}> <e:p> {n} .\n" for n in range(2000)).encode(), format="ttl")
    cross = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER (?c + ?f = ?i + 0.5) }"
    started = time.monotonic()
    with pytest.raises(lodestore.Timeout, match="timeout="):
        db.select(cross, timeout=0.1).rows()
    assert time.monotonic() - started < 2
    assert issubclass(lodestore.Timeout, TimeoutError)
    with pytest.raises(lodestore.TooManyRows, match="more than 10 rows"):
        db.select("SELECT * { ?s ?p ?o }", rows_max=10).rows()
    with pytest.raises(ValueError, match="timeout"):
        db.select("SELECT * {}", timeout=-1)
    many = "SELECT ?x (GROUP_CONCAT(?c) AS ?all) { ?a ?b ?c . ?d ?e ?f BIND (1 AS ?x) } GROUP BY ?x"
    with pytest.raises(lodestore.MemoryLimit, match="memory="):
        db.select(many, memory="1MiB").rows()


def test_loads_by_update_need_leave(db: lodestore.Database, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.ttl").write_text("<e:a> <e:p> 1 .")
    load = f"LOAD <{(tmp_path / 'a.ttl').as_uri()}>"
    with pytest.raises(lodestore.Forbidden, match="allow_load="):
        db.update(load)
    assert db.update(load, allow_load=[str(tmp_path)]).inserted == 1


def test_plans(people: lodestore.Database) -> None:
    query = "SELECT * { ?s <http://example.org/age> ?o }"
    assert "IndexScan" in people.explain(query)
    assert '"operator"' in people.explain_json(query)
    profile = people.profile(query)
    assert profile["form"] == "select" and profile["run"]["seconds"] >= 0
    answer = people.select("SELECT * { ?s <http://example.org/agee> ?o }")
    assert answer.warnings and "agee" in answer.warnings[0]
    assert "Empty" in answer.explain() and answer.report()["plan"]["operator"] == "Empty"


def test_threads_answer_side_by_side(db: lodestore.Database) -> None:
    db.load("".join(f"<e:{n}> <e:p> {n} .\n" for n in range(1000)).encode(), format="ttl")
    failures: List[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                assert len(db.select("SELECT * { ?s ?p ?o }").rows()) == 1000
                db.update("INSERT DATA { GRAPH <e:g> { <e:x> <e:y> 1 } }")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
