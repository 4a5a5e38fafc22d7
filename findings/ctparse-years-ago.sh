#!/usr/bin/env bash
# ctparse 0.3.6; seen 2026-12-01: "10 years ago" and "in 5 years" are tomorrow, at ten and at five o'clock, and "last Friday" is the next one.
# Expected: a time that lies years away is told as such or not found, "last" and "since" lead back, and "ago" is another thing than "in".
# Seen: there are no years among the lengths of time, so that the number before them is read as an hour, and the next such hour is given.
# "last Friday", "since Monday" and "Monday last week" lie ahead, "last year" is today, and "last month" the last day of this one.
# Of "two weeks ago" and "in two weeks" the answer is the same length, "2 weeks", without a direction. Nothing tells an answer
# for a part of the text from one for all of it.
# For a user: "I moved here 10 years ago" becomes an appointment for tomorrow morning.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install ctparse==0.3.6; v/bin/pip list --format=freeze | grep '^ctparse=='
v/bin/python -W ignore - 2>errors <<'P'
from datetime import datetime
from ctparse import ctparse

friday = datetime(2026, 11, 27, 10)
phrases = ["10 years ago", "in 5 years", "last Friday", "since Monday", "Monday last week", "last year", "last month",
           "two weeks ago", "in two weeks", "yesterday", "3 days ago"]
seen = {}
for phrase in phrases:
    found = ctparse(phrase, ts=friday).resolution
    seen[phrase] = str(found).split(" X:X")[0].split(" (")[0]
    print(f"{phrase}: {seen[phrase]}")
assert list(seen.values()) == [
    "2026-11-28 10:00", "2026-11-28 05:00", "2026-12-04", "2026-11-30", "2026-11-30", "2026-11-27", "2026-11-30", "2 weeks", "2 weeks", "2026-11-26", "3 days",
]
P
