"""Infers with reasonable from the N-Triples of a file: writes how many triples there are then, and the seconds that inferring took."""

import sys
import time

import reasonable

reasoner = reasonable.PyReasoner()
reasoner.load_file(sys.argv[1])
start = time.time()
triples = reasoner.reason()
print(len(triples), time.time() - start)
