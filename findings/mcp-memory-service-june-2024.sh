#!/usr/bin/env bash
# mcp-memory-service 12.4.0; seen 2026-11-30: "June 2024" is June of the latest year, a range is its first day, and "last Friday" is any time.
# Expected: `time_expr` of a search, for which the docstring names "last week" and "2 days ago", takes a month with its year, a
# day of a month and a range as what they say, and what it does not understand is refused, as a wrong `after` is.
# Seen: `parse_time_expression` looks for a list of patterns one after the other and takes the first that stands anywhere in the text, without
# looking at the rest: the year of "June 2024" and "Christmas 2024" and the day of "January 5, 2026" are dropped, "from 2026-01-01 to
# 2026-03-31" is January 1, "between June 1 and June 5" all of June, and "in June of last year" all of last year. "last Friday",
# "two weeks ago" and "past week" are nothing, and `search_memories` then searches all times, with no word of it.
# For a user: what is told of June 2024 is of this year or nothing, and what is told of last Friday is of any day.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export MCP_MEMORY_BASE_DIR=$folder HF_HUB_OFFLINE=1
python3 -m venv v; v/bin/pip -q install mcp-memory-service==12.4.0; v/bin/pip list --format=freeze | grep '^mcp-memory-service=='
v/bin/python -W ignore 2>/dev/null - <<'P'
import asyncio, datetime
from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.base import MemoryStorage
from mcp_memory_service.utils.time_parser import parse_time_expression

def day(stamp): return stamp and datetime.date.fromtimestamp(stamp)
def span(expression): return tuple(day(stamp) for stamp in parse_time_expression(expression))
def whole(year, month): return datetime.date(year, month, 1), datetime.date(year, month + 1, 1) - datetime.timedelta(1)

today = datetime.date.today()
june = whole(today.year - (today.month < 6), 6)
expected = {
    "June 2024": june, "between June 1 and June 5": june, "January 5, 2026": whole(today.year, 1),
    "from 2026-01-01 to 2026-03-31": (datetime.date(2026, 1, 1),) * 2, "last Friday": (None, None), "two weeks ago": (None, None), "past week": (None, None),
}
expected["in June of last year"] = (datetime.date(today.year - 1, 1, 1), datetime.date(today.year - 1, 12, 31))
for expression in expected: print(f"{expression}: {' to '.join(map(str, span(expression)))}")
assert {expression: span(expression) for expression in expected} == expected
assert span("Christmas 2024")[0].year != 2024 and span("2024-12-25") == (datetime.date(2024, 12, 25),) * 2

class Notes(MemoryStorage):  # the search of all stores, over two notes
    async def get_by_exact_content(self, query, **_):
        return [Memory(content=f"tea on {at}", content_hash=at, created_at=datetime.datetime.fromisoformat(at).timestamp()) for at in ("2024-06-10", "2026-06-10")]
Notes.__abstractmethods__ = frozenset()

async def main():
    for expression in ("2024-06-10", "last Friday"):
        answer = await Notes().search_memories(query="tea", mode="exact", time_expr=expression)
        found[expression] = [one["content"] for one in answer["memories"]], answer.get("error")
        print(f"search for tea, {expression}: {found[expression]}")

found = {}
asyncio.run(main())
assert found == {"2024-06-10": (["tea on 2024-06-10"], None), "last Friday": (["tea on 2024-06-10", "tea on 2026-06-10"], None)}
P
