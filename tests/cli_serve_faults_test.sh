#!/usr/bin/env bash
# punt serve under clients that cost it something: a thousand idle ones, some that do not read what they asked for, many at
# its end, hundreds one after the other. It must go on answering and give everything back.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
source "$PUNT_SOURCE_DIR/tests/serve_testing.sh"
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
model=$PUNT_SOURCE_DIR/tests/golden/llada
is_well() { [ "$(curl -s --max-time 60 $url/health)" = '{"status":"ok"}' ]; }
answers_all() { curl -s --max-time 120 $url/v1/completions -d '{"prompt": "the ", "max_tokens": 12, "seed": 5}' | grep -q '"finish_reason"'; }
is_idle() { [ "$(metric punt_requests_running) $(metric punt_requests_waiting)" = "0 0" ]; }
# Sanitizers keep memory that was given back.
is_below() { [ -n "${PUNT_SANITIZE:-}" ] || [ "$1" -lt "$2" ]; }
has_given_back() { [ "$(descriptors)" -le $((before + 2)) ]; }

# ---- idle connections
wanted=1000
ulimit -n "$(ulimit -Hn)"
if [ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -lt $((wanted + 200)) ]; then
  echo "only $(ulimit -n) descriptors (ulimit -n): $wanted idle connections not tested"
  wanted=0
fi
start idle --model $model --max-connections $((wanted + 20)) --max-per-address $((wanted + 20))
before=$(descriptors)
cat >idle.py <<'PYTHON'
import os, socket, sys
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connections = [socket.create_connection((host, port)) for _ in range(count)]
open("connected", "w").close()
sys.stdin.read()  # until the test has seen enough
PYTHON
mkfifo hold
python3 idle.py 127.0.0.1 "${url##*:}" $wanted <hold &
client=$!
exec 8>hold
settles "$wanted connections were not taken" '[ -e connected ] && [ "$(descriptors)" -ge $((before + wanted)) ]'
echo "$(($(descriptors) - before)) idle connections"
is_well || fail "idle connections hold up others"
answers_all || fail "idle connections hold up completions"
exec 8>&-
wait $client
settles "descriptors of idle connections are still there" has_given_back
stop

# ---- readers that do not read, or hardly
start slow --model $model
long='{"prompt": "the ", "max_tokens": 120, "n": 8, "seed": 1, "stream": true, "diffusion": {"stream": "events", "planner": "top-k:k=1"}}'
curl -s $url/v1/completions -d "$long" >read &
client=$!
curl -s $url/v1/completions -d "$long" | tail -n 2 | grep -q DONE || fail "no stream"
wait $client  # memory of full batches is there from now on
before=$(descriptors)
memory=$(resident)
cat >slow.py <<'PYTHON'
import socket, sys, time
port, bytes_per_second = int(sys.argv[1]), int(sys.argv[2])
body = sys.argv[3].encode()
client = socket.socket()
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
client.connect(("127.0.0.1", port))
client.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
while True:  # killed by the test
    time.sleep(1)
    if bytes_per_second > 0:
        try:
            client.recv(bytes_per_second)
        except OSError:
            bytes_per_second = 0
PYTHON
clients=()
for rate in 0 0 5; do
  python3 slow.py "${url##*:}" $rate "$long" &
  clients+=($!)
done
settles "slow readers did not begin" '[ "$(metric punt_requests_running)" -gt 0 ]'
is_well || fail "slow readers hold up others"
answers_all || fail "slow readers hold up completions"
settles "the generations of slow readers have no end" is_idle
settles "slow readers are not given up" '[ "$(grep -c "\"status\":499," slow.log)" -eq ${#clients[@]} ]'
settles "slow readers keep their descriptors" has_given_back
growth=$((($(resident) - memory) / 1024))
echo "slow readers: $growth MB more"
is_below "$growth" 100 || fail "slow readers cost $growth MB"
kill -KILL "${clients[@]}"
wait "${clients[@]}" 2>/dev/null
is_well || fail "not well after slow readers"
stop

