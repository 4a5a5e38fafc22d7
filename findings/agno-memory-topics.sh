#!/usr/bin/env bash
# agno 3.1.10, SQLAlchemy 2.1.9; seen 2026-11-30: the databases of Agno give the same memories for other topics and other words.
# Expected: `get_user_memories(topics=…)` and `search_content=…` mean the same in each database that is to be had.
# Seen: InMemoryDb and JsonDb take a memory that has any of the topics, SqliteDb one that has all of them: a memory about food and one
# about sport are both found for ["food", "sport"] or neither. No topics at all, [], finds nothing in the first two and everything
# in SQLite. SqliteDb looks for the topic in JSON that is written in ASCII, so that a topic with an accent is never found, not even by
# the list that `get_all_memory_topics` gives; there large and small letters are one, and in the two others not. In words
# SqliteDb takes "_" for any letter and knows large and small letters in ASCII only.
# For a user: what was tried in memory finds less in SQLite, and a topic that is not plain ASCII finds nothing there.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export AGNO_TELEMETRY=false
python3 -m venv v; v/bin/pip -q install agno==3.1.10 SQLAlchemy==2.1.9 greenlet==3.5.6
v/bin/pip list --format=freeze | grep -E '^(agno|SQLAlchemy)=='
v/bin/python -W ignore - <<'P'
from agno.db.in_memory import InMemoryDb
from agno.db.json import JsonDb
from agno.db.schemas import UserMemory
from agno.db.sqlite import SqliteDb

memories = [
    ("tea", "Ana drinks green tea", ["food"]),
    ("bike", "Ana rides a bike", ["sport"]),
    ("diet", "Ana eats before a race", ["food", "sport"]),
    ("job", "the job is called night_run", ["travail à faire"]),
    ("other", "another is called nightXrun", ["night"]),
    ("oil", "Öl for the bike", ["work"]),
]
questions = [
    {"topics": ["food", "sport"]}, {"topics": []}, {"topics": ["travail à faire"]}, {"topics": ["FOOD"]},
    {"search_content": "night_run"}, {"search_content": "öl"},
]
databases = {"memory": InMemoryDb(), "json": JsonDb(db_path="json"), "sqlite": SqliteDb(db_file="memory.db")}
seen = {}
for name, database in databases.items():
    for key, text, topics in memories:
        database.upsert_user_memory(UserMemory(memory_id=key, memory=text, topics=topics, user_id="ana"))
    assert "travail à faire" in database.get_all_memory_topics()
    seen[name] = [[one.memory_id for one in database.get_user_memories(user_id="ana", **question)] for question in questions]
for number, question in enumerate(questions):
    print(question, {name: answers[number] for name, answers in seen.items()})
plain = [["tea", "bike", "diet"], [], ["job"], [], ["job"], ["oil"]]
assert seen == {
    "memory": plain, "json": plain,
    "sqlite": [["diet"], [key for key, text, topics in memories], [], ["tea", "diet"], ["job", "other"], []],
}, "the databases of Agno find otherwise now"
P
