#!/usr/bin/env bash
# webvtt-py 0.6.0, pysubs2 1.8.1, pycaption 2.3.14; seen 2026-12-01: in a transcript of a meeting, what one said is said by another, and comments are speech.
# Expected: a cue of WebVTT, as calls are exported, gives its words to the speakers it names; comments and names of cues are nobody's words.
# Seen: webvtt-py has one `voice` for a cue, the first, and the text of all: "I am not." of Ben is what Ana said. It leaves "&amp;" as it is
# written. pysubs2 gives no speaker at all, with no error, though its rows have a `name`, and joins what stands between two cues to the words
# of the first: a NOTE, and the name of the next cue unless it is a number, as "7f2c/2-0" here. pycaption tells each line with its speaker,
# reads "&amp;", and leaves out comments and names.
# For a user: a memory of the meeting has the allergy of one with the words of two, and notes of the recorder as what was said.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install webvtt-py==0.6.0 pysubs2==1.8.1 pycaption==2.3.14
v/bin/pip list --format=freeze | grep -E '^(webvtt-py|pysubs2|pycaption)=='
cat > call.vtt <<'T'
WEBVTT

7f2c/1-0
00:00:01.000 --> 00:00:04.000
<v Ana Lopez>I am allergic to nuts.</v>
<v Ben>I am not.</v>

7f2c/2-0
00:00:04.000 --> 00:00:06.000
<v Ana Lopez>Ask R&amp;D.</v>

NOTE the recording was paused

3
00:00:06.000 --> 00:00:08.000
<v Carla>See you on Monday.</v>
T
v/bin/python -W ignore - <<'P'
import pycaption, pysubs2, webvtt

captions = pycaption.WebVTTReader().read(open("call.vtt").read())
seen = {
    "webvtt-py": [(cue.voice, cue.text) for cue in webvtt.read("call.vtt")],
    "pysubs2": [(cue.name, cue.plaintext) for cue in pysubs2.load("call.vtt")],
    "pycaption": [cue.get_text() for cue in captions.get_captions(captions.get_languages()[0])],
}
for package, answer in seen.items(): print(f"{package}: {answer}")
assert seen == {
    "webvtt-py": [("Ana Lopez", "I am allergic to nuts.\nI am not."), ("Ana Lopez", "Ask R&amp;D."), ("Carla", "See you on Monday.")],
    "pysubs2": [("", "I am allergic to nuts.\nI am not.\n\n7f2c/2-0"), ("", "Ask R&amp;D.\n\nNOTE the recording was paused"), ("", "See you on Monday.")],
    "pycaption": ["Ana Lopez: I am allergic to nuts.\nBen: I am not.", "Ana Lopez: Ask R&D.", "Carla: See you on Monday."],
}
P
