#!/usr/bin/env bash
# timefhuman 0.1.5; seen 2026-11-30: "a year and a half ago" lies a year ahead, and "last night" is tonight.
# Expected: "ago" turns the whole length of time back, and "last night" is the night before today.
# Seen: "an hour and a half ago" is in an hour, "a year and a half ago" in a year, "3 days before yesterday" in 3 days and yesterday;
# "1.5 hours ago" and "a year ago" are right. "last night" is tonight. On a Friday "last Friday", "Friday" and "next Friday" are
# all today, though on a Wednesday "last Friday" is the week before. For "last week", "last month" and "last year" nothing is found.
# For a user: what people tell about the past is filed in the future, with no sign that it was not understood.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install timefhuman==0.1.5
v/bin/pip list --format=freeze | grep -E '^timefhuman=='
v/bin/python -W ignore - <<'P'
from datetime import datetime
from timefhuman import tfhConfig, timefhuman

def read(text, now): return [f"{one:%F %R}" for one in timefhuman(text, config=tfhConfig(now=now))]
friday, wednesday = datetime(2026, 11, 27, 12), datetime(2026, 11, 25, 12)
texts = ["a year ago", "a year and a half ago", "1.5 hours ago", "an hour and a half ago", "3 days before yesterday", "tonight", "last night",
         "last Friday", "Friday", "next Friday", "last week", "last month", "last year"]
seen = {text: read(text, friday) for text in texts}
print("now it is Friday, 2026-11-27 12:00")
for text, answer in seen.items(): print(f"{text}: {answer}")
print("on a Wednesday, 2026-11-25, last Friday:", read("last Friday", wednesday))
assert list(seen.values()) == [
    ["2025-11-27 12:00"], ["2027-11-27 12:00"], ["2026-11-27 10:30"], ["2026-11-27 13:00"], ["2026-11-30 12:00", "2026-11-26 00:00"],
    ["2026-11-27 20:00"], ["2026-11-27 20:00"], ["2026-11-27 00:00"], ["2026-11-27 00:00"], ["2026-11-27 00:00"], [], [], [],
] and read("last Friday", wednesday) == ["2026-11-20 00:00"], "timefhuman reads otherwise now"
P
