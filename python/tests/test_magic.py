"""The magic of notebooks, in IPython without a browser."""

from __future__ import annotations

import pathlib
from typing import Any, Iterator, List
from xml.etree import ElementTree

import lodestore
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from lodestore._html import shorten, table
from lodestore._svg import drawing


class Notebook:
    """A shell, and what its cells have shown."""

    def __init__(self, shell: InteractiveShell, shown: List[Any]) -> None:
        self.shell, self.shown = shell, shown

    def cell(self, line: str, text: str) -> str:
        self.shell.run_cell_magic("sparql", line, text)
        return str(self.shown[-1]._repr_html_())


@pytest.fixture
def notebook(people: lodestore.Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "lodestore")
    shown: List[Any] = []
    monkeypatch.setattr("lodestore._magic.display", shown.append)
    shell.user_ns["people"] = people
    yield Notebook(shell, shown)
    InteractiveShell.clear_instance()


def test_rows_are_a_table(notebook: Notebook) -> None:
    html = notebook.cell(
        "people -o rows",
        "PREFIX ex: <http://example.org/>\nSELECT ?who ?age ?none { ?who ex:age ?age } ORDER BY ?age",
    )
    assert "<th>who</th><th>age</th><th>none</th>" in html
    assert '<a href="http://example.org/bob" rel="noreferrer noopener" target="_blank">ex:bob</a>' in html
    assert '<td class="number">7</td><td></td>' in html and "2 rows in " in html and " ms" in html
    assert [row.to_python()[1] for row in notebook.shell.user_ns["rows"]] == [7, 41]
    assert repr(notebook.shown[-1]).startswith("who\tage\tnone\n<http://example.org/bob>\t")
    # The next cell needs no name of the database.
    assert "True" in notebook.cell("", "ASK { ?s ?p ?o }")


def test_what_comes_from_the_data_is_escaped(notebook: Notebook) -> None:
    evil = "<script>alert(1)</script>\"'&"
    notebook.shell.user_ns["evil"] = evil
    html = notebook.cell("people --bind x=evil", "SELECT (?x AS ?y) (STRLANG(?x, 'en') AS ?z) {}")
    assert "<script" not in html and "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&amp;" in html
    iris = notebook.cell("", "SELECT (<javascript:alert(1)> AS ?a) (<http://e/?a=1&b='x'> AS ?b) {}")
    assert 'href="javascript' not in iris and "javascript:alert(1)" in iris
    assert "http://e/?a=1&amp;b=&#x27;x&#x27;" in iris
    graph = notebook.cell("--bind evil", "CONSTRUCT { <e:s> <e:p> ?evil } {}")
    assert "<script" not in graph and "&lt;script&gt;" in graph
    long = notebook.cell("", "SELECT (REPLACE('" + "x" * 1000 + "', 'a', 'b') AS ?long) {}")
    assert "x" * 299 + "…" in long and "x" * 301 not in long


def test_few_rows_are_shown_of_many(notebook: Notebook) -> None:
    html = notebook.cell("people --rows 3", "SELECT * { ?s ?p ?o }")
    assert html.count("<tr>") == 4 and "the first 3 rows (--rows shows more)" in html
    html = notebook.cell("people -n 3 -o rows", "SELECT * { ?s ?p ?o }")
    assert "3 of 8 rows" in html and len(notebook.shell.user_ns["rows"]) == 8


def test_triples_are_a_drawing(notebook: Notebook) -> None:
    query = "PREFIX : <http://example.org/> CONSTRUCT { ?s :age ?o . ?s :knows ?t } { ?s :age ?o OPTIONAL { ?s :knows ?t } }"
    html = notebook.cell("people -o triples", query)
    svg = html[html.index("<svg") : html.index("</svg>") + 6]
    drawn = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f"{space}circle")) == 4 and len(drawn.findall(f"{space}line")) == 3
    texts = {text.text for text in drawn.findall(f"{space}text")}
    assert texts == {":ann", ":bob", "41", "7", ":age", ":knows"} and "3 triples" in html
    assert len(notebook.shell.user_ns["triples"]) == 3
    assert "<th>subject</th>" in notebook.cell("--table", query)
    assert "<svg" not in notebook.cell("", "CONSTRUCT { ?s ?s ?s } { FILTER (false) }")


def test_updates_plans_frames(notebook: Notebook, people: lodestore.Database) -> None:
    told = notebook.cell("people", "# a note\nPREFIX : <http://example.org/>\nINSERT DATA { :c :p 1, 2 }")
    assert "inserted 2, deleted 0 quads in " in told and len(people) == 11
    assert "IndexScan" in notebook.cell("--explain", "SELECT * { ?s ?p ?o }")
    notebook.cell("--frame frame", "SELECT ?o { <http://example.org/c> ?p ?o } ORDER BY ?o")
    assert list(notebook.shell.user_ns["frame"]["o"]) == [1, 2]
    warned = notebook.cell("", "SELECT * { ?s <http://example.org/agee> ?o }")
    assert "warning: " in warned and "0 rows" in warned


def test_databases_by_path(notebook: Notebook, tmp_path: pathlib.Path) -> None:
    lodestore.open(tmp_path / "my.db").close()
    assert "0 rows" in notebook.cell(str(tmp_path / "my.db"), "SELECT * { ?s ?p ?o }")
    notebook.shell.run_line_magic("sparql", "people")
    assert "True" in notebook.cell("", "ASK { ?s ?p ?o }")


@pytest.mark.parametrize(
    "line, text, message",
    [
        ("people", "SELECT *\n{ oops }", r"(?s)line 2, column 3.*\^"),
        ("none.db", "ASK {}", "there is no database"),
        ("people --bind x=missing", "SELECT ?x {}", "no variable missing"),
        ("people --no-such-option", "ASK {}", "no-such-option"),
        ("people --timeout 0.000001", "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", "Timeout"),
    ],
)
def test_errors_are_told_without_a_trace(notebook: Notebook, line: str, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        notebook.cell(line, text)


def test_pieces() -> None:
    assert shorten("http://e/a/b", {"": "http://e/", "a": "http://e/a/"}) == "a:b"
    assert shorten("http://e/a/b", {"e": "http://e/"}) == "http://e/a/b"
    assert "<table>" in table((), (), "", {})
    loop = lodestore.Triple(lodestore.IRI("e:a"), lodestore.IRI("e:p"), lodestore.IRI("e:a"))
    ElementTree.fromstring(drawing([loop], {}))
    ElementTree.fromstring(drawing([], {}))
