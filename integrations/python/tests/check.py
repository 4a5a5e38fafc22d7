"""Drives the Python client and what it gives LangGraph against a running server: `check.py PROGRAM`."""

import asyncio
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp

from mnemal import AsyncMnemal, Client, Mnemal, MnemalError
from mnemal.langgraph import MnemalChatMessageHistory, MnemalStore

checks = 0


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        raise SystemExit(f"FAILED: {what}")


def whole(ask):
    """Asks again while a layer was too slow to answer, as on a machine that has much to do."""
    for _ in range(20):
        answer = ask()
        if not any(gap["cause"] == "timed_out" for gap in answer["gaps"]):
            break
    return answer


def found(ask):
    """Asks again while nothing is found, for the same reason."""
    for _ in range(20):
        answer = ask()
        if answer:
            break
    return answer


def facade(memory):
    stored = memory.remember("Deploys happen on Tuesdays", key="deploy_day", tags=["calendar"])
    check(stored["created"] and stored["status"] == "active", f"stored {stored}")
    check(len(memory.log("s1", ("user", "I moved to Lyon"), ("assistant", "Noted."))) == 2, "turns are logged")
    hits = found(lambda: memory.recall("when do we deploy?"))
    check(hits[0]["key"] == "deploy_day", f"recalled {hits}")
    context = whole(lambda: memory.context("where do I live?", budget_tokens=500))
    check("Lyon" in context["text"] and context["tokens"] <= 500, f"context {context}")
    both = memory.client.event_add(memory.space, events=[{"content": "one"}, {"content": "two"}], idempotency_key="b1")
    one = memory.client.event_add(memory.space, content="three", metadata={"of": "check"})
    check(len(both["events"]) == 2 and len(one["events"]) == 1, f"events {both} {one}")
    check(memory.client.memory_get_by_key(memory.space, "deploy_day")["tags"] == ["calendar"], "by key")
    check(memory.client.event_list(memory.space, limit=1)["next_cursor"], "a page has a cursor")
    check(memory.client.export(memory.space).count("\n") > 2, "an answer that is no JSON")
    lines = memory.client.export(memory.space)
    check(memory.client.import_("copy", lines)["gaps"] is not None, "lines go in")
    erased = memory.forget("deploy_day")
    check(erased["status"].startswith("erased"), f"erased {erased}")
    try:
        memory.client.memory_get_by_key(memory.space, "deploy_dya")
        check(False, "a missing key is an error")
    except MnemalError as error:
        check((error.status, error.code) == (404, "not_found") and error.hint, f"a problem {error}")


def keys(url):
    """Without its key nobody is let in."""
    try:
        Client(url, key="mnk_wrong").space_list()
        check(False, "a wrong key is refused")
    except MnemalError as error:
        check(error.code == "unauthenticated", f"refused {error}")


async def waiting(url):
    memory = AsyncMnemal("waiting", base_url=url)
    notes = [memory.remember(f"Thing {number} stands on the shelf", key=f"thing{number}") for number in range(5)]
    check(all(stored["created"] for stored in await asyncio.gather(*notes)), "five at once")
    check(len(await memory.recall("shelf things", limit=3)) == 3, "three are found")
    check((await memory.context("shelf"))["tokens"] > 0, "a context")
    check((await memory.forget("thing0"))["events"] == 1, "one is erased")


