#!/usr/bin/env bash
# The web viewer: its parts in node, and the page in a headless Chromium, on a stand-in and on `punt serve` itself. Needs what
# scripts/install-web-test installs.
set -uo pipefail
cd "$PUNT_SOURCE_DIR/tests/web" || exit 1

skip() {
  echo "skipped: $*"
  exit 77
}

command -v node >/dev/null || skip "node is missing (Debian: nodejs)"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || skip "node is older than 20"
node --test trace_test.mjs parts_test.mjs || exit 1

export CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
[ -n "$CHROMIUM" ] || skip "the tests in node passed; chromium is missing (or name one in \$CHROMIUM)"
[ -d node_modules/playwright-core ] && [ -d node_modules/axe-core ] ||
  skip "the tests in node passed; tests/web/node_modules is missing (scripts/install-web-test)"
exec node --test --test-concurrency=1 viewer_test.mjs viewer_show_test.mjs viewer_replay_test.mjs viewer_access_test.mjs \
  viewer_serve_test.mjs viewer_stories_test.mjs viewer_sudoku_test.mjs strange_pages_test.mjs
