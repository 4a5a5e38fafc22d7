#!/usr/bin/env bash
# bm25s 0.3.16: a query of which no word is known is answered all the same, with the last documents and the score 0, and
# words of one letter are no words, so that "vitamin C" and "vitamin D" find the same, in the order of the corpus.
# Without a floor for scores a memory built on it answers every question with its newest entries.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install bm25s==0.3.16
v/bin/python - <<'P'
import bm25s
documents = ["Take vitamin C in the morning.", "Take vitamin D in the evening.", "The train leaves at noon.", "The dog is called Rex."]
index = bm25s.BM25()
index.index(bm25s.tokenize(documents, show_progress=False), show_progress=False)
def ask(query):
    found, scores = index.retrieve(bm25s.tokenize(query, show_progress=False), k=2, show_progress=False)
    return found[0].tolist(), [round(float(score), 3) for score in scores[0]]
answers = {query: ask(query) for query in ("vitamin D", "vitamin C", "zebra")}
print("bm25s", bm25s.__version__, answers)
assert answers["vitamin D"] == answers["vitamin C"] and answers["vitamin D"][0] == [0, 1], "letters tell documents apart now"
assert answers["zebra"] == ([3, 2], [0.0, 0.0]), "an unknown word is answered otherwise now"
P