def store(memory):
    store = MnemalStore(memory)
    people = ("users", "anna")
    store.put(people, "food", {"likes": "green tea", "rank": 3})
    store.put(people, "music", {"likes": "Bach", "rank": 1})
    store.put(("users", "ben"), "food", {"likes": "coffee", "rank": 5})
    store.put(("odd", "a/b c"), "x/y", {"odd": "names"})
    item = store.get(people, "food")
    check(item.value == {"likes": "green tea", "rank": 3} and item.namespace == people, f"got {item}")
    check(store.get(people, "none") is None, "nothing there")
    check(store.get(("odd", "a/b c"), "x/y").value == {"odd": "names"}, "odd names")
    first = item.created_at
    store.put(people, "food", {"likes": "black tea", "rank": 4})
    item = store.get(people, "food")
    check(item.value["likes"] == "black tea" and item.created_at == first < item.updated_at, f"a new version {item}")
    tea = found(lambda: store.search(people, query="what does she drink? tea"))
    check(tea[0].key == "food" and tea[0].score > 0, f"found {tea}")
    check({one.namespace for one in store.search(("users",))} == {people, ("users", "ben")}, "a prefix")
    check([one.key for one in store.search(("users",), filter={"rank": {"$gte": 4}})] and
          all(one.value["rank"] >= 4 for one in store.search(("users",), filter={"rank": {"$gte": 4}})), "a filter")
    check(len(store.search(("users",), limit=2)) == 2 and len(store.search(("users",), limit=2, offset=2)) == 1, "pages")
    check(store.list_namespaces(prefix=("users",)) == [("users", "anna"), ("users", "ben")], "namespaces")
    check(("users",) in store.list_namespaces(max_depth=1), "to a depth")
    check(store.list_namespaces(suffix=("ben",)) == [("users", "ben")], "by their end")
    got, put, seen = store.batch([
        GetOp(people, "music"), PutOp(people, "music", None), SearchOp(people, None, 10, 0, None),
    ])
    check(got.value["likes"] == "Bach" and put is None and len(seen) == 1, f"a batch {seen}")
    check(store.get(people, "music") is None, "what is put as None is gone")
    store.put(people, "soon", {"x": 1}, ttl=1)
    check(store.get(people, "soon").value == {"x": 1}, "it holds for a while")
    check(asyncio.run(store.aget(people, "food")).value["rank"] == 4, "awaited")


def history(memory):
    told = MnemalChatMessageHistory(memory, "chat")
    check(told.messages == [], "nothing yet")
    told.add_messages([HumanMessage("My name is Ole"), AIMessage("Hello Ole"), ToolMessage("x", tool_call_id="1")])
    check([(one.type, one.content) for one in told.messages] == [("human", "My name is Ole"), ("ai", "Hello Ole")],
          f"turns {told.messages}")
    check("Ole" in whole(lambda: memory.context("what is my name?"))["text"], "what was said is memory")
    told.clear()
    check(told.messages == [], "erased")


def graph(memory):
    """A graph whose scripted model is told what the store found, and stores what it heard."""
    model = GenericFakeChatModel(messages=iter([AIMessage("Noted."), AIMessage("You like green tea.")]))
    told = []

    def answer(state: MessagesState, *, store: BaseStore):
        asked = state["messages"][-1].content
        look = lambda: store.search(("agent", "ole"), query=asked)
        known = [item.value["text"] for item in (found(look) if "?" in asked else look())]
        told.append(known)
        reply = model.invoke([*state["messages"], HumanMessage("Known: " + "; ".join(known))])
        if "?" not in asked:
            store.put(("agent", "ole"), f"heard-{len(told)}", {"text": asked})
        return {"messages": [reply]}

    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    agent = builder.compile(store=MnemalStore(memory))
    agent.invoke({"messages": [HumanMessage("I like green tea")]})
    last = agent.invoke({"messages": [HumanMessage("Which tea do I like?")]})
    check(told == [[], ["I like green tea"]], f"the model was told {told}")
    check(last["messages"][-1].content == "You like green tea.", f"the answer {last}")


def guide(url):
    """The programs of the guide, as they stand there."""
    os.environ["MNEMAL_URL"] = url
    page = (HERE.parents[2] / "docs/guide/src/http.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        for block in blocks:
            for turn in range(20):
                try:
                    exec(block, names)
                    break
                except IndexError:
                    # Nothing is found where a layer was too slow to answer.
                    check(turn < 19, f"the guide finds nothing: {block}")
    check(len(blocks) == 2 and "Deploys happen on Tuesdays" in printed.getvalue(), f"the guide: {printed.getvalue()}")


def main(program):
    subprocess.run([sys.executable, str(HERE.parent.parent / "generate.py"), "--check"], check=True)
    with tempfile.TemporaryDirectory() as data:
        os.environ["MNEMAL_DATA_DIR"] = data
        command = [program, "serve", "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
            try:
                url = "http://" + child.stderr.readline().split("http://")[1].split("/")[0]
                # The client finds the local key by itself.
                facade(Mnemal("facade", base_url=url))
                keys(url)
                asyncio.run(waiting(url))
                store(Mnemal("store", base_url=url))
                history(Mnemal("history", base_url=url))
                graph(Mnemal("graph", base_url=url))
                guide(url)
            finally:
                child.terminate()
    print(f"python package: {checks} checks passed, LangGraph among them")


main(sys.argv[1])
