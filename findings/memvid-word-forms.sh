#!/usr/bin/env bash
# memvid-sdk 2.0.160; seen 2026-11-30: a word in another form raises "Lexical index is not enabled", and "false" or "labels" finds every note.
# Expected: a search by words finds other forms of a word, or finds nothing; and it looks at the text that was stored.
# Seen: the index knows stems, so that "drink" is led to the note with "drinks"; then the note is dropped since the very word is not in it,
# and the call raises LexIndexDisabledError (MV004), though the index is enabled and answers the next call. A word that no note has gives
# an empty answer. To each text the program adds lines of its own, "title: Untitled", "labels: text" and a JSON text of how it was read,
# and indexes them: "untitled", "labels", "sections" and "false" find all notes. "-tea" finds the notes with tea; "NOT tea" does not.
# For a user: who catches this error as "no index" builds one or gives up; ask once more with the word as it was written.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export HOME=$folder
python3 -m venv v; v/bin/pip -q install memvid-sdk==2.0.160
v/bin/pip list --format=freeze | grep -E '^memvid-sdk=='
v/bin/python -W ignore - 2>errors <<'P'
import memvid_sdk

memory = memvid_sdk.create("notes.mv2", enable_vec=False, enable_lex=True)
notes = ["Ana drinks green tea", "Ben has a blue boat", "tea tea boat", "the house of Cid"]
for note in notes: memory.put(text=note, enable_embedding=False)

def ask(question):
    try: found = memory.find(question, mode="lex", k=20)["hits"]
    except memvid_sdk.LexIndexDisabledError as error: return str(error)
    return sorted({hit["frame_id"] for hit in found})

seen = {question: ask(question) for question in ["drinks", "drink", "boats", "greens", "tea", "coffee", "untitled", "labels", "sections", "false", "-tea", "NOT tea"]}
for question, answer in seen.items(): print(f"{question}: {answer}")
assert memory.stats()["has_lex_index"]
error = "MV004: Lexical index is not enabled"
assert [seen[question] for question in ("drinks", "drink", "boats", "greens", "tea", "coffee")] == [[0], error, error, error, [0, 2], []]
assert all(seen[question] == [0, 1, 2, 3] for question in ("untitled", "labels", "sections", "false")), "other words find all notes now"
assert seen["-tea"] == [0, 2] and seen["NOT tea"] == [1, 3], "the minus sign is read otherwise now"
P
