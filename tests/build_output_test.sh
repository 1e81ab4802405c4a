#!/usr/bin/env bash
# What `make` prints: a build or a run of tests becomes a few lines, but no word of a compiler or of a failed test is lost;
# skipped tests are counted by their reasons. Made-up output of ninja and ctest goes through the scripts.
set -uo pipefail
scripts=$PUNT_SOURCE_DIR/scripts
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# ---- a build of 300 steps, with two errors
{
  echo "[0/2] Re-checking globbed directories..."
  echo "-- Configuring done"
  for i in $(seq 1 150); do echo "[$i/300] Building CXX object a/b/file$i.cc.o"; done
  echo "FAILED: a/b/bad.cc.o"
  echo "../bad.cc:3:8: error: 'x' was not declared in this scope"
  echo "    3 | int f(x);"
  for i in $(seq 151 300); do echo "[$i/300] Building CXX object a/b/file$i.cc.o"; done
  echo "../worse.cc:1: error: [99/100] is no declaration"
  echo "ninja: build stopped: subcommand failed."
} >ninja.txt
PUNT_TERMINAL=0 "$scripts/show-progress" build "building" log <ninja.txt >out
cmp -s ninja.txt log || fail "the log is not what ninja printed"
[ "$(grep -c '^building: ' out)" -eq 11 ] || fail "one line per tenth: $(cat out)"
for line in "FAILED: a/b/bad.cc.o" "../bad.cc:3:8: error: 'x' was not declared in this scope" "    3 | int f(x);" \
  "../worse.cc:1: error: [99/100] is no declaration" "ninja: build stopped: subcommand failed."; do
  grep -qxF -- "$line" out || fail "not passed on: $line"
done
[ "$(wc -l <out)" -eq 16 ] || fail "more than that: $(cat out)"
PUNT_TERMINAL=1 "$scripts/show-progress" build "building" log <ninja.txt >screen
[ "$(grep -c . screen)" -le 8 ] || fail "more than one line on a terminal: $(cat -v screen)"
grep -qF "../bad.cc:3:8: error: 'x' was not declared in this scope" screen || fail "an error is lost on a terminal"
echo "ninja: no work to do." | "$scripts/show-progress" build "building" log >out
[ ! -s out ] || fail "nothing to do, and something said: $(cat out)"

# ---- the time that is left follows from the pace
{ echo "[10/100] a"; sleep 2.2; echo "[50/100] b"; } | PUNT_TERMINAL=0 "$scripts/show-progress" build "building" log >out
grep -qE '^building: 50 %, 50 of 100, about [1-9][0-9]* s left$' out || fail "no estimate: $(cat out)"

# ---- a run of tests
parent=$(cd "$PUNT_SOURCE_DIR/.." && pwd)
cat >ctest.txt <<END
Test project /somewhere/build/release
      Start   1: A.One
 1/9 Test   #1: A.One ....................................   Passed    0.01 sec
      Start   2: A.Two
 2/9 Test   #2: A.Two ....................................***Failed    0.02 sec
a_test.cc:7: Failure
Expected equality of these values
  1/2 Test of words that look like a result

      Start   3: A.Three
 3/9 Test   #3: A.Three ..................................***Skipped   0.00 sec
 4/9 Test   #4: A/Four.Runs/x deep, 3 rows ............................***Skipped   0.00 sec
 5/9 Test   #5: script_test ..............................***Skipped   0.00 sec
 6/9 Test   #6: slow_test ................................***Timeout 600.00 sec
 7/9 Test   #7: A/Five.Runs/x  # GetParam() = x y .........   Passed    0.01 sec
 8/9 Test   #8: Data.One .................................***Skipped   0.00 sec
 9/9 Test   #9: Data.Two .................................***Skipped   0.00 sec

78% tests passed, 2 tests failed out of 9

Total Test time (real) =   3.00 sec

The following tests did not run:
	  3 - A.Three (Skipped)
	  4 - A/Four.Runs/x deep, 3 rows (Skipped)
	  5 - script_test (Skipped)
	  8 - Data.One (Skipped)
	  9 - Data.Two (Skipped)

The following tests FAILED:
	  2 - A.Two (Failed)
	  6 - slow_test (Timeout)
Errors while running CTest
END
cat >LastTest.log <<END
3/9 Testing: A.Three
3/9 Test: A.Three
Output:
----------------------------------------------------------
a_test.cc:9: Skipped
missing: $parent/shared/data/tokens/one.json

[  SKIPPED ] A.Three (0 ms)
<end of output>
4/9 Testing: A/Four.Runs/x deep, 3 rows
4/9 Test: A/Four.Runs/x deep, 3 rows
a_test.cc:9: Skipped
missing: $parent/shared/data/tokens/two.json
<end of output>
5/9 Testing: script_test
5/9 Test: script_test
skipped: no chromium, so nothing was opened
<end of output>
7/9 Testing: A/Five.Runs/x
7/9 Test: A/Five.Runs/x  # GetParam() = x y
left out: no test data: benchmark/log.jsonl
<end of output>
8/9 Test: Data.One
d_test.cc:9: Skipped
no test data: benchmark/one.jsonl
<end of output>
9/9 Test: Data.Two
d_test.cc:9: Skipped
no test data: tokens/a/b.json
<end of output>
END
PUNT_TERMINAL=0 "$scripts/show-progress" tests "tests" log <ctest.txt >out
for line in "a_test.cc:7: Failure" "Expected equality of these values" "78% tests passed, 2 tests failed out of 9" \
  "The following tests FAILED:"; do
  grep -qF -- "$line" out || fail "not passed on: $line"
done
grep -q '#2: A.Two .*Failed' out && grep -q '#6: slow_test .*Timeout' out || fail "failures are not named: $(cat out)"
! grep -qE 'Start|A\.One|A\.Three|A\.Five' out || fail "routine on the screen: $(cat out)"
"$scripts/count-tests" log LastTest.log >out
[ "$(tail -n 1 out)" = "2 passed, 2 failed, 5 skipped" ] || fail "the last line: $(cat out)"
grep -qx ' *2  missing ../shared/data/tokens' out || fail "files of a folder are one reason: $(cat out)"
grep -qx ' *1  no chromium, so nothing was opened' out || fail "a script's reason: $(cat out)"
[ "$(grep -c 'fetch-test-data' out)" -eq 1 ] || fail "missing data is named once: $(cat out)"
grep -qE '^ *2  no test data \(benchmark 1, tokens 1\): scripts/fetch-test-data ' out ||
  fail "missing data: $(cat out)"
[ "$(grep -A1 '^left out of tests that passed:$' out | tail -n 1)" = "     1  no test data: benchmark/log.jsonl" ] ||
  fail "what a passed test left out: $(cat out)"
grep -v Skipped ctest.txt >log
"$scripts/count-tests" log /nowhere >out
[ "$(cat out)" = "2 passed, 2 failed, 0 skipped" ] || fail "nothing skipped: $(cat out)"

# ---- what earlier runs took is the measure of what is left
printf 'A.One 1 0.01\nA.Two 3 0.99\n---\n' >costs
printf ' 1/2 Test #1: A.One ... Passed 0.01 sec\n' | PUNT_TERMINAL=0 "$scripts/show-progress" tests "tests" log costs >out
grep -q '^tests: 1 %, 1 of 2' out || fail "a short test is half of the work: $(cat out)"

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
