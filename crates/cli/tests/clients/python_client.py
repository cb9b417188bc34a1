"""What programs with SPARQLWrapper and rdflib do with a database of a server: python python_client.py http://127.0.0.1:7878/NAME"""

import sys

from rdflib import Dataset, Graph, Literal, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLStore, SPARQLUpdateStore
from SPARQLWrapper import CSV, JSON, JSONLD, N3, POST, RDFXML, TSV, TURTLE, XML, SPARQLWrapper

base = sys.argv[1]
S, P, G = (URIRef("http://example.org/" + name) for name in "spg")

wrapper = SPARQLWrapper(base + "/sparql", base + "/update")


def ask(query, form, method="GET"):
    wrapper.setMethod(method)
    wrapper.setReturnFormat(form)
    wrapper.setQuery(query)
    return wrapper.query().convert()


ask("CLEAR ALL", JSON, POST)
ask(f"INSERT DATA {{ {S.n3()} {P.n3()} 1, 'chat'@fr . GRAPH {G.n3()} {{ {S.n3()} {P.n3()} 2 }} }}", JSON, POST)
rows = "SELECT ?o { ?s ?p ?o } ORDER BY ?o"
assert [row["o"]["value"] for row in ask(rows, JSON)["results"]["bindings"]] == ["1", "chat"]
assert len(ask(rows, XML).getElementsByTagName("result")) == 2
assert ask(rows, CSV).decode().split() == ["o", "1", "chat"]
assert ask(rows, TSV).decode().split() == ["?o", "1", '"chat"@fr']
assert ask("ASK { ?s ?p 1 }", JSON)["boolean"] is True
for form in TURTLE, N3, RDFXML, JSONLD, XML:
    found = ask("CONSTRUCT WHERE { ?s ?p ?o }", form)
    graph = found if isinstance(found, Graph) else Graph().parse(data=found, format="turtle")
    assert len(graph) == 2, form
assert ask("ASK { ?s ?p 1 } #" + 9000 * "x", JSON, POST)["boolean"] is True

store = SPARQLUpdateStore(base + "/query", base + "/update")
data = Dataset(store=store)
graph = Graph(store, identifier=G)
assert set(graph.objects(S, P)) == {Literal(2)}
graph.add((S, P, Literal("added")))
assert len(graph) == 2
graph.remove((S, P, Literal("added")))
assert (S, P, Literal("added")) not in graph and (S, P, Literal(2)) in graph
assert G in {context.identifier for context in data.graphs()}
graph.update("DELETE WHERE { ?s ?p 2 }")
assert len(graph) == 0
reader = Graph(store=SPARQLStore(base + "/query"))
assert len(list(reader.query("SELECT * { ?s ?p ?o }"))) == 2
print("ok")
