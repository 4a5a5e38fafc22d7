#!/usr/bin/env bash
# whatsapp-chat-parser 4.0.2; seen 2026-11-30: in dates that begin with the year the month and the day are exchanged, by what else is in the file.
# Expected: a date that begins with four digits of a year goes on with the month; nobody writes year, day, month.
# Seen: a chat of one day, 2026-11-12, as the phones of some countries write it, or 2026/11/12 or 2026.11.12, is told as of December 11, and
# one of March 4, August 6 and September 7 as of April 3, June 8 and July 9. A message of a day after the 12th, or two of one month,
# puts all right, so that one and the same line has two dates. `daysFirst: false` puts it right too, though no day stands first.
# For a user: a chat in which people write to each other now and then, or one that is exported day by day, is dated months off.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export TZ=UTC
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts whatsapp-chat-parser@4.0.2 >/dev/null 2>&1
echo "whatsapp-chat-parser $(node -p 'JSON.parse(require("fs").readFileSync("node_modules/whatsapp-chat-parser/package.json")).version')"
cat > ask.mjs <<'J'
import assert from "node:assert";
import { parseString } from "whatsapp-chat-parser";

const days = (chat, options) => parseString(chat, options).map((one) => one.date.toISOString().slice(0, 10)).join(" ");
const chat = (...dates) => dates.map((date) => `[${date}, 10:00:00] Ana: the boat is sold\n`).join("");
const seen = {
  "2026-11-12": days(chat("2026-11-12")),
  "2026/11/12": days(chat("2026/11/12")),
  "2026-11-12, as on Android": days("2026-11-12 10:00 - Ana: the boat is sold\n2026-11-12 10:05 - Ben: to whom?\n"),
  "2026-03-04 2026-08-06 2026-09-07": days(chat("2026-03-04", "2026-08-06", "2026-09-07")),
  "the same and 2026-09-13": days(chat("2026-03-04", "2026-08-06", "2026-09-07", "2026-09-13")),
  "2026-11-11 2026-11-12": days(chat("2026-11-11", "2026-11-12")),
  "2026-11-12, daysFirst is false": days(chat("2026-11-12"), { daysFirst: false }),
};
for (const [written, read] of Object.entries(seen)) console.log(`${written}: ${read}`);
assert.deepStrictEqual(Object.values(seen), [
  "2026-12-11", "2026-12-11", "2026-12-11 2026-12-11", "2026-04-03 2026-06-08 2026-07-09",
  "2026-03-04 2026-08-06 2026-09-07 2026-09-13", "2026-11-11 2026-11-12", "2026-11-12",
]);
J
node ask.mjs
