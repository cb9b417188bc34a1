INSRT DATA { <s> <p> <o> }