# ---- memory over some hundred requests
start many --model $model
cat >many.py <<'PYTHON'
import json, sys, threading, urllib.request
url, count = sys.argv[1], int(sys.argv[2])
def ask(thread):
    for i in range(count // 8):
        body = {"prompt": "the " * (i % 7), "max_tokens": 8 + i % 24, "seed": i, "stream": i % 3 == 0, "n": 1 + i % 2}
        text = urllib.request.urlopen(url + "/v1/completions", json.dumps(body).encode(), timeout=300).read()
        if b"finish_reason" not in text:
            sys.exit(f"no answer: {text}")
threads = [threading.Thread(target=ask, args=(thread,)) for thread in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
PYTHON
python3 many.py $url 80 || fail "requests before"
settles "not idle" is_idle
before=$(descriptors)
memory=$(resident)
python3 many.py $url 400 || fail "requests"
settles "not idle" is_idle
growth=$((($(resident) - memory) / 1024))
echo "400 requests: $((memory / 1024)) MB became $(($(resident) / 1024)) MB"
is_below "$growth" 30 || fail "400 requests cost $growth MB"
settles "descriptors of requests are still there" has_given_back
[ "$(metric 'punt_requests_total{path="/v1/completions",status="200"}')" -eq 480 ] || fail "answers: $(metric 'punt_requests_total{path="/v1/completions",status="200"}')"
stop

# ---- the end under load: those who wait get an answer, those who do not read or send are not waited for
start end --model $PUNT_SOURCE_DIR/models/stories.gguf --max-running 2 --grace 2
cat >end.py <<'PYTHON'
import http.client, json, sys, threading
host, port = sys.argv[1], int(sys.argv[2])
endings = []
def ask(i):
    connection = http.client.HTTPConnection(host, port, timeout=300)
    body = {"prompt": "Once", "max_tokens": 240, "seed": i, "stream": i % 2 == 0, "diffusion": {"planner": "top-k:k=1"}}
    try:
        connection.request("POST", "/v1/completions", json.dumps(body))
        answer = connection.getresponse()
        text = answer.read().decode()
        is_whole = text.endswith("data: [DONE]\n\n") if i % 2 == 0 and answer.status == 200 else bool(json.loads(text))
        endings.append(f"{answer.status}{'' if is_whole else ' cut'}")
    except Exception as error:
        endings.append(repr(error))
threads = [threading.Thread(target=ask, args=(i,)) for i in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
counts = {ending: endings.count(ending) for ending in sorted(set(endings))}
print("16 clients at the end:", counts)
sys.exit(0 if set(endings) <= {"200", "503"} else 1)
PYTHON
python3 end.py 127.0.0.1 "${url##*:}" &
client=$!
settles "16 clients did not begin" '[ $(($(metric punt_requests_running) + $(metric punt_requests_waiting))) -eq 16 ]'
exec 7<>/dev/tcp/127.0.0.1/${url##*:}
printf 'POST /v1/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"prom' >&7
kill -TERM $server
settles "the server does not end" '! kill -0 $server 2>/dev/null' 300
wait $server || fail "exit code $? after SIGTERM under load"
server=
exec 7>&-
wait $client || fail "clients were cut off"
tail -n 1 end.log
[[ $(tail -n 1 end.log) == *'"event":"load"'*'"cancelled":'[1-9]* ]] || fail "the end says nothing of what was cancelled: $(tail -n 3 end.log)"

# ---- what a shutdown cuts is told so, and not given for an answer
start cut --model "$PUNT_SOURCE_DIR/models/stories.gguf" --grace 0
for stream in false true; do
  curl -s -o "cut.$stream" "$url/v1/completions" -d "{\"prompt\": \"Once\", \"max_tokens\": 200, \"n\": 4, \"stream\": $stream, \"diffusion\": {\"planner\": \"left-to-right\"}}" &
done
settles "2 requests did not begin" '[ "$(metric punt_requests_running)" -ge 2 ]'
stop
wait
for stream in false true; do
  grep -q '"code":"shutting_down"\|"code":"out_of_time"' "cut.$stream" || fail "cut by a shutdown: $(cat "cut.$stream")"
  ! grep -q '"finish_reason":"length"' "cut.$stream" || fail "a cut answer looks whole: $(cat "cut.$stream")"
done

# ---- streams that are left are in the log with the passes they took
start left --model "$PUNT_SOURCE_DIR/models/stories.gguf"
curl -sN -m 2 -o left.txt "$url/v1/completions" -d '{"prompt": "Once", "max_tokens": 250, "stream": true, "diffusion": {"planner": "left-to-right"}}'
settles "a stream that was left is not in the log" 'grep -q "\"status\":499\|\"complete\":true" left.log'
logged=$(grep '"path":"/v1/completions"' left.log | python3 -c 'import json, sys; print(sum(json.loads(line)["nfe"] for line in sys.stdin))')
counted=$(metric 'punt_nfe_total{kind="base"}')
[ "$logged" = "$counted" ] && [ "$logged" -gt 0 ] || fail "passes in the log $logged, in the metrics $counted"
stop

# ---- keys that would let everybody in, or nobody
for bad in "" "  "; do
  code=0
  "$PUNT" serve --port 0 --api-key "$bad" >out 2>err || code=$?
  [ $code -eq 2 ] && grep -q -- '--api-key is empty' err || fail "an empty key: $code, $(cat err)"
done
printf '\n \n# nobody\n' >keys
code=0
"$PUNT" serve --port 0 --api-key-file keys >out 2>err || code=$?
[ $code -eq 2 ] && grep -q 'there are no keys' err || fail "a file without keys: $code, $(cat err)"
printf '# two\nk1\r\nk2  \n' >keys
start keys --model "$PUNT_SOURCE_DIR/models/stories.gguf" --api-key-file keys
for key in k1 k2; do
  [ "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $key" "$url/v1/models")" = 200 ] || fail "key $key"
done
[ "$(curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer # two" "$url/v1/models")" = 401 ] || fail "a comment is a key"
stop

# ---- where the model lies is nothing to clients
start path --model "$PUNT_SOURCE_DIR/models/sudoku.gguf" --alias board
[[ $(curl -s "$url/v1/completions" -d '{"prompt": "x"}') == *"vocabulary of board "* ]] || fail "the path is told: $(curl -s "$url/v1/completions" -d '{"prompt": "x"}')"
stop

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
