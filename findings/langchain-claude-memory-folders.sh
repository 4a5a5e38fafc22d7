#!/usr/bin/env bash
# langchain-anthropic 1.7.10, langchain 1.5.2, anthropic 2.10.0; seen 2026-11-30: the memory of Claude in LangChain does not know folders.
# Expected: the two middlewares that give Claude its memory tool do what the tool of Anthropic's own package does for the same command: `view` of
# /memories lists what there is, `delete` of a folder deletes what is in it, and nothing is overwritten or changed by halves.
# Seen: on disk `view` of /memories is "File not found", always, and in the state of the agent as soon as every file lies in a folder, though the
# prompt that comes with them tells Claude to look there before anything else. `delete` of a folder in the state says "File deleted" and
# deletes nothing (`_handle_delete` takes away one path and does not look whether it is there). In both, `rename` puts a file over
# another one, and `str_replace` of a text that stands twice changes the first; the package of Anthropic refuses these two.
# For a user: an agent that keeps a folder for each person finds its memory empty, and says that it forgot somebody whom it has not.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langchain-anthropic==1.7.10 langchain==1.5.2 anthropic==2.10.0
v/bin/pip list --format=freeze | grep -E '^(langchain|langchain-anthropic|anthropic)=='
v/bin/python -W ignore - <<'P'
from anthropic.tools import BetaLocalFilesystemMemoryTool
from langchain.agents import create_agent
from langchain_anthropic.middleware import FilesystemClaudeMemoryMiddleware, StateClaudeMemoryMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

class Model(GenericFakeChatModel):
    def bind_tools(self, tools, **_): return self

def run(middleware):
    saver = InMemorySaver()
    def command(**args):
        said = iter([AIMessage("", tool_calls=[dict(name="memory", args=args, id="1")]), AIMessage("done")])
        agent = create_agent(Model(messages=said), middleware=[middleware], checkpointer=saver)
        return agent.invoke({"messages": "go"}, {"configurable": {"thread_id": "t"}})["messages"][-2].content
    return command

def own(tool):
    def command(**args):
        if args["command"] == "rename": args["old_path"] = args.pop("path")
        try: return tool.call(args)
        except Exception as error: return str(error)
    return command

def look(command):
    for name, text in {"ana/food": "eats nuts", "ben/food": "no nuts", "ben/pets": "Rex\nRex"}.items(): command(command="create", path=f"/memories/{name}", file_text=text)
    seen = {"view of /memories": command(command="view", path="/memories")}
    command(command="delete", path="/memories/ana")
    seen["Ana's food after delete of her folder"] = command(command="view", path="/memories/ana/food")
    command(command="str_replace", path="/memories/ben/pets", old_str="Rex", new_str="Max")
    seen["Ben's pets after str_replace"] = command(command="view", path="/memories/ben/pets")
    command(command="rename", path="/memories/ben/pets", new_path="/memories/ben/food")
    seen["Ben's food after rename of his pets"] = command(command="view", path="/memories/ben/food")
    return {what: " ".join(answer.split()) for what, answer in seen.items()}

answers = [look(one) for one in (own(BetaLocalFilesystemMemoryTool("own")), run(FilesystemClaudeMemoryMiddleware(root_path="disk")), run(StateClaudeMemoryMiddleware()))]
for what in answers[0]:
    for name, answer in zip(("Anthropic", "LangChain on disk", "LangChain in the state"), answers): print(f"{what}, {name}: {answer[what]}")
(all_a, food_a, pets_a, after_a), (all_d, food_d, pets_d, after_d), (all_s, food_s, pets_s, after_s) = (one.values() for one in answers)
assert "/memories/ana/food" in all_a and all_d.startswith("File not found") and all_s.startswith("File not found")
assert "not exist" in food_a and food_d.startswith("File not found") and food_s == "1|eats nuts"
assert pets_a.endswith("1 Rex 2 Rex") and pets_d == pets_s == "1|Max 2|Rex"
assert after_a.endswith("no nuts") and after_d == after_s == "1|Max 2|Rex"
P
