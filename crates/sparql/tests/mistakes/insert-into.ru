INSERT INTO <g> { <s> <p> <o> }
