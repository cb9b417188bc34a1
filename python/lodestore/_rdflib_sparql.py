"""Queries and updates of rdflib, as a database takes them. `NotImplementedError` has rdflib evaluate a query itself."""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Sequence, Tuple, Union

from rdflib import BNode
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID
from rdflib.plugins.sparql.sparql import Query as PreparedQuery
from rdflib.plugins.sparql.sparql import Update as PreparedUpdate
from rdflib.term import Identifier

from ._lodestore import IRI
from ._rdflib_terms import Terms
from ._requests import Node
from ._settings import has_variable

# What rdflib calls the union of all graphs.
_UNION = "__UNION__"


def handed_on(
    request: Union[PreparedQuery, PreparedUpdate, str],
    prefixes: Mapping[str, Any],
    bindings: Mapping[str, Identifier],
    options: Dict[str, Any],
    terms: Terms,
) -> Tuple[str, Dict[str, Any]]:
    """The text and the options of a request."""
    if isinstance(request, str):
        text, base = request, options.pop("base", None)
    else:
        original = getattr(request, "_original_args", None)
        if original is None:
            raise NotImplementedError("only the text of a query can be handed on")
        text, prefixes, base = original
    if base:
        options["base"] = str(base)
    options.pop("DEBUG", None)
    if any(isinstance(value, BNode) for value in bindings.values()):
        raise NotImplementedError("a query can not name blank nodes")
    named = {str(name).lstrip("?"): value for name, value in bindings.items()}
    options["bindings"] = {
        name: terms.to_lodestore(value) for name, value in named.items() if has_variable(text, name)
    }
    # On the line of the text, so that places in messages are right.
    return " ".join(f"PREFIX {name}: <{iri}>" for name, iri in prefixes.items()) + " " + text, options


def dataset(graph: Any, graphs: Callable[[], Sequence[Node]]) -> Dict[str, Any]:
    """The options that have a query see what rdflib says, of these graphs."""
    if graph == _UNION:
        return {"union_default_graph": True}
    if isinstance(graph, BNode):
        raise NotImplementedError("a query can not name a graph that is a blank node")
    if graph is None or graph == DATASET_DEFAULT_GRAPH_ID:
        return {}
    named = [name.value for name in graphs() if isinstance(name, IRI)]
    return {"default_graphs": [str(graph)], "named_graphs": named}
