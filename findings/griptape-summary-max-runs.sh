#!/usr/bin/env bash
# griptape 1.13.0; seen 2026-12-01: with `max_runs` the summary memory of Griptape stops: newer turns are neither in the summary nor in the prompt.
# Expected: `SummaryConversationMemory` gives the model a summary of older turns and the last `offset` turns as they are; `max_runs`
# says how many turns are kept.
# Seen: it counts how many turns are in the summary, and does not count back when `max_runs` takes the oldest away. With `max_runs=3` all is
# right for three turns; from the fourth on the prompt holds the summary of the first three and nothing else, not even the last
# turn, for as long as the conversation goes on. Without `max_runs` it works. Opened again from its file, where the summary is
# not stored, the memory gives the model the turns that are kept, word for word, and goes wrong again at the next.
# For a user: the agent forgets each answer at once and lives in the first three turns, and no error says so.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install griptape==1.13.0; v/bin/pip list --format=freeze | grep '^griptape=='
v/bin/python -W ignore - <<'P'
import re
from griptape.artifacts import TextArtifact
from griptape.drivers.memory.conversation.local import LocalConversationMemoryDriver
from griptape.memory.structure import Run, SummaryConversationMemory

class Model:  # its summary names the turns that it was given
    def run(self, stack):
        turns = sorted(set(re.findall(r"turn\d", stack.messages[0].to_text())))
        return type("Answer", (), {"to_text": lambda self: "summary of " + " ".join(turns)})()

def memory(limit):
    return SummaryConversationMemory(prompt_driver=Model(), offset=1, max_runs=limit,
                                     conversation_memory_driver=LocalConversationMemoryDriver(persist_file=f"{limit}.json"))
def prompt(one): return [re.sub(r"(?s).*(summary of)", r"\1", message.to_text()) for message in one.to_prompt_stack().messages]

seen = {}
for limit in (None, 3):
    one, seen[limit] = memory(limit), []
    for number in range(1, 7):
        one.add_run(Run(input=TextArtifact(f"turn{number}"), output=TextArtifact("yes")))
        seen[limit].append(prompt(one))
        print(f"max_runs {limit}, turn {number}: {seen[limit][-1]}")
again = {limit: prompt(memory(limit)) for limit in (None, 3)}
print("opened again:", again)
def right(number): return [] if number == 1 else ["summary of " + " ".join(f"turn{one}" for one in range(1, number))]
assert seen[None] == [right(number) + [f"turn{number}", "yes"] for number in range(1, 7)]
assert seen[3] == seen[None][:3] + [["summary of turn1 turn2 turn3"]] * 3
assert again == {None: [part for number in range(1, 7) for part in (f"turn{number}", "yes")], 3: ["turn4", "yes", "turn5", "yes", "turn6", "yes"]}
P
