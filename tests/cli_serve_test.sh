#!/usr/bin/env bash
# punt serve: answers, streams, errors, limits, clients that misbehave, and the end. $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
source "$PUNT_SOURCE_DIR/tests/serve_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden

accepts serve --help
[[ $out == *Examples:*"punt serve"* ]] || fail "help of serve shows no example"
refuses "unknown planner 'nobody'" serve --planner nobody
refuses "--port must be" serve --port 70000
refuses "cannot read 'nothing'" serve --api-key-file nothing
refuses "unknown model 'nobody'" serve --port 0 --model nobody

# post PATH BODY [curl's flags]: $body and $status
post() {
  local path=$1 text=$2
  shift 2
  status=$(curl -s -o body -w '%{http_code}' "$@" "$url$path" -H 'Content-Type: application/json' -d "$text")
  body=$(cat body)
}

# answers STATUS NEEDLE PATH BODY [flags]
answers() {
  local wanted=$1 needle=$2
  shift 2
  post "$@"
  [ "$status" = "$wanted" ] && [[ $body == *"$needle"* ]] || fail "$1 $2: status $status, not $wanted, or no '$needle': $body"
}

value() { json "$1" <<<"$body"; }
texts() { sed -n 's/^data: //p' | grep -o '"text":"[^"]*"\|"content":"[^"]*"' | sed 's/^"[a-z]*":"//; s/"$//' | tr -d '\n'; }

# ---- a model with a chat template
start plain --model $golden/llada
[[ $(cat plain.out) == *"$url"* ]] || fail "no address: $(cat plain.out)"
[ "$(curl -s $url/health)" = '{"status":"ok"}' ] || fail "health"
[[ $(curl -s $url/v1/models) == *'"object":"model"'* ]] || fail "models"
[[ $(curl -s $url/props) == *'"planners":'*'"entropy-bound"'*'"max_tokens"'* ]] || fail "props"
[[ $(curl -s $url/props) == *'"planner":"scout"'* ]] || fail "the planner of requests that name none"
refuses "cannot listen on" serve --port "${url##*:}" --model $golden/llada

request='"prompt": "the ", "max_tokens": 12, "seed": 5, "temperature": 0.8'
answers 200 '"finish_reason"' /v1/completions "{$request}"
first=$(value choices.0.text)
nfe=$(value usage.nfe)
[ "$(value usage.prompt_tokens)" -gt 0 ] && [ "$(value usage.steps)" -gt 0 ] || fail "usage: $body"
answers 200 "$first" /v1/completions "{$request}"
[ "$(metric 'punt_nfe_total{kind="base"}')" -gt 0 ] || fail "no base passes in the metrics"
total=$(($(metric 'punt_nfe_total{kind="base"}') + $(metric 'punt_nfe_total{kind="test"}')))
[ "$(grep -c "\"path\":\"/v1/completions\",\"status\":200,.*\"nfe\":$nfe,.*\"tokens\":$(value usage.completion_tokens),\"complete\":true}" plain.log)" -eq 2 ] ||
  fail "no passes and tokens in the log: $(cat plain.log)"
[ "$total" -eq $((2 * nfe)) ] || fail "metrics count $total passes, answers $((2 * nfe))"
[ "$(metric punt_batch_sequences_sum)" = "$total" ] || fail "batches have $(metric punt_batch_sequences_sum) passes, not $total"
[ "$(metric punt_forward_seconds_count)" -le "$total" ] || fail "more batches than passes"
before=$(metric 'punt_nfe_total{kind="test"}')
answers 200 '"finish_reason"' /v1/completions "{$request, \"diffusion\": {\"planner\": \"punt:fallback=false\"}}"
tests=$(value usage.nfe_test)
[ "$tests" -gt 0 ] && [ "$(metric 'punt_nfe_total{kind="test"}')" -eq $((before + tests)) ] || fail "test passes in the metrics: $body"

accepts generate "the " --model $golden/llada --length 12 --seed 5 --temperature 0.8 --threads 1 --json
[ "$(field nfe.total)" = "$nfe" ] || fail "generate and serve count differently: $nfe in $out"

post /v1/completions "{$request, \"stream\": true, \"stream_options\": {\"include_usage\": true}}"
[ "\"$(texts <body)\"" = "$first" ] || fail "the stream says '$(texts <body)', the answer $first"
[ "$(tail -n 2 body | head -n 1)" = "data: [DONE]" ] || fail "no end of the stream: $body"
[[ $body == *'"usage":{'*"\"nfe\":$nfe,"* ]] || fail "usage of the stream: $body"

post /v1/completions "{$request, \"n\": 3}"
[ "$(grep -o '"index":' <<<"$body" | wc -l)" -eq 3 ] && [[ $body == *"$first"* ]] || fail "three choices: $body"

