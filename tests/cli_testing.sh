# What the tests of the command line share; sourced by cli_*_test.sh. Works in a folder of its own, which is
# gone afterwards. Tests count failures and end with `exit` by that count.
set -u

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset NO_COLOR
export PUNT_MODELS_DIR=$folder/no-models  # tests say which model they mean
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

# field NAME: the raw value of a top-level key in a one-line JSON object on $out
field() { sed -E 's/.*"'"$1"'":("([^"\\]|\\.)*"|\[[^]]*\]|\{[^}]*\}|[^,}]*).*/\1/' <<<"$out"; }
