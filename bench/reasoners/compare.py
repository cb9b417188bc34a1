#!/usr/bin/env python3
"""What `lode materialise --rules owl2-rl` infers from random small ontologies with data, beside what owlrl infers; differences are named.

    python3 -m venv venv && venv/bin/pip install owlrl
    venv/bin/python bench/reasoners/compare.py --lode target/release/lode --cases 200

A difference that none of NAMED explains is printed, and ends the program with code 1. `--seed N` begins with other cases.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import owlrl
from rdflib import OWL, RDF, RDFS, XSD, BNode, Graph, Literal, Namespace, URIRef

E = Namespace("http://e/")
CLASSES = [E[name] for name in "ABCDE"]
PROPERTIES = [E[name] for name in "pqrtu"]
THINGS = [E[name] for name in "abcdef"]


class Ontology:
    """A random ontology. Lists and restrictions have names, so that answers can be compared as they are."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.graph = Graph()
        self.lists = 0
        for _ in range(self.random.randint(1, 8)):
            self.axiom()
        for _ in range(self.random.randint(3, 12)):
            self.fact()

    def add(self, s, p, o):
        self.graph.add((s, p, o))

    def list(self, members):
        self.lists += 1
        nodes = [E[f"list{self.lists}-{n}"] for n in range(len(members))]
        for n, (node, member) in enumerate(zip(nodes, members)):
            self.add(node, RDF.first, member)
            self.add(node, RDF.rest, nodes[n + 1] if n + 1 < len(nodes) else RDF.nil)
        return nodes[0]

    def axiom(self):
        pick = self.random.choice
        c, d, p, q = pick(CLASSES), pick(CLASSES), pick(PROPERTIES), pick(PROPERTIES)
        match self.random.randrange(22):
            case 0 | 1:
                self.add(c, RDFS.subClassOf, d)
            case 2:
                self.add(p, RDFS.subPropertyOf, q)
            case 3:
                self.add(p, RDFS.domain, c)
            case 4:
                self.add(p, RDFS.range, c)
            case 5:
                self.add(p, OWL.inverseOf, q)
            case 6:
                self.add(p, RDF.type, pick([OWL.SymmetricProperty, OWL.TransitiveProperty]))
            case 7:
                self.add(c, OWL.equivalentClass, d)
            case 8:
                self.add(p, OWL.equivalentProperty, q)
            case 9:
                self.add(c, OWL.intersectionOf, self.list([d, pick(CLASSES), pick(CLASSES)]))
            case 10:
                self.add(c, OWL.unionOf, self.list([d, pick(CLASSES)]))
            case 11:
                self.add(c, OWL.someValuesFrom, pick([d, OWL.Thing]))
                self.add(c, OWL.onProperty, p)
            case 12:
                self.add(c, OWL.allValuesFrom, d)
                self.add(c, OWL.onProperty, p)
            case 13:
                self.add(c, OWL.hasValue, pick(THINGS))
                self.add(c, OWL.onProperty, p)
            case 14:
                self.add(p, OWL.propertyChainAxiom, self.list([q, pick(PROPERTIES)]))
            case 15:
                self.add(p, RDF.type, pick([OWL.FunctionalProperty, OWL.InverseFunctionalProperty]))
            case 16:
                self.add(c, OWL.hasKey, self.list([p, q]))
            case 17:
                self.add(pick(THINGS), OWL.sameAs, pick(THINGS))
            case 18:
                self.add(c, OWL.oneOf, self.list([pick(THINGS), pick(THINGS)]))
            case 19:
                self.add(c, OWL.maxCardinality, Literal(1, datatype=XSD.nonNegativeInteger))
                self.add(c, OWL.onProperty, p)
            case 20:
                self.add(c, OWL.maxQualifiedCardinality, Literal(1, datatype=XSD.nonNegativeInteger))
                self.add(c, OWL.onProperty, p)
                self.add(c, OWL.onClass, pick([d, OWL.Thing]))
            case _:
                self.add(c, RDF.type, OWL.Class)
                self.add(p, RDF.type, OWL.ObjectProperty)

    def fact(self):
        pick = self.random.choice
        match self.random.randrange(4):
            case 0:
                self.add(pick(THINGS), RDF.type, pick(CLASSES))
            case 1 if self.random.randrange(3) == 0:
                self.add(pick(THINGS), pick(PROPERTIES), Literal(7))
            case _:
                self.add(pick(THINGS), pick(PROPERTIES), pick(THINGS))


