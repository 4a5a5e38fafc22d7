#!/usr/bin/env bash
# langchain-core 1.8.3: RunnableWithMessageHistory loses the question when somebody else adds to the conversation meanwhile.
# Seen: before a call it puts the turns of the history in front of the question; after it, it reads the history again and cuts as many
# turns from the input as there are by now. With one foreign turn in between the question is cut and never stored: the history has the
# foreign turn and the answer. With `history_messages_key` nothing is cut.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install langchain-core==1.8.3
v/bin/python -W ignore - <<'P'
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

def told(**keys):
    history = InMemoryChatMessageHistory(messages=[HumanMessage("a"), AIMessage("b")])
    def answer(_):
        history.add_messages([HumanMessage("somebody else")])
        return AIMessage("an answer")
    agent = RunnableWithMessageHistory(RunnableLambda(answer), lambda _: history, **keys)
    question = [HumanMessage("the question")]
    agent.invoke({"question": question} if keys else question, config={"configurable": {"session_id": "s"}})
    return [one.content for one in history.messages]

plain = told()
keyed = told(input_messages_key="question", history_messages_key="history")
print("plain:", plain); print("with history_messages_key:", keyed)
assert plain == ["a", "b", "somebody else", "an answer"]
assert keyed == ["a", "b", "somebody else", "the question", "an answer"]
P
