# Virtuoso 7, open source edition: Debian's package virtuoso-opensource-7. Two loader streams over eight parts of the file.

graph=http://rivals.example/
port=${VIRTUOSO_PORT:-8890}
sql_port=${VIRTUOSO_SQL_PORT:-1111}
isql=$(command -v isql-vt || command -v isql-v || true)

store_missing() {
  command -v virtuoso-t > /dev/null && [ -n "$isql" ] || { echo "there is no virtuoso-t: apt-get install virtuoso-opensource-7"; return 1; }
}

sql() { "$isql" "127.0.0.1:$sql_port" dba dba "exec=$1"; }

settings() { # DATABASE: buffers are pages of 8 KiB
  cat <<INI
[Database]
DatabaseFile = $1/virtuoso.db
ErrorLogFile = $1/virtuoso.log
LockFile = $1/virtuoso.lck
TransactionFile = $1/virtuoso.trx
xa_persistent_file = $1/virtuoso.pxa
FileExtend = 200
MaxCheckpointRemap = 250000
TempStorage = TempDatabase
[TempDatabase]
DatabaseFile = $1/virtuoso-temp.db
TransactionFile = $1/virtuoso-temp.trx
MaxCheckpointRemap = 250000
[Parameters]
ServerPort = 127.0.0.1:$sql_port
DisableUnixSocket = 1
MaxClientConnections = 32
CheckpointInterval = 0
CaseMode = 2
DirsAllowed = $(dirname "$1")
NumberOfBuffers = ${VIRTUOSO_BUFFERS:-500000}
MaxDirtyBuffers = ${VIRTUOSO_DIRTY_BUFFERS:-375000}
ThreadsPerQuery = $(nproc)
AsyncQueueMaxThreads = 10
MaxQueryMem = 4G
DefaultIsolation = 2
[HTTPServer]
ServerPort = 127.0.0.1:$port
ServerRoot = $1
MaxClientConnections = 32
ServerThreads = 32
MaxKeepAlives = 32
KeepAliveTimeout = 10
EnabledGzipContent = 0
[SPARQL]
DeferInferenceRulesInit = 0
INI
}

store_load() { # FILE DATABASE
  local file=$1 to=$2 start streams=()
  mkdir -p "$to" "$to.parts"
  split --number=l/8 --additional-suffix=.nt --numeric-suffixes "$file" "$to.parts/part"
  store_start "$to"
  sql "ld_dir('$to.parts', '*.nt', '$graph');" > "$to.load.log" 2>&1
  start=$(date +%s.%N)
  for stream in 1 2; do
    sql "rdf_loader_run();" > "$to.load$stream.log" 2>&1 &
    streams+=($!)
  done
  wait "${streams[@]}"
  sql "checkpoint;" >> "$to.load.log" 2>&1
  wall=$(awk "BEGIN { print $(date +%s.%N) - $start }")
  processors=$(processor_seconds "$PID")
  peak=$(awk '/VmHWM/ { print $2 * 1024 }' "/proc/$PID/status")
  rm -rf "$to.parts"
  load_result "$to" "$wall" "$processors" "$peak"
  store_stop
}

store_start() { # DATABASE
  URL="http://127.0.0.1:$port/sparql?default-graph-uri=$graph"
  settings "$1" > "$1/virtuoso.ini"
  serve virtuoso-t +foreground +wait +configfile "$1/virtuoso.ini"
  wait_for http://127.0.0.1:$port/sparql "$PID"
}

store_stop() {
  sql "shutdown;" > /dev/null 2>&1 || true
  stop_process "$PID"
}
