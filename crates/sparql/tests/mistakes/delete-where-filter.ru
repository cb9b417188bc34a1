DELETE WHERE { ?s <p> ?o FILTER(?o > 1) }
