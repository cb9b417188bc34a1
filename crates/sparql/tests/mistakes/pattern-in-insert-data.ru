INSERT DATA { <s> <p> <o> FILTER(1 > 2) }