def by_lode(lode, graph):
    with tempfile.TemporaryDirectory() as folder:
        data, database = Path(folder, "data.nt"), Path(folder, "db")
        data.write_text(graph.serialize(format="nt"))
        run = lambda *args: subprocess.run([lode, *args], check=True, capture_output=True, text=True).stdout
        run("load", str(database), str(data), "--quiet")
        run("materialise", str(database), "--rules", "owl2-rl", "--quiet")
        quads = run("dump", str(database), "--inferred")
    triples = quads.replace(" <urn:lodestore:inferred> .", " .")
    return set(Graph().parse(data=triples, format="nt"))


def by_owlrl(graph):
    closed = Graph()
    for triple in graph:
        closed.add(triple)
    closure = owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False)
    closure.expand(closed)
    return {triple for triple in closed if "http://www.daml.org/2002/03/agents/agent-ont#error" not in str(triple)}


def is_own(term):
    return str(term).startswith("http://e/")



# Differences that are known: of what owlrl adds and Lodestore does not.
NAMED_OWLRL = [
    ("eq-ref: each term is the same as itself", lambda t: t[1] == OWL.sameAs and t[0] == t[2]),
    ("literals as subjects, and what is the same as a literal", lambda t: isinstance(t[0], Literal) or t[1] == OWL.sameAs and isinstance(t[2], Literal)),
    ("axioms of the vocabulary, datatypes and annotations", lambda t: not is_own(t[0])),
    ("errors, as triples", lambda t: isinstance(t[0], BNode) or isinstance(t[2], BNode)),
]
# And the other way round.
NAMED_LODE = [
    (
        "what is below or the same as itself because of a cycle (scm-sco, scm-spo, scm-eqc2, scm-eqp2)",
        lambda t: t[0] == t[2] and t[1] in (RDFS.subClassOf, RDFS.subPropertyOf, OWL.equivalentClass, OWL.equivalentProperty),
    ),
    ("cls-thing, cls-nothing1, scm-cls of owl:Thing and owl:Nothing themselves", lambda t: not is_own(t[0])),
]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--lode", default="target/release/lode")
    options.add_argument("--cases", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options = options.parse_args()
    counts, wrong, inferred = {}, 0, 0
    for seed in range(options.seed, options.seed + options.cases):
        graph = Ontology(seed).graph
        ours, theirs = by_lode(options.lode, graph), by_owlrl(graph)
        inferred += len(ours) - len(graph)
        unknown = []
        through_literals = any(isinstance(t[0], Literal) and t[1] in PROPERTIES for t in theirs)
        if any(t[1] == OWL.sameAs and isinstance(t[0], Literal) != isinstance(t[2], Literal) for t in theirs):
            # A property with one value has a literal and a thing: owlrl then says of the literal what is said of the thing, and the other way round.
            name = "whole cases in which a thing is the same as a literal (prp-fp, prp-ifp, cls-maxc2), which Lodestore does not infer"
            counts[("owlrl", name)] = counts.get(("owlrl", name), 0) + len(theirs - ours)
            assert {t for t in ours - theirs if is_own(t[0]) and t[0] != t[2]} == set(), f"case {seed}"
            continue
        for who, extra, named in [("owlrl", theirs - ours, NAMED_OWLRL), ("lode", ours - theirs, NAMED_LODE)]:
            for triple in extra:
                name = next((name for name, is_it in named if is_it(triple)), None)
                if name is None and who == "owlrl" and through_literals:
                    name = "what follows through a literal as a subject (prp-inv, prp-symp), which is no triple"
                if name is None:
                    unknown.append((who, triple))
                else:
                    counts[(who, name)] = counts.get((who, name), 0) + 1
        if unknown:
            wrong += 1
            print(f"case {seed}:")
            for who, triple in sorted(unknown, key=str)[:10]:
                print(f"  only {who}: {' '.join(term.n3() for term in triple)}")
            print("  data:\n" + "\n".join("    " + line for line in sorted(graph.serialize(format="nt").splitlines())))
    print(f"{options.cases} ontologies, {inferred} triples inferred, {wrong} with unexplained differences")
    for (who, name), count in sorted(counts.items()):
        print(f"  only {who}: {count} triples: {name}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
