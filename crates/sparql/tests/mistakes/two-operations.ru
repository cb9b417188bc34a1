PREFIX ex: <http://e/>
INSERT DATA { ex:a ex:p } ;
DELETE { ?s ex:p ?o } INSERT { ?s ex:q ?o }
WERE { ?s ex:p ?o } ;
DROP ex:g ;
CLEAR DEFAULT
