# What the tests of the command line share; sourced by cli_*_test.sh. Works in a folder of its own, which is
# gone afterwards. Tests count failures and end with `exit` by that count.
set -u

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset NO_COLOR
export PUNT_MODELS_DIR=$folder/no-models  # tests say which model they mean
data_cache=${XDG_CACHE_HOME:-$HOME/.cache}/punt/test-data
export XDG_CACHE_HOME=$folder/no-cache
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# run ARGS...: sets $code, $out, $err (files out, err)
run() {
  "$PUNT" "$@" >out 2>err </dev/null
  code=$?
  out=$(cat out)
  err=$(cat err)
}

# refuses "part of the message" ARGS...: exit 2, one line "punt: ..." on stderr, nothing on stdout
refuses() {
  local message=$1
  shift
  run "$@"
  [ "$code" -eq 2 ] || fail "exit code $code instead of 2: $*"
  [ -z "$out" ] || fail "output with an error: $* -> $out"
  [ "$(wc -l <err)" -eq 1 ] || fail "not one line: $* -> $err"
  [[ $err == "punt: "*"$message"* ]] || fail "message of '$*' is '$err', expected '$message'"
}

# accepts ARGS...: exit 0
accepts() {
  run "$@"
  [ "$code" -eq 0 ] || fail "exit code $code: $* -> $err"
}

# partial FILE: the file that is being written in its place; fails when there is none
partial() { compgen -G "$1.partial-*"; }

# json PATH: of every line on stdin, a JSON value without blanks, the one at a path such as usage.nfe or choices.0.text;
# nothing, a line on stderr and exit code 1 where there is none
json() {
  python3 -c '
import json, sys
for line in sys.stdin:
    try:
        value = json.loads(line)
        for key in sys.argv[1].split("."):
            value = value[int(key)] if isinstance(value, list) else value[key]
    except (ValueError, LookupError, TypeError):
        sys.exit(f"no {sys.argv[1]} in: {line.rstrip()}")
    print(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
' "$1"
}

# field PATH: the same of $out
field() { json "$1" <<<"$out"; }

# test_data NAME: where a published file or folder is (base/test_data_testing.h); fails when it is nowhere
test_data() {
  local at places=("$data_cache" "$PUNT_SOURCE_DIR/../shared/data")
  [ -z "${PUNT_TEST_DATA:-}" ] || places=("$PUNT_TEST_DATA")
  for at in "${places[@]}"; do
    [ -e "$at/$1" ] && echo "$at/$1" && return
  done
  return 1
}
