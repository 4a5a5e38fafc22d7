"""Runs the session tests of Strands Agents 1.62.0 against `mnemal.strands`, and agents with a scripted model: `strands_sessions.py PROGRAM`.

The tests are those of the published source of strands-agents, as they are, with our repository in the place of the one in
memory and the one in files. It needs strands-agents, pytest, pytest-asyncio and moto, and is no part of continuous integration.
"""

import sys
import threading
import uuid
import warnings

from framework import Counts, account, arguments, check, erase, events_of, is_pinned, raised, run_tests, served, source

PINNED = "strands-agents==1.62.0"
is_pinned(PINNED)

import strands.session.file_session_manager
from strands import Agent, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.models import Model
from strands.session import RepositorySessionManager, SessionRepository
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from mnemal import Mnemal, MnemalError
from mnemal.strands import MnemalSessionManager, MnemalSessionRepository

FILES = ("tests/strands/session/test_file_session_manager.py", "tests/strands/session/test_repository_session_manager.py")
# Tests that ask what another repository is and not what it does, with the reason.
FILE_TESTS = "reads the files of FileSessionManager"
OTHERS = {
    name: FILE_TESTS
    for name in (
        "test_create_session", "test_delete_session", "test_create_agent", "test_create_message", "test_corrupted_json_file",
        "test_permission_error_handling", "test__get_session_path_invalid_session_id",
        "test__get_agent_path_invalid_agent_id", "test__get_message_path_invalid_message_id", "test_create_multi_agent",
        "test_message_durable_id_persists", "test_create_session_multi_agent_directory_structure",
    )
}


class Stand(MnemalSessionRepository):
    """Our repository as the tests make theirs, each in a space of its own."""

    def __init__(self, place=None):
        name = uuid.uuid5(uuid.NAMESPACE_URL, place) if place else uuid.uuid4()
        super().__init__(Mnemal(f"test-{name.hex}"))


class FileStand(RepositorySessionManager, Stand, SessionRepository):
    def __init__(self, session_id, storage_dir=None):
        Stand.__init__(self, storage_dir)
        RepositorySessionManager.__init__(self, session_id, self)


def own_tests():
    counts = Counts(OTHERS)
    strands.session.file_session_manager.FileSessionManager = FileStand
    with source(PINNED) as root:
        sys.path.insert(0, str(root))
        import tests.fixtures.mock_session_repository

        tests.fixtures.mock_session_repository.MockedSessionRepository = Stand
        run_tests(root, FILES, counts)
    return counts


