"""Infers with owlrl from the N-Triples of a file: writes how many triples there are then, and the seconds that inferring took."""

import sys
import time

import owlrl
import rdflib

graph = rdflib.Graph().parse(sys.argv[1], format="nt")
start = time.time()
owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(graph)
print(len(graph), time.time() - start)
