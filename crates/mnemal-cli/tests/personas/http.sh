# The first five minutes of a developer who asks over HTTP. MNEMAL_PORT is a port that nobody uses.
set -eu
export HOME="$(mktemp -d)"; unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME MNEMAL_DATA_DIR
port="${MNEMAL_PORT:-24767}"; base="http://127.0.0.1:$port"
mnemal serve --listen "127.0.0.1:$port" 2> "$HOME/serve.log" & pid=$!; trap 'kill $pid' EXIT
curl -fs --retry 20 --retry-connrefused --retry-delay 1 "$base/health/ready" | jq -e '.status == "ok"'
auth="authorization: Bearer $(mnemal key local)"
post() { curl -fsS "$base/v1/spaces/demo/$1" -H "$auth" -H 'content-type: application/json' -d "$2"; }
code() { curl -s -o /dev/null -w '%{http_code}' "$@"; }
post messages '{"session":"s1","messages":[{"role":"user","content":"I moved to Lyon"}]}' | jq -e '.event_ids | length == 1'
for turn in 1 2 3 4 5; do                                                   # again where a layer was too slow to answer
  post context '{"query":"where do I live?","budget_tokens":500}' > "$HOME/context.json"
  if jq -e 'any(.gaps[]; .cause == "timed_out") | not' "$HOME/context.json"; then break; fi
done
jq -e '(.text | contains("Lyon")) and .tokens <= 500' "$HOME/context.json"
post recall '{"query":"Lyon","explain":true}' | jq -e '.hits[0].explain | length >= 1'
curl -fsS "$base/openapi.json" | jq -e '.openapi | startswith("3.1")'
test "$(code "$base/v1/spaces/demo/stats")" = 401                           # closed by default
test "$(code "$base/v1/spaces/demo/stats" -H "$auth" -H 'origin: http://evil.example')" = 403
curl -s "$base/v1/spaces/demo/memories/by-key/nope" -H "$auth" | jq -e '.code == "not_found" and (.hint | length > 0)'
