INSERT DATA { <s> <p> <o> } INSERT DATA { <s> <p> <o2> }
