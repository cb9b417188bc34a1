INSERT DATA { <a> <p> 1 }
INSERT DATA { <a> <p> ?x } ;
LOAD <x> INTO <g>
