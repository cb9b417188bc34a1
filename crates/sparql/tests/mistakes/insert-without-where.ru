INSERT { <s> <p> <o> }
