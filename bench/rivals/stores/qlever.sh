# QLever: where qlever-index and qlever-server are on the PATH. No package registry has them.

port=${QLEVER_PORT:-7880}

store_missing() {
  for program in qlever-index qlever-server; do
    command -v $program > /dev/null || { echo "there is no $program on the PATH"; return 1; }
  done
}

store_load() { # FILE DATABASE
  local file=$1
  mkdir -p "$2"
  echo '{ "num-triples-per-batch": 1000000 }' > "$2/settings.json"
  measured "$2" qlever-index -i "$2/index" -f "$file" -F nt -s "$2/settings.json"
}

store_start() { # DATABASE
  URL=http://127.0.0.1:$port
  serve qlever-server -i "$1/index" -p "$port" -m 6G -s "${timeout}s"
  wait_for "$URL" "$PID"
}

store_stop() { stop_process "$PID"; }
