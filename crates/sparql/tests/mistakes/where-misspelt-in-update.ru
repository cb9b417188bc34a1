DELETE { ?s <p> ?o }
WHER { ?s <p> ?o }
