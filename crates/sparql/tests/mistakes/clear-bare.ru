CLEAR <g>
