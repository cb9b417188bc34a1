INSERT DATA { ?s <p> <o> }
