# Lodestore: the program named by LODE.

port=${LODE_PORT:-7878}

store_missing() { command -v "$LODE" > /dev/null || { echo "there is no $LODE; set LODE"; return 1; }; }

store_load() { # FILE DATABASE
  local file=$1
  measured "$2" "$LODE" load "$2" "$file" --quiet
}

store_start() { # DATABASE
  URL=http://127.0.0.1:$port/sparql
  serve "$LODE" serve "$1" --bind "127.0.0.1:$port" --read-only
  wait_for "$URL" "$PID"
}

store_stop() { stop_process "$PID"; }
