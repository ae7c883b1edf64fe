#!/bin/sh
# A coding task in three prompts. Two of them ask for leave, which a second process gives.
set -eu
harness() { node "$(dirname "$0")/../../apps/cli/dist/main.js" "$@"; }
url="${HARNESS_URL:-http://127.0.0.1:4700}"
token="${HARNESS_TOKEN:-$(cat "${HARNESS_DATA:-$HOME/.harness}/token")}"
session="coding-task-$(date +%s)"
turn=0

say() { printf '\n$ %s\n' "$*"; }

# Submits a prompt over plain HTTP: accepted means that it is on the disk.
submit() {
  turn=$((turn + 1))
  printf '\n> %s\n' "$1"
  node -e 'console.log(JSON.stringify({ content: process.argv[1], session: {} }))' "$1" |
    curl -s -X PUT -H "Authorization: Bearer $token" -H 'content-type: application/json' --data-binary @- \
      "$url/v1/servers/default/sessions/$session/turns/t$turn"
  echo
}

# Waits until the turn has ended, or waits for leave.
settle() {
  until harness status "$session" | grep -qE 'idle|waiting'; do :; done
}

submit 'use write {"path": "sum.mjs", "content": "export const sum = (...numbers) => numbers.reduce((a, b) => a + b, 0)\n"}
use write {"path": "sum.test.mjs", "content": "import assert from \"node:assert\"\nimport test from \"node:test\"\nimport { sum } from \"./sum.mjs\"\ntest(\"adds\", () => assert.equal(sum(1, 2, 3), 6))\n"}'
settle
say "harness approve --session $session      # both are shown, whole; nothing happens yet"
harness approve --session "$session" || true
for request in $(harness approve --session "$session" --json 2>/dev/null | grep -o 'req_[0-9A-Z]*' | sort -u); do
  say "harness approve $request"
  harness approve --session "$session" "$request"
done
settle
say "harness turns get $session t1"
harness turns get "$session" t1

submit 'use shell {"command": "node --test"}'
settle
say "harness approve --session $session --always"
harness approve --session "$session" --always
settle
say "harness turns get $session t2"
harness turns get "$session" t2

submit 'use shell {"command": "node --test"}'
settle
say "harness grants $session      # the second run asked nobody"
harness grants "$session"
say "harness status $session"
harness status "$session"
