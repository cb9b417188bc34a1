# Oxigraph: built by cargo from its package, which needs libclang.

oxigraph=$WORK/programs/oxigraph/bin/oxigraph
port=${OXIGRAPH_PORT:-7879}

store_missing() {
  [ -x "$oxigraph" ] && return
  say "oxigraph: building"
  cargo install oxigraph-cli --locked --root "$WORK/programs/oxigraph" > "$WORK/programs/oxigraph.log" 2>&1 \
    || { echo "cargo install oxigraph-cli failed; see $WORK/programs/oxigraph.log"; return 1; }
}

store_load() { # FILE DATABASE
  local file=$1
  measured "$2" "$oxigraph" load --location "$2" --file "$file"
}

store_start() { # DATABASE
  URL=http://127.0.0.1:$port/query
  serve "$oxigraph" serve-read-only --location "$1" --bind "127.0.0.1:$port"
  wait_for "$URL" "$PID"
}

store_stop() { stop_process "$PID"; }
