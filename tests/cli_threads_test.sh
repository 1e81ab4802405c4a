#!/usr/bin/env bash
# Threads: as many as the process may use, never more, and the same text with any number of them.
source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden
generate="generate --model $golden/llada the --length 20 --seed 3 --json"
usable=$(nproc)  # looks at the affinity; a control group may allow less

# ---- a request for more than there is: used as far as it goes, with one line that says so
# shellcheck disable=SC2086
run $generate --threads 1
[ "$code" -eq 0 ] || fail "one thread: exit code $code, $err"
[ -z "$err" ] || fail "a line about one thread: $err"
tokens=$(field tokens)
for threads in 2 3 5 16 1024; do
  # shellcheck disable=SC2086
  accepts $generate --threads $threads
  [ "$(field tokens)" = "$tokens" ] || fail "$threads threads give another text"
  if [ "$threads" -gt "$usable" ]; then
    [[ $err == "punt: --threads $threads: only "*" usable; using "* ]] || fail "$threads threads: '$err'"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $err"
  fi
done
for bad in -1 1025 two 1.5; do refuses "--threads" generate --model "$golden/llada" --threads "$bad"; done

# ---- every way to compute, with more threads than processors
for compute in exact float int8 ggml; do
  # shellcheck disable=SC2086
  accepts $generate --compute $compute --threads 1
  tokens=$(field tokens)
  # shellcheck disable=SC2086
  accepts $generate --compute $compute --threads 16
  [ "$(field tokens)" = "$tokens" ] || fail "--compute $compute: 16 threads give another text"
done

# ---- one processor is one thread
if command -v taskset >/dev/null; then
  first=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')
  on_one() { taskset -c "$first" "$PUNT" "$@" >out 2>err </dev/null; }
  on_one list devices --json || fail "list devices: $(cat err)"
  grep -Eq '"threads": ?1([,}]|$)' out || fail "not one thread on one processor: $(cat out)"
  # shellcheck disable=SC2086
  on_one $generate --threads 2 || fail "on one processor: $(cat err)"
  grep -qx -- 'punt: --threads 2: only 1 processor is usable; using 1' err || fail "on one processor: '$(cat err)'"
  # shellcheck disable=SC2086
  on_one $generate || fail "on one processor: $(cat err)"
  [ ! -s err ] || fail "a line though nobody asked: $(cat err)"
else
  echo "taskset is missing: one processor was not tried"
fi

# ---- the measurement itself refuses nonsense
for arguments in "--threads some" "--threads 0" "--rounds 0" "--conditions hot" "--model nowhere.gguf"; do
  # shellcheck disable=SC2086
  "$PUNT_SOURCE_DIR/bench/threads" --punt "$PUNT" --model "$PUNT_SOURCE_DIR/models/stories.gguf" $arguments >out 2>err
  [ $? -eq 2 ] || fail "bench/threads $arguments: $(cat err)"
done

exit "$failures"
