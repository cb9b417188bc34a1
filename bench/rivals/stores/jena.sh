# Apache Jena: TDB2 loaded by its phased loader, served by Fuseki; by Maven coordinates. Needs Java 21.

jena_version=6.2.0
jena=$WORK/programs/jena
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
port=${JENA_PORT:-3030}

store_missing() {
  local version
  version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1)
  [ "${version:-0}" -ge 21 ] || { echo "Java 21 is needed; set JAVA_HOME"; return 1; }
  [ -d "$jena/apache-jena-$jena_version" ] && return
  command -v mvn > /dev/null || { echo "Maven (mvn) is needed"; return 1; }
  mkdir -p "$jena"
  for artifact in "jena-fuseki-server:$jena_version" "apache-jena:$jena_version:tar.gz"; do
    mvn --quiet dependency:copy -Dartifact="org.apache.jena:$artifact" -DoutputDirectory="$jena" > "$jena/install.log" 2>&1 \
      || { echo "Maven did not get $artifact; see $jena/install.log"; return 1; }
  done
  tar -xzf "$jena/apache-jena-$jena_version.tar.gz" -C "$jena"
}

store_load() { # FILE DATABASE
  local file=$1
  JVM_ARGS=${JENA_MEMORY:--Xmx4G} PATH=$(dirname "$(command -v "$java")"):$PATH \
    measured "$2" "$jena/apache-jena-$jena_version/bin/tdb2.tdbloader" --loader=phased --loc "$2" "$file"
}

store_start() { # DATABASE
  URL=http://127.0.0.1:$port/ds/sparql
  mkdir -p "$jena/run"
  FUSEKI_BASE=$jena/run serve "$java" "${JENA_MEMORY:--Xmx4G}" -jar "$jena/jena-fuseki-server-$jena_version.jar" \
    --localhost --port $port --tdb2 --loc "$1" --timeout "$((timeout * 1000))" /ds
  wait_for "$URL" "$PID"
}

store_stop() { stop_process "$PID"; }
