LOAD <file.ttl> INTO <g>
