"""Oxigraph over HTTP, in memory, by its Python package, which has its functions of places: oxigraph.py PORT FILE."""

import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

from pyoxigraph import QueryResultsFormat, RdfFormat, Store

port, file = int(sys.argv[1]), sys.argv[2]
store = Store()
start = time.monotonic()
store.bulk_load(path=file, format=RdfFormat.N_TRIPLES)
print(f"loaded in {time.monotonic() - start:.1f} s", file=sys.stderr)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        is_form = self.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded")
        query = parse_qs(body)["query"][0] if is_form else body
        try:
            status, answer = 200, store.query(query).serialize(format=QueryResultsFormat.JSON)
        except (SyntaxError, ValueError, OSError) as error:
            status, answer = 400, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", port), Handler).serve_forever()
