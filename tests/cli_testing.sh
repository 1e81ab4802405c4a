# What the tests of the command line share; sourced by cli_*_test.sh. Works in a folder of its own, which is
# gone afterwards. Tests count failures and end with `exit` by that count.
set -u

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset NO_COLOR
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
