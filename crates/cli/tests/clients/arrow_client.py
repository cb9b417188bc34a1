"""Answers as Arrow and Parquet, read by pyarrow, pandas and (where installed) polars, and compared with those in JSON:
python arrow_client.py http://127.0.0.1:7878"""

import decimal
import io
import json
import random
import sys
import urllib.parse
import urllib.request

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

BASE = sys.argv[1]
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"PREFIX xsd: <{XSD}> PREFIX e: <http://e/> "
OBJECTS = [
    "1", "-7", "007", "2.5", "-0.25", "1e3", "0.1e0", "true", "false", '"text"', '"\\u00e4 \\n"', '"hi"@en', '"salut"@fr',
    "e:a", "_:b", '"2026-11-24"^^xsd:date', '"2026-11-24T12:00:00.5Z"^^xsd:dateTime', '"x"^^e:own', "9223372036854775808",
]  # fmt: skip


def ask(query, accept):
    data = urllib.parse.urlencode({"query": PREFIXES + query}).encode()
    request = urllib.request.Request(BASE + "/sparql", data, {"Accept": accept})
    return urllib.request.urlopen(request).read()


def update(text):
    data = urllib.parse.urlencode({"update": PREFIXES + text}).encode()
    urllib.request.urlopen(urllib.request.Request(BASE + "/sparql", data)).read()


def value(field, cell):
    """A cell as kind, value, datatype and language, as far as its column has them."""
    if cell is None:
        return None
    if isinstance(cell, dict):
        return (cell["kind"], cell["value"], cell["datatype"], cell["language"])
    if isinstance(cell, decimal.Decimal):
        cell = cell.normalize()
    metadata = {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
    language = metadata.get("rdf.language")
    datatype = metadata.get("rdf.datatype")
    if metadata["rdf.kind"] == "literal" and not datatype:
        datatype = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString" if language else XSD + "string"
    return (metadata["rdf.kind"], cell, datatype, language)


def expected(binding, field):
    """The same of a binding in JSON."""
    if binding is None:
        return None
    kind = {"uri": "iri", "bnode": "bnode", "literal": "literal"}[binding["type"]]
    text, language, datatype = binding["value"], binding.get("xml:lang"), binding.get("datatype")
    if kind == "literal" and not datatype:
        datatype = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString" if language else XSD + "string"
    if pa.types.is_int64(field.type):
        text = int(text)
    elif pa.types.is_float64(field.type):
        text = float(text)
    elif pa.types.is_decimal(field.type):
        text = decimal.Decimal(text).normalize()
    elif pa.types.is_boolean(field.type):
        text = text == "true"
    elif pa.types.is_date(field.type):
        text = pa.scalar(text).cast(pa.date32()).as_py()
    elif pa.types.is_timestamp(field.type):
        text = pa.scalar(text).cast(field.type).as_py()
    return (kind, text, datatype, language)


def compare(query):
    answer = json.loads(ask(query, "application/sparql-results+json"))
    names, bindings = answer["head"]["vars"], answer["results"]["bindings"]
    stream = pa.ipc.open_stream(ask(query, "application/vnd.apache.arrow.stream")).read_all()
    file = pq.read_table(io.BytesIO(ask(query, "application/vnd.apache.parquet")))
    for table in (stream, file):
        assert table.column_names == names, table.schema
        rows = [[value(table.schema.field(name), row[name]) for name in names] for row in table.to_pylist()]
        right = [[expected(row.get(name), table.schema.field(name)) for name in names] for row in bindings]
        assert sorted(map(repr, rows)) == sorted(map(repr, right)), (query, rows[:5], right[:5])
        frame = table.to_pandas()
        assert len(frame) == len(bindings)
    try:
        import polars
    except ImportError:
        return
    assert polars.from_arrow(stream).height == len(bindings)
    assert polars.read_ipc_stream(io.BytesIO(ask(query, "application/vnd.apache.arrow.stream"))).height == len(bindings)


random.seed(7)
for objects in [OBJECTS] + [[one] for one in OBJECTS] + [random.choices(OBJECTS, k=3) for _ in range(8)]:
    update("CLEAR ALL")
    data = " ".join(f"e:s{n} e:p{n % 3} {objects[n % len(objects)]} ." for n in range(200))
    update("INSERT DATA { " + data + " }")
    for query in [
        "SELECT * { ?s ?p ?o }",
        "SELECT ?p (COUNT(*) AS ?n) (AVG(?o) AS ?mean) { ?s ?p ?o } GROUP BY ?p",
        "SELECT ?s ?a ?b { ?s e:p0 ?a OPTIONAL { ?s e:p1 ?b } }",
    ]:
        compare(query)

# Many batches, whose dictionaries differ.
update("CLEAR ALL")
data = " ".join(f'e:s{n} e:p "{n}" .' for n in range(70000))
update("INSERT DATA { " + data + " }")
compare("SELECT * { ?s ?p ?o }")
print("ok")
