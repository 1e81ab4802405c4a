# What the tests of punt serve share; sourced behind cli_testing.sh.
command -v curl >/dev/null || { echo "curl is missing"; exit 77; }

server=
trap '[ -z "$server" ] || kill -KILL $server 2>/dev/null; rm -rf "$folder"' EXIT

# start NAME FLAGS...: $url, $server; the log is NAME.log
start() {
  local name=$1
  shift
  rm -f ready
  "$PUNT" serve --port 0 --ready-file ready --threads 1 "$@" >$name.out 2>$name.log &
  server=$!
  await_ready $name.log
}

# await_ready LOG: $url of $server, which writes its address to the file "ready"; fails with the log if it ends instead
await_ready() {
  for _ in $(seq 600); do
    [ -e ready ] && break
    kill -0 $server 2>/dev/null || { fail "serve ended: $(cat $1)"; return; }
    sleep 0.1
  done
  url=$(cat ready)
}

# stop: ends the server by SIGTERM, which must succeed
stop() {
  kill -TERM $server
  wait $server || fail "exit code $? after SIGTERM"
  server=
  [ ! -e ready ] || fail "the ready file is still there"
}

metric() { curl -s "$url/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
descriptors() { ls /proc/$server/fd | wc -l; }
resident() { awk '/^VmRSS/ { print $2 }' /proc/$server/status; }  # kB

# settles NAME CONDITION [TENTHS]: waits until the condition holds, for a minute at most or so many tenths of a second
settles() {
  for _ in $(seq "${3:-600}"); do
    eval "$2" && return
    sleep 0.1
  done
  fail "$1"
}
