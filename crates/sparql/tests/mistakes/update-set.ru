UPDATE <http://example.org/g> SET ?x = 1 WHERE { ?s ?p ?x }
