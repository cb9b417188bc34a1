DELETE { ?s <p> . GRAPH ?g { ?s <q> } ?s <r> ?o }
INSERT { ?s <p> ?o FILTER (?o > 1) }
WHERE { ?s <p> ?o . ?s <q> }
