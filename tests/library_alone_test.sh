#!/usr/bin/env bash
# The library alone, without that of evaluation and without the program, is configured and built where there is no network
# and, besides a compiler, CMake and what they run, no program: no curl, git, python3 or node, and no shell but sh. llama.cpp
# and its Jinja engine are those that this build uses.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}
cached() { sed -n "s/^$1:[A-Z]*=//p" "$PUNT_BUILD_DIR/CMakeCache.txt"; }  # a variable of this build
llama=$(cached PUNT_LLAMA_SEEN)
jinja=$(cached PUNT_JINJA_SEEN)
[[ -d $llama && -d $jinja ]] || fail "no llama.cpp in $PUNT_BUILD_DIR/CMakeCache.txt"

mkdir "$work/tools"
for tool in cmake ninja pkg-config ccache sh ar ranlib nm as ld ld.gold ld.lld objcopy "$(basename "$PUNT_CXX")"; do
  path=$(command -v "$tool" || true)
  [[ -z $path ]] || ln -s "$path" "$work/tools/$tool"
done
# without_network COMMAND...: with these tools alone; where the system lets one, in a network of its own that leads nowhere
isolated=()
unshare -rn true 2>/dev/null && isolated=("$(command -v unshare)" -rn)
without_network() {
  env PATH="$work/tools" http_proxy=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1 "${isolated[@]}" "$@" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "$*"; }
}
for tool in curl wget git python3 node npm bash; do
  ! PATH=$work/tools command -v "$tool" >/dev/null || fail "$tool is there"
done

without_network cmake -S "$PUNT_SOURCE_DIR" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$(command -v "$PUNT_CXX")" \
  -DCMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" -DPUNT_BUILD_EVAL=OFF -DPUNT_LLAMA_DIR="$llama" -DPUNT_JINJA_DIR="$jinja"

# Nothing is to be run but what compiles and archives.
commands=$(ninja -C "$work/build" -t commands)
[[ $commands != *"cmake -P "* ]] || fail "the build runs scripts of CMake"
programs=$(sed 's/ && /\n/g' <<<"$commands" | sed -E 's/^([^ ]*\/)?ccache //; s/ .*//; s/.*\///' | sort -u)
[[ $programs == *$(basename "$PUNT_CXX")* ]] || fail "nothing is compiled: $programs"
for program in $programs; do
  case $program in
    "$(basename "$PUNT_CXX")" | ar | *-ar | *-ar-* | ranlib | *-ranlib | *-ranlib-* | cmake | :) ;;
    *) fail "the build runs $program" ;;
  esac
done
# A layer stands for all of them: the same commands, on other files. PUNT_WHOLE_LIBRARY=1 builds, installs and uses it.
if [[ -z ${PUNT_WHOLE_LIBRARY:-} ]]; then
  without_network cmake --build "$work/build" --parallel 2 --target punt_base
  exit 0
fi
without_network cmake --build "$work/build" --parallel 2
without_network cmake --install "$work/build" --prefix "$work/prefix"
[[ -e $work/prefix/lib/libpunt.a && ! -e $work/prefix/lib/libpunt_eval.a && ! -e $work/prefix/bin/punt ]] ||
  fail "what is installed: $(cd "$work/prefix" && find . -name '*punt*')"
without_network cmake -S "$PUNT_SOURCE_DIR/tests/outside" -B "$work/outside" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER="$(command -v "$PUNT_CXX")" -DCMAKE_PREFIX_PATH="$work/prefix"
without_network cmake --build "$work/outside"
without_network "$work/outside/outside" "$PUNT_SOURCE_DIR/models/tasks.gguf" 'Copy the list: ["Ann Lee", "Carl Wood"]'
grep -q '^\["Ann Lee", ' "$work/log" || fail "what the outside program says: $(cat "$work/log")"
