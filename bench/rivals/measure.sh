# What the scripts of the stores share: words to people, waiting for a server, and what a load took. Read by `run`.

say() { echo "$(date +%H:%M:%S) $*" >&2; }

fail() { say "$*"; exit 1; }

wait_for() { # URL PID: until the SPARQL endpoint answers
  local waited=0
  until curl --silent --fail --output /dev/null --get --data-urlencode 'query=ASK {}' "$1"; do
    kill -0 "$2" 2> /dev/null || fail "the server has ended; see $database.log"
    waited=$((waited + 1))
    [ $waited -lt 600 ] || fail "no answer from $1"
    sleep 0.2
  done
}

stop_process() { # PID: ends a server that this script has started, and waits for it
  local waited=0
  kill "$1" 2> /dev/null || return 0
  while kill -0 "$1" 2> /dev/null; do
    waited=$((waited + 1))
    [ $waited -lt 300 ] || kill -9 "$1" 2> /dev/null || return 0
    sleep 0.2
  done
}

serve() { # COMMAND...: in the background; sets PID
  "$@" > "$database.log" 2>&1 < /dev/null &
  PID=$!
}

measured() { # DATABASE COMMAND...: runs a loader, and writes JSON of what it took
  local to=$1 wall user system peak; shift
  /usr/bin/time -f '%e %U %S %M' -o "$to.time" "$@" > "$to.log" 2>&1 || fail "loading failed; see $to.log"
  read -r wall user system peak < "$to.time"
  load_result "$to" "$wall" "$(awk "BEGIN { print $user + $system }")" "$((peak * 1024))"
}

load_result() { # DATABASE WALL-SECONDS PROCESSOR-SECONDS PEAK-BYTES; the data are the caller's $file
  local triples
  triples=$(wc -l < "$file")
  printf '{"wall_seconds": %s, "processor_seconds": %s, "peak_bytes": %s, "disk_bytes": %s, "triples": %s}\n' \
    "$2" "$3" "$4" "$(du -sb "$1" | cut -f1)" "$triples"
}

processor_seconds() { # PID: user and system
  awk -v ticks="$(getconf CLK_TCK)" '{ print ($14 + $15) / ticks }' "/proc/$1/stat"
}