answers 200 '"role":"assistant"' /v1/chat/completions '{"messages": [{"role": "user", "content": "hi"}], "max_tokens": 8, "seed": 1}'
post /v1/chat/completions '{"messages": [{"role": "user", "content": "hi"}], "max_tokens": 8, "seed": 1, "diffusing": true}'
[[ $body == *'"diffusion_meta":{"diffusion_content":true,"diffusion_progress":1'*'"finish_reason":"'*'data: [DONE]'* ]] || fail "snapshots: $body"
post /v1/completions "{$request, \"stream\": true, \"diffusion\": {\"stream\": \"events\", \"planner\": \"punt:epsilon=0.5,fallback=false\"}}"
for event in run pieces step round commit end; do
  [[ $body == *"\"event\":{\"event\":\"$event\""* ]] || fail "no event $event in the stream: $body"
done
sed -n 's/^data: .*"event":\({.*}\)}$/\1/p' body >streamed.jsonl
accepts replay streamed.jsonl --view plain --step 1

answers 200 '"finish_reason":"stop"' /v1/completions "{$request, \"stop\": ${first:0:2}\"}"
[ "$(value choices.0.text)" = '""' ] || fail "text before the stop: $body"
answers 200 '"text"' /v1/completions "{$request, \"suffix\": \" end\"}"

# ---- what is wrong is named
answers 400 '"param":"max_tokens"' /v1/completions '{"prompt": "a", "max_tokens": 0}'
answers 400 '"param":"prompt"' /v1/completions "{\"prompt\": \"$(printf 'the %.0s' {1..200})\"}"
answers 400 '"param":"diffusion.planner"' /v1/completions '{"diffusion": {"planner": "nobody"}}'
answers 400 '"param":"diffusion.window"' /v1/completions '{"max_tokens": 4, "diffusion": {"window": 5}}'
answers 400 'not valid JSON' /v1/completions '{"prompt": '
printf '{"prompt": "\xff"}' >invalid
status=$(curl -s -o body -w '%{http_code}' $url/v1/completions --data-binary @invalid)
[ "$status" = 400 ] || fail "invalid UTF-8: $status $(cat body)"
{ printf '{"stop": ' && head -c 500000 /dev/zero | tr '\0' '[' && head -c 500000 /dev/zero | tr '\0' ']' && printf '}'; } >deep
for path in /v1/completions /v1/chat/completions /tokenize /detokenize; do
  status=$(curl -s -o body -w '%{http_code}' $url$path -H 'Content-Type: application/json' --data-binary @deep)
  [ "$status" = 400 ] && grep -q 'nests deeper' body || fail "a deep body at $path: $status $(cat body)"
done
answers 404 '"code":"not_found"' /v1/nothing '{}'
head -c 2000000 /dev/zero | tr '\0' 'a' >large
status=$(curl -s -o body -w '%{http_code}' $url/v1/completions --data-binary @large)
[ "$status" = 413 ] && grep -q too_large body || fail "a large body: $status $(cat body)"
answers 200 '"finish_reason"' /v1/completions '{"max_tokens": 4}' -H 'Transfer-Encoding: chunked'
answers 415 'must not be compressed' /v1/completions '{}' -H 'Content-Encoding: gzip'
answers 200 '"tokens":[' /tokenize '{"content": "the "}'
post /detokenize "$body"
[ "$(value content)" = '"the "' ] || fail "there and back: $body"
answers 400 '"param":"tokens"' /detokenize '{"tokens": [-1]}'
answers 400 '"param":"prompt"' /tokenize '{"prompt": 3}'
curl -s $url/tokenizer_info | grep -q '"eos_token":' || fail "no facts about the tokenizer: $(curl -s $url/tokenizer_info)"
answers 200 '"prompt":"the "' /detokenize "$(curl -s $url/tokenize -d '{"prompt": "the ", "add_special_tokens": false}')"

