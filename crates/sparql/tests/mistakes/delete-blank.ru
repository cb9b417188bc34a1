DELETE { ?s <p> _:b } WHERE { ?s <p> ?o }
