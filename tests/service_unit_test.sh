#!/usr/bin/env bash
# contrib/punt.service: what systemd says of it, and its command as systemd would run it, but for the port.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
source "$PUNT_SOURCE_DIR/tests/serve_testing.sh"
unit=$PUNT_SOURCE_DIR/contrib/punt.service
setting() { sed -n "s/^$1=//p" "$unit"; }

sed "s|/usr/local/bin/punt|$PUNT|" "$unit" >punt.service
if command -v systemd-analyze >/dev/null; then
  said=$(systemd-analyze verify "$folder/punt.service" 2>&1) && [ -z "$said" ] || fail "systemd-analyze: $said"
else
  echo "systemd-analyze is missing (Debian: systemd): the unit's syntax is not checked"
fi

accepts serve --help-all
grace=$(sed -n 's/.*--grace N=\([0-9]*\).*/\1/p' out)
[ "$(setting TimeoutStopSec)" -gt "$grace" ] || fail "systemd kills after $(setting TimeoutStopSec) s, --grace is $grace"

# systemd gives a service hardly any environment, and / to stand in.
mkdir credentials
echo "a-key" >credentials/keys
command=$(setting ExecStart)
command=${command//'${CREDENTIALS_DIRECTORY}'/$folder/credentials}
command=${command/--port 8080/--port 0}
command=${command/#\/usr\/local\/bin\/punt/$PUNT}
(cd / && exec env -i PATH=/usr/bin:/bin $command --ready-file "$folder/ready") >out 2>err &
server=$!
await_ready err
[[ $url == http://127.0.0.1:* ]] || fail "it listens at $url"
request='{"prompt": "Once", "max_tokens": 8, "seed": 1}'
status() { curl -s -o body -w '%{http_code}' "$@" "$url/v1/completions" -d "$request"; }
[ "$(status)" = 401 ] || fail "without the key: $(cat body)"
[ "$(status -H 'Authorization: Bearer a-key')" = 200 ] || fail "with the key: $(cat body)"
stop

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
