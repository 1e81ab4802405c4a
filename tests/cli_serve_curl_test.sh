#!/usr/bin/env bash
# Streams of punt serve as `curl -N` shows them: while they are made, piece by piece, and in the end the whole answer.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
source "$PUNT_SOURCE_DIR/tests/serve_testing.sh"

start curl --model "$PUNT_SOURCE_DIR/models/stories.gguf" --quiet
running() { metric punt_requests_running; }
# texts: the texts of chunks or of an answer, one a line, as JSON writes them
texts() { grep -o '"text":"\([^"\\]\|\\.\)*"' | sed 's/^"text":"//; s/"$//'; }
joined() { texts | tr -d '\n'; }

request='"prompt": "Once upon a", "max_tokens": 96, "seed": 3'
left='"diffusion": {"planner": "left-to-right"}'

# ---- the first piece is there while the rest is still being made
mkfifo pipe
curl -sN -D headers "$url/v1/completions" -d "{$request, $left, \"stream\": true}" >pipe &
client=$!
exec 5<pipe
while IFS= read -r first <&5 && [[ $first != data:* ]]; do :; done  # a server that takes its time says so in comments
still=$(running)
[[ $first == 'data: {'*'"text":" '* ]] || fail "the first line is no piece that goes on from the prompt: $first"
[ "$still" = 1 ] || fail "the first piece came when $still requests were running"
{ echo "$first"; cat <&5; } >stream
wait $client
exec 5<&-
grep -qi '^Content-Type: text/event-stream' headers || fail "headers: $(cat headers)"
[ "$(grep -v '^$' stream | tail -n 1)" = "data: [DONE]" ] || fail "no end: $(tail -n 3 stream)"
! grep -v '^data: \|^:\|^$' stream || fail "lines that are neither events nor comments"
[ "$(texts <stream | grep -c .)" -gt 30 ] || fail "only $(texts <stream | grep -c .) pieces"
curl -s "$url/v1/completions" -d "{$request, $left}" >whole
[ "$(joined <stream)" = "$(joined <whole)" ] || fail "the stream says '$(joined <stream)', the answer '$(joined <whole)'"

# ---- snapshots: whole texts with fewer and fewer masks, none in the last
curl -sN "$url/v1/completions" -d "{$request, \"diffusing\": true, \"diffusion\": {\"planner\": \"top-k:k=8\"}}" >snapshots
grep '"diffusion_meta"' snapshots | texts >shots
masks=$(while IFS= read -r line; do grep -o '░' <<<"$line" | wc -l; done <shots)
[ "$(sort -rn <<<"$masks")" = "$masks" ] || fail "masks came back:" $masks
[ "$(head -n 1 <<<"$masks")" -gt 0 ] && [ "$(tail -n 1 <<<"$masks")" -eq 0 ] || fail "masks of the snapshots:" $masks
curl -s "$url/v1/completions" -d "{$request, \"diffusion\": {\"planner\": \"top-k:k=8\"}}" >whole
[ "$(tail -n 1 shots)" = "$(joined <whole)" ] || fail "the last snapshot is '$(tail -n 1 shots)', the answer '$(joined <whole)'"

stop
[ "$failures" -eq 0 ] || exit 1
echo "all passed"
