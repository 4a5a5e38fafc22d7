# The first five minutes of somebody who works with Claude Code.
set -eu
export HOME="$(mktemp -d)"; unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME MNEMAL_DATA_DIR
repo="$HOME/shop" && mkdir "$repo" && git -C "$repo" init -q && cd "$repo"
mnemal init | grep "spaces/" > /dev/null                                        # prints where the data lives
mnemal setup claude-code --yes > /dev/null
jq -e '.hooks.UserPromptSubmit[0].hooks[0].command | test("mnemal hook claude-code")' "$HOME/.claude/settings.json"
hook() { mnemal hook claude-code "$1"; }
printf '{"hook_event_name":"SessionStart","source":"startup","session_id":"s1","cwd":"%s"}' "$repo" |
  hook session-start | jq -e 'type == "object"'
t="$HOME/t.jsonl"
printf '%s\n' \
  '{"type":"user","uuid":"u1","message":{"role":"user","content":"we use pnpm, never npm"}}' \
  '{"type":"assistant","uuid":"a1","message":{"role":"assistant","content":[{"type":"text","text":"Noted."}]}}' > "$t"
printf '{"hook_event_name":"Stop","session_id":"s1","transcript_path":"%s","cwd":"%s"}' "$t" "$repo" |
  hook stop | jq -e '. == {}'
ask() {
  printf '{"hook_event_name":"UserPromptSubmit","session_id":"%s","prompt":"%s","cwd":"%s"}' \
    "$1" "which package manager do we use, pnpm or npm?" "$repo" | hook user-prompt-submit
}
ask s2 > first.json                                                         # a new session gets the line
jq -e '.hookSpecificOutput.hookEventName == "UserPromptSubmit"' first.json
jq -e '.hookSpecificOutput.additionalContext | contains("we use pnpm, never npm")' first.json
ask s2 | jq -e '(.hookSpecificOutput.additionalContext // "") | contains("we use pnpm, never npm") | not'   # not twice
jq -c '{type:"assistant",uuid:"a2",message:{role:"assistant",content:.hookSpecificOutput.additionalContext}}' \
  first.json >> "$t"
printf '{"hook_event_name":"Stop","session_id":"s2","transcript_path":"%s","cwd":"%s"}' "$t" "$repo" |
  hook stop > /dev/null
mnemal log list --json > log.json                                           # no echo of what memory said
jq -e '[.. | strings | select(contains("mnemal-context"))] | length == 0' log.json
echo 'not json' | hook stop | jq -e '. == {}'                               # never breaks the client
mnemal setup claude-code --undo --yes > /dev/null
if grep -q mnemal "$HOME/.claude/settings.json" 2> /dev/null; then exit 1; fi