class Scripted(Model):
    """A model that says what it is told to, one message after the other."""

    def __init__(self, *messages):
        self.messages, self.heard = list(messages), []

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, *_, **__):
        raise NotImplementedError

    async def stream(self, messages, *_, **__):
        self.heard.append([dict(one) for one in messages])
        blocks = self.messages.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        for block in blocks:
            use = block.get("toolUse")
            yield {"contentBlockStart": {"start": {"toolUse": {"name": use["name"], "toolUseId": use["id"]}} if use else {}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": use["input"]}} if use else block}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if any("toolUse" in one for one in blocks) else "end_turn"}}


def plain(messages):
    return [{key: one[key] for key in ("role", "content")} for one in messages]


def agents():
    """Agents of the real runner go on where others stopped."""
    memory = Mnemal("agents")

    @tool
    def weather(city: str) -> str:
        """Tells the weather."""
        return f"Rain in {city}."

    def agent(user, session, *messages, window=40, **more):
        manager = MnemalSessionManager(session, memory, user=user)
        conversation = SlidingWindowConversationManager(window_size=window)
        return Agent(
            model=Scripted(*messages), tools=[weather], session_manager=manager, agent_id="a", callback_handler=None,
            conversation_manager=conversation, **more,
        )

    call = {"toolUse": {"name": "weather", "id": "t1", "input": '{"city": "Lyon"}'}}
    first = agent("ana", "s", [call], [{"text": "It rains in Lyon."}], state={"mood": "fair"})
    first("I moved to Lyon. What is the weather?")
    first.state.set("seen", [1, {"deep": None}])
    first.model.messages.append([{"text": "You live in Lyon."}])
    first([{"text": "And who am I?"}, {"image": {"format": "png", "source": {"bytes": bytes(range(256)) * 2000}}}])
    second = agent("ana", "s", [{"text": "Still Lyon."}])
    check(plain(second.messages) == plain(first.messages), f"an agent goes on where it stopped {second.messages}")
    check(second.messages[4]["content"][1]["image"]["source"]["bytes"] == bytes(range(256)) * 2000, "a picture is whole")
    check(second.state.get() == {"mood": "fair", "seen": [1, {"deep": None}]}, f"its state {second.state.get()}")
    second("Where?")
    check(plain(second.model.heard[0])[:6] == plain(first.messages), "the model hears what was said before")
    check(len(agent("bob", "s").messages) == 0 and len(agent(None, "s").messages) == 0, "nobody else's session of that name")
    check(len(agent("ana", "t").messages) == 0, "no other session")
    events = memory.client.event_list(memory.space, session="s", user="ana", all=True, limit=200)["items"]
    held = [one for one in events if one.get("quarantined") and one.get("content")]
    check(not held, f"no words are held back {held}")
    for _ in range(20):
        hits = memory.recall("who moved to Lyon", user="ana")
        if hits:
            break
    check(any("I moved to Lyon" in one["text"] for one in hits), f"what was said is recalled {hits}")
    check(not any("bytes" in one["text"] or "mood" in one["text"] for one in hits), f"and no frame is {hits}")
    check(not memory.recall("who moved to Lyon", user="bob"), "and not for somebody else")

    short = agent("ana", "window", *[[{"text": f"answer {turn}"}] for turn in range(6)], window=4)
    for turn in range(6):
        short(f"question {turn}")
    after = agent("ana", "window", window=4)
    check(plain(after.messages) == plain(short.messages) and len(after.messages) <= 4, f"the window stays {after.messages}")


def contents():
    """Every kind of block, what servers limit, and what goes."""
    memory = Mnemal("contents")
    repository = MnemalSessionRepository(memory, user="ana")
    repository.create_session(Session("s", SessionType.AGENT))
    error = raised(SessionException, lambda: repository.create_session(Session("s", SessionType.AGENT)))
    check("already exists" in str(error), f"a session is made once {error}")
    repository.create_agent("s", SessionAgent("a", {"n": 1.5, "t": "x" * 40_000}, {"removed_message_count": 0}))
    check(repository.read_agent("s", "a").state["t"] == "x" * 40_000, "a long state is whole")
    blocks = [
        {"text": "two\nlines, ünïcödé 🌧, </tag> & \\ \" '"}, {"text": ""}, {"text": " "}, {"text": "nul \0 and \ud800 half"},
        {"text": "z" * 300_000}, {"text": "a \x00 b"},
        {"reasoningContent": {"reasoningText": {"text": "I think", "signature": "A1" * 900}}},
        {"reasoningContent": {"redactedContent": bytes(range(256))}},
        {"toolUse": {"toolUseId": "1", "name": "f", "input": {"deep": [1, None, {"é": True}], "big": "y" * 20_000}}},
        {"toolUse": {"toolUseId": "2", "name": "f", "input": {}}},
        {"document": {"format": "pdf", "name": "d", "source": {"bytes": b"%PDF" * 50_000}}},
        {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://a/b"}}}},
        {"cachePoint": {"type": "default"}}, {"guardContent": {"text": {"text": "guard me", "qualifiers": ["query"]}}},
        {"citationsContent": {"citations": [{"title": "t"}], "content": [{"text": "as the book says"}]}},
        {"toolResult": {"toolUseId": "1", "status": "error", "content": [
            {"text": "it failed"}, {"json": {"code": 5}}, {"json": 5}, {"json": None}, {"text": "it failed"},
            {"image": {"format": "png", "source": {"bytes": b"\x00\xff"}}},
        ]}},
    ]
    for number, block in enumerate([[one] for one in blocks] + [blocks]):
        for role in ("user", "assistant"):
            message = {"role": role, "content": block, "metadata": {"usage": {"inputTokens": 1}}}
            repository.create_message("s", "a", SessionMessage.from_message(message, 2 * number + (role == "assistant")))
    found = repository.list_messages("s", "a")
    check(len(found) == 2 * len(blocks) + 2, f"every message is there {len(found)}")
    for one in found:
        wanted = [blocks[one.message_id // 2]] if one.message_id // 2 < len(blocks) else blocks
        check(one.message["content"] == wanted, f"message {one.message_id} is whole: {str(one.message)[:300]}")
        check(one.message["metadata"] == {"usage": {"inputTokens": 1}}, "with what stands beside it")
    check([one.message_id for one in found] == list(range(len(found))), "in order")
    check([one.message_id for one in repository.list_messages("s", "a", limit=3, offset=2)] == [2, 3, 4], "a page")
    check(MnemalSessionRepository(memory, user="bob").read_session("s") is None, "another user has no such session")
    check(MnemalSessionRepository(memory).read_session("s") is None, "nor has nobody")

    many, threads = 30, []
    for part in range(4):
        def add(part=part):
            own = MnemalSessionRepository(memory, user="ana")
            for number in range(many):
                own.create_message("s", "b", SessionMessage({"role": "user", "content": [{"text": f"{part} {number}"}]}, number))
        threads.append(threading.Thread(target=add))
        threads[-1].start()
    for thread in threads:
        thread.join()
    said = [one.message["content"][0]["text"] for one in repository.list_messages("s", "b")]
    check(len(said) == len(set(said)) == 4 * many, f"of four writers at once nothing is lost: {len(said)}")
    for number in range(150):
        repository.create_message("s", "c", SessionMessage({"role": "user", "content": [{"text": f"n {number}"}]}, number))
    check([one.message_id for one in repository.list_messages("s", "c")] == list(range(150)), "pages are read to their end")

    secret = {"role": "assistant", "content": [{"text": "The launch code of the rocket is purple elephant"}]}
    repository.create_message("s", "d", SessionMessage(secret, 0))
    taken = SessionMessage(secret, 0, redact_message={"role": "user", "content": [{"text": "[User input redacted.]"}]})
    repository.update_message("s", "d", taken)
    (one,) = repository.list_messages("s", "d")
    check(one.to_message()["content"] == [{"text": "[User input redacted.]"}], f"a redacted message {one}")
    events = memory.client.event_list(memory.space, session="s", user="ana", all=True, limit=200)
    check("purple elephant" not in str(events), "what a guardrail took out is nowhere")
    raised(SessionException, lambda: repository.update_message("s", "d", SessionMessage(secret, 7)))

    twice = {"role": "assistant", "content": [{"text": "green parrot"}, {"text": "green parrot"}, {"text": "stays"}]}
    repository.create_message("s", "e", SessionMessage(twice, 0))
    repository.update_message("s", "e", SessionMessage({"role": "assistant", "content": [{"text": "stays"}, {"text": "new"}]}, 0))
    check(repository.read_message("s", "e", 0).message["content"] == [{"text": "stays"}, {"text": "new"}], "an update")
    events = memory.client.event_list(memory.space, session="s", user="ana", all=True, limit=200, since=one.created_at)
    check("green parrot" not in str(events), "what an update took out is nowhere")

    for user in ("bob", None):
        MnemalSessionRepository(memory, user=user).create_session(Session("s", SessionType.AGENT))
    nobody = MnemalSessionRepository(memory)
    nobody.delete_session("s")
    check(nobody.read_session("s") is None and repository.read_session("s") is not None, "nobody's session goes alone")
    repository.delete_session("s")
    check(repository.read_session("s") is None and repository.list_messages("s", "a") == [], "a session that was erased is gone")
    check(MnemalSessionRepository(memory, user="bob").read_session("s") is not None, "and somebody else's is not")
    raised(SessionException, lambda: repository.delete_session("s"))
    repository.create_session(Session("s", SessionType.AGENT))
    tea, call = {"text": "<private>pin 4711</private> tea"}, {"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": "<private>x"}}}
    for number, block in enumerate(({"text": "it failed"}, tea, call, {"text": "key AKIAIOSFODNN7EXAMPLE"})):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            repository.create_message("s", "a", SessionMessage({"role": "assistant", "content": [block]}, number))
            check(bool(told) == (number == 0), f"of words that stay away a warning tells {told}")
    back = [one.message["content"][0] for one in repository.list_messages("s", "a")]
    check(back[0] == {"text": "[forgotten]"} and "4711" not in str(back), f"what was erased stays away {back}")
    check("AKIA" not in str(back), f"and so does a secret {back}")
    repository.create_agent("s", SessionAgent("b", {"a": "<private>pin 4711", "b": "a < b <mnemal-context>"}, {}))
    state = repository.read_agent("s", "b").state
    check(state == {"a": "[private]", "b": "a < b <mnemal-context>"}, f"a state without its private part {state}")
    error = raised(MnemalError, lambda: MnemalSessionRepository(memory).create_session(Session("x" * 300, SessionType.AGENT)))
    check(error.code == "invalid_request", f"an id that is too long is told {error}")


def erased():
    """What was erased comes back in no message, whoever says it again and wherever it stands."""
    memory = Mnemal("erased")
    repository, words = MnemalSessionRepository(memory, user="ana"), "My locker code is seven four one one"
    repository.create_session(Session("s", SessionType.AGENT))
    kept = {"role": "assistant", "content": [{"text": words}, {"reasoningContent": {"reasoningText": {"text": words}}}, {"text": "Noted."}]}
    repository.create_message("s", "a", SessionMessage(kept, 0))
    for event in events_of(memory, "s", "ana"):
        check(not event["content"] or event["content"] not in str(event["metadata"]), f"words stand in no metadata {event}")
    changed = {"role": "assistant", "content": [*kept["content"], {"text": "Anything else?"}]}
    repository.update_message("s", "a", SessionMessage(changed, 0))
    check(repository.read_message("s", "a", 0).message == changed, "a message that is changed says what it said before")
    check(sum(event.get("content") == words for event in events_of(memory, "s", "ana")) == 1, "which is not said twice")
    erase(memory, words, "s", "ana")
    back = repository.read_message("s", "a", 0).message["content"]
    check("seven four" not in str(back) and back[2:] == changed["content"][2:], f"what is erased is gone from all of it {back}")
    use = {"toolUse": {"toolUseId": "1", "name": "f", "input": {"it": 1}}}
    told = {"toolResult": {"toolUseId": "1", "status": "success", "content": [{"text": words}]}}
    with warnings.catch_warnings(record=True):
        repository.create_message("s", "a", SessionMessage({"role": "user", "content": [use, told, {"text": f"Well. {words}. Right?"}]}, 1))
        repository.create_agent("s", SessionAgent("a", {"note": words}, {}))
    back = repository.read_message("s", "a", 1).message["content"]
    check(back[1]["toolResult"]["content"] == [{"text": "[forgotten]"}], f"a tool does not bring it back {back}")
    check(repository.read_agent("s", "a").state == {"note": "[forgotten]"}, "nor does a state")
    log = [event for event in events_of(memory, "s", "ana") if event.get("role") != "user"]
    check("seven four" not in str(log), f"nor is it in the log {log}")


with served((given := arguments(__doc__)).program):
    agents()
    contents()
    erased()
    counts = own_tests()
account(given, "Strands Agents", PINNED, "session tests of strands-agents", FILES, counts)