# ---- clients that misbehave
port=${url##*:}
before=$(descriptors)
head -c 1000000 /dev/urandom >/dev/tcp/127.0.0.1/$port 2>/dev/null || true
exec 7<>/dev/tcp/127.0.0.1/$port
printf 'POST /v1/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"prom' >&7
[ "$(curl -s --max-time 20 $url/health)" = '{"status":"ok"}' ] || fail "half a request holds up others"
exec 7>&-
for ((i = 100; i < 400; ++i)); do eval "exec $i<>/dev/tcp/127.0.0.1/$port"; done
[ "$(curl -s --max-time 20 $url/health)" = '{"status":"ok"}' ] || fail "300 idle connections hold up others"
for ((i = 100; i < 400; ++i)); do eval "exec $i>&-"; done
for _ in $(seq 100); do
  [ "$(descriptors)" -le $((before + 2)) ] && break
  sleep 0.1
done
[ "$(descriptors)" -le $((before + 2)) ] || fail "$before descriptors became $(descriptors)"
stop
grep -q '"event":"load"' plain.log || fail "no report at the end"
! grep -q '"the "' plain.log || fail "a prompt in the log"

# ---- keys
PUNT_API_KEY=third start keys --model $golden/llada --api-key first
answers 401 invalid_api_key /v1/completions "{$request}"
answers 401 invalid_api_key /v1/completions "{$request}" -H 'Authorization: Bearer firs'
answers 200 '"text"' /v1/completions "{$request}" -H 'Authorization: Bearer first'
answers 200 '"text"' /v1/completions "{$request}" -H 'Authorization: Bearer third'
[ "$(curl -s -o /dev/null -w '%{http_code}' $url/metrics)" = 401 ] || fail "metrics without a key"
[ "$(curl -s $url/health)" = '{"status":"ok"}' ] || fail "health needs no key"
! grep -q 'first\|third' keys.log || fail "a key in the log"
stop

# ---- a port that others reach, and no key
start open --model $golden/llada --host 0.0.0.0
grep -q 'anyone who can reach 0.0.0.0 is served' open.log || fail "no warning: $(cat open.log)"
! grep -q 'anyone who can reach' plain.log keys.log || fail "a warning for nothing"
stop

# ---- a protein is read as in a prompt: upper case, and letters that are none by their names
start protein --model $golden/esm2
answers 200 '"tokens":[20,15,11]' /tokenize '{"content": "mkT"}'
answers 200 '"tokens":[20,32]' /tokenize '{"content": "M<mask>"}'
for path in '/tokenize {"content": "MK*"}' '/v1/completions {"prompt": "MK*"}'; do
  answers 400 "'*' at position 3 is not one of the letters" ${path%% *} "${path#* }"
done
stop

# ---- a log that cannot be written does not end the server
if [ -w /dev/full ]; then
  rm -f ready
  "$PUNT" serve --port 0 --ready-file ready --threads 1 --model $golden/llada >/dev/null 2>/dev/full &
  server=$!
  await_ready /dev/null
  answers 404 not_found /v1/nothing '{}'
  answers 200 '"text"' /v1/completions '{"prompt": "the ", "max_tokens": 4}'
  stop
fi

# ---- what a model cannot do is told before a stream begins
start dream --model $golden/dream
for stream in false true; do
  answers 400 '"param":"diffusion.planner"' /v1/completions "{$request, \"stream\": $stream, \"diffusion\": {\"planner\": \"wino\"}}"
  answers 400 'needs an influence head' /v1/completions "{$request, \"stream\": $stream, \"diffusion\": {\"planner\": \"distilled\"}}"
  answers 400 '"param":"diffusion.window"' /v1/completions "{$request, \"stream\": $stream, \"diffusion\": {\"window\": 13}}"
done
stop

# ---- defaults that no request could use, and origins that no browser sends
for wrong in "--planner wino" "--cors good.example" "--cors http://a/b" "--cors http://"; do
  ! timeout 60 "$PUNT" serve --port 0 --model $golden/dream $wrong >out 2>err || fail "serves with $wrong"
  [ "$(wc -l <err)" -eq 1 ] && grep -q -- "^punt: ${wrong%% *} " err || fail "$wrong: $(cat err)"
done

# ---- a queue of one; a client that goes away; the end while something runs
start busy --model $PUNT_SOURCE_DIR/models/stories.gguf --max-running 1 --max-waiting 1
long='{"prompt": "Once", "max_tokens": 240, "seed": 1, "stream": true, "diffusion": {"planner": "top-k:k=1"}}'
curl -sN $url/v1/completions -d "$long" >stream &
client=$!
for _ in $(seq 200); do [ -s stream ] && break; sleep 0.05; done
curl -s $url/v1/completions -d "$long" >/dev/null &
waiting=$!
for _ in $(seq 200); do [ "$(metric punt_requests_waiting)" = 1 ] && break; sleep 0.05; done
answers 429 queue_full /v1/completions "$long" -D headers
grep -qi '^Retry-After' headers || fail "429 without Retry-After"
kill -KILL $client $waiting
wait $client $waiting 2>/dev/null
for _ in $(seq 200); do
  [ "$(metric punt_requests_running) $(metric punt_requests_waiting)" = "0 0" ] && break
  sleep 0.1
done
[ "$(metric punt_requests_running) $(metric punt_requests_waiting)" = "0 0" ] || fail "clients that went away still cost"
[ "$(metric punt_requests_cancelled_total)" -ge 1 ] || fail "nothing was cancelled"
curl -s $url/v1/completions -d '{"prompt": "Once", "max_tokens": 24, "seed": 1}' >last &
client=$!
for _ in $(seq 200); do [ "$(metric punt_requests_running)" = 1 ] && break; sleep 0.02; done
stop
wait $client
grep -q '"finish_reason"' last || fail "what ran at the end was not finished: $(cat last)"

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
