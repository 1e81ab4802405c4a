#!/usr/bin/env bash
# punt score mt-bench: requests, recorded judgments, asking an endpoint (a fake one), going on after a failure.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
fixtures=$PUNT_SOURCE_DIR/tests/score
answered="--data $fixtures/mt_bench_questions.jsonl --responses $fixtures/mt_bench_answers.jsonl --judge-prompts $fixtures/mt_bench_prompts.jsonl"
bench="$answered --references $fixtures/mt_bench_references.jsonl"

# ---- bad input
refuses "--judge-prompts is missing" score mt-bench --data x --responses x
refuses "no judge: give --judgments, --write-requests or --judge-url" score mt-bench $bench
refuses "question 111 (math) has no reference answer" score mt-bench $answered --write-requests requests.jsonl
[ ! -e requests.jsonl ] || fail "requests of a refused command"
refuses "--judgments is for mt-bench alone" score gsm8k --data x --responses x --judgments y
refuses "--judge-url needs --judgments" score mt-bench $bench --judge-url http://127.0.0.1:1/v1
refuses "mt_bench_questions.jsonl: line 1: no text under model_id" score mt-bench --data $fixtures/mt_bench_questions.jsonl \
  --responses $fixtures/mt_bench_questions.jsonl --judge-prompts $fixtures/mt_bench_prompts.jsonl --write-requests r

# ---- what to ask; what was said
accepts score mt-bench $bench --write-requests requests.jsonl --judge-model some-judge
[ "$(wc -l <requests.jsonl)" -eq 4 ] && [ "$(grep -c '"model":"some-judge"' requests.jsonl)" -eq 4 ] || fail "$(cat requests.jsonl)"
accepts score mt-bench $bench --judgments $fixtures/mt_bench_judgments.jsonl --json --out run
[[ $out == *'"ratings":3,"unrated":1,"missing":0,"score":9.16666'* ]] || fail "replay: $out"
[ "$(tr -d ' \n' <out)" = "$(tr -d ' \n' <run/summary.json)" ] && [ "$(wc -l <run/items.jsonl)" -eq 4 ] || fail "files of a run"
accepts score mt-bench $bench --judgments $fixtures/mt_bench_judgments.jsonl
[[ $out == "mt-bench, 3 ratings"*score*9.1667*turn_1*writing*8.7500* ]] && [[ $err == *"1 judgments have no rating"* ]] || fail "$out $err"

# ---- a model's own answers: two turns each, resumed after a kill, judged as any other's
printf '%s\n' '{"question_id": 81, "category": "writing", "turns": ["Hi", "Go on"]}' \
  '{"question_id": 111, "category": "math", "turns": ["1+1", "and 2"]}' >questions.jsonl
model="--model $PUNT_SOURCE_DIR/tests/golden/llada --threads 1 --planner top-k:k=4 --length 8"
refuses "--data is missing" eval mt-bench $model
refuses "has no chat template" eval mt-bench --model toy:markov,length=64,vocab=8 --length 8 --data questions.jsonl
refuses "81, turn 1" eval mt-bench ${model/--length 8/--length 4000} --data questions.jsonl
accepts eval mt-bench $model --data questions.jsonl --out answers
[ "$(wc -l <answers/items.jsonl)" -eq 2 ] && grep -q '"question_id":81,.*"turns":\[".*",".*"\]' answers/items.jsonl || fail "answers: $(cat answers/items.jsonl)"
sed 's/"seconds":[^}]*//g' answers/items.jsonl >whole
printf '%s' "$(head -c -20 answers/items.jsonl)" >cut && cp cut answers/items.jsonl
accepts eval mt-bench $model --data questions.jsonl --out answers
sed 's/"seconds":[^}]*//g' answers/items.jsonl | cmp -s - whole || fail "resumed answers differ"
refuses "seed is 0 there and 3 here" eval mt-bench $model --data questions.jsonl --out answers --seed 3
accepts score mt-bench --data questions.jsonl --responses answers/items.jsonl --references $fixtures/mt_bench_references.jsonl \
  --judge-prompts $fixtures/mt_bench_prompts.jsonl --write-requests own.jsonl
[ "$(wc -l <own.jsonl)" -eq 4 ] || fail "requests about own answers: $(cat own.jsonl)"

# ---- an endpoint
command -v python3 >/dev/null || { echo "left out: the endpoint: no python3"; exit $((failures > 0)); }
cat >server.py <<'PY'
# Answers the second request for a turn that it has not seen; then as many as argv[1] says, and 400 from there on.
import http.server, json, sys
seen, answered = set(), 0

class Judge(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global answered
        body = self.rfile.read(int(self.headers['Content-Length']))
        asked = json.loads(body)
        new = body not in seen
        seen.add(body)
        right = self.path == '/v1/chat/completions' and self.headers['Authorization'] == 'Bearer se cret' and asked['temperature'] == 0
        status = 500 if new else 400 if not right or answered >= int(sys.argv[1]) else 200
        answered += status == 200
        text = json.dumps({'choices': [{'message': {'content': 'Rating: [[%d]]' % answered}}]} if status == 200 else {'error': 'no'})
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    def log_message(self, *_):
        pass

server = http.server.HTTPServer(('127.0.0.1', 0), Judge)
open('port', 'w').write(str(server.server_port))
server.serve_forever()
PY
# serve COUNT: starts the server; sets $url and $server
serve() {
  rm -f port
  python3 server.py "$1" &
  server=$!
  while [ ! -s port ] && kill -0 $server 2>/dev/null; do sleep 0.05; done
  url=http://127.0.0.1:$(cat port)/v1
}
export PUNT_JUDGE_KEY="se cret"
serve 2
run score mt-bench $bench --judge-url "$url" --judgments said.jsonl --json
[ "$code" -eq 1 ] && [[ $err == *"answers with status 400"* ]] && [[ $err != *cret* ]] || fail "a judge that stops: $code $err"
[ "$(wc -l <said.jsonl)" -eq 2 ] || fail "what was said is not kept"
kill $server
wait $server 2>/dev/null
head -n 1 said.jsonl >first.jsonl
printf '{"question_id": 81, "turn"' >>said.jsonl  # killed while it wrote
serve 9
accepts score mt-bench $bench --judge-url "$url" --judgments said.jsonl --json
[[ $out == *'"ratings":4,"unrated":0,"missing":0,"score":1.5,'* ]] || fail "resumed: $out $err"
[ "$(wc -l <said.jsonl)" -eq 4 ] && cmp -s first.jsonl <(head -n 1 said.jsonl) || fail "asked again for what was known"
kill $server
wait $server 2>/dev/null
accepts score mt-bench $bench --judge-url http://127.0.0.1:1/v1 --judgments said.jsonl --json
[[ $out == *'"score":1.5,'* ]] || fail "nothing was left to ask: $out"

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
