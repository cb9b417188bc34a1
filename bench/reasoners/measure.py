#!/usr/bin/env python3
"""How fast `lode materialise` infers, beside reasonable and owlrl: transitive chains, wide hierarchies, groups of equal names, joins.

    python3 -m venv venv && venv/bin/pip install owlrl reasonable
    venv/bin/python bench/reasoners/measure.py --lode target/release/lode --scale 1

Each tool reads the same N-Triples in a process of its own. Time is that of the whole process (reading, inferring, and for Lodestore writing to disk), and that of inferring
alone as the tool tells it; memory is the largest resident set of the process. owlrl is slow: it gets the small sizes only, and a time limit.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"


def iri(name):
    return f"<http://e/{name}>"


def line(s, p, o):
    return f"{s} {p} {o} .\n"


TYPE = f"<{RDF}type>"


def chain(n):
    """A transitive property over a chain: n(n-1)/2 pairs follow."""
    yield line(iri("next"), TYPE, f"<{OWL}TransitiveProperty>")
    for at in range(n):
        yield line(iri(f"n{at}"), iri("next"), iri(f"n{at + 1}"))


def hierarchy(n):
    """n classes below ten others each, five levels deep, with ten instances each."""
    for at in range(1, n):
        yield line(iri(f"C{at}"), f"<{RDFS}subClassOf>", iri(f"C{(at - 1) // 10}"))
    for at in range(n):
        for instance in range(10):
            yield line(iri(f"i{at}-{instance}"), TYPE, iri(f"C{at}"))


def equal(n):
    """n groups of eight equal names in a row, each name with two statements."""
    for group in range(n):
        names = [iri(f"g{group}-{at}") for at in range(8)]
        for one, other in zip(names, names[1:]):
            yield line(one, f"<{OWL}sameAs>", other)
        for at, name in enumerate(names):
            yield line(name, iri(f"p{at}"), f'"{at}"')
            yield line(name, iri("of"), iri(f"owner{group % 100}"))


def joins(n):
    """Chains of two properties, domains and ranges, inverses: n people with two parents and a brother."""
    yield line(iri("uncle"), f"<{OWL}propertyChainAxiom>", iri("l1"))
    yield line(iri("l1"), f"<{RDF}first>", iri("parent"))
    yield line(iri("l1"), f"<{RDF}rest>", iri("l2"))
    yield line(iri("l2"), f"<{RDF}first>", iri("brother"))
    yield line(iri("l2"), f"<{RDF}rest>", f"<{RDF}nil>")
    yield line(iri("parent"), f"<{OWL}inverseOf>", iri("child"))
    yield line(iri("parent"), f"<{RDFS}domain>", iri("Person"))
    yield line(iri("parent"), f"<{RDFS}range>", iri("Parent"))
    yield line(iri("Parent"), f"<{RDFS}subClassOf>", iri("Person"))
    for at in range(n):
        yield line(iri(f"x{at}"), iri("parent"), iri(f"x{at // 2}"))
        yield line(iri(f"x{at}"), iri("parent"), iri(f"x{at // 3 + 1}"))
        yield line(iri(f"x{at}"), iri("brother"), iri(f"x{at ^ 1}"))


WORKLOADS = [("chain", chain, 300), ("hierarchy", hierarchy, 2000), ("equal", equal, 200), ("joins", joins, 3000)]

REASONABLE = """
import reasonable, sys, time
reasoner = reasonable.PyReasoner()
reasoner.load_file(sys.argv[1])
start = time.time()
triples = reasoner.reason()
print(len(triples), time.time() - start)
"""

OWLRL = """
import owlrl, rdflib, sys, time
graph = rdflib.Graph().parse(sys.argv[1], format="nt")
start = time.time()
owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
print(len(graph), time.time() - start)
"""


def run(command, limit):
    """Standard output, seconds and the largest resident bytes of a command; None where it took too long or failed."""
    start = time.time()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = b""
    try:
        out, _ = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None
    return (out.decode(), time.time() - start) if child.returncode == 0 else None


def measured(command, limit):
    """The same with memory, of a process of its own: what a parent knows of its children is the largest of all."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        import resource

        os.close(reader)
        found = run(command, limit)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        os.write(writer, json.dumps([found, peak]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        found, peak = json.loads(pipe.read())
    os.waitpid(pid, 0)
    return None if found is None else (*found, peak)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--lode", default="target/release/lode")
    options.add_argument("--scale", type=float, default=1)
    options.add_argument("--only", action="append", help="lode, reasonable or owlrl; repeatable")
    options.add_argument("--limit", type=float, default=120, help="seconds for each tool")
    options = options.parse_args()
    tools = options.only or ["lode", "reasonable", "owlrl"]
    print(f"{'data':<10} {'triples':>9} {'tool':<11} {'inferred':>10} {'whole s':>9} {'infer s':>9} {'inferred/s':>11} {'MiB':>7}")
    for name, make, size in WORKLOADS:
        size = max(10, int(size * (options.scale**0.5 if name == "chain" else options.scale)))
        with tempfile.TemporaryDirectory() as folder:
            data, database = Path(folder, "data.ttl"), Path(folder, "db")
            text = "".join(make(size))
            data.write_text(text)
            stated = len(set(text.splitlines()))
            for tool in tools:
                if tool == "lode":
                    script = (
                        f'{options.lode} load "{database}" "{data}" --quiet && '
                        f'{options.lode} materialise "{database}" --rules owl2-rl --quiet --json'
                    )
                    found = measured(["sh", "-c", script], options.limit)
                else:
                    found = measured([sys.executable, "-c", REASONABLE if tool == "reasonable" else OWLRL, str(data)], options.limit)
                if found is None:
                    print(f"{name:<10} {stated:>9,} {tool:<11} failed, or took more than {options.limit:.0f} s")
                    continue
                out, whole, peak = found
                if tool == "lode":
                    report = json.loads(out)
                    inferred, seconds = report["inferred"], report["seconds"]
                else:
                    total, seconds = out.split()
                    inferred, seconds = int(total) - stated, float(seconds)
                rate = inferred / max(seconds, 1e-9)
                print(
                    f"{name:<10} {stated:>9,} {tool:<11} {inferred:>10,} {whole:>9.2f} {seconds:>9.2f} {rate:>11,.0f} {peak / 1024:>7,.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
