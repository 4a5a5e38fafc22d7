"""What the tests of all memories share: the same checks for one on a server and one in this process."""

import asyncio

from framework import check, found, passed, raised

from mnemal import MnemalError

__all__ = ["check", "facade", "found", "passed", "raised", "waiting", "whole"]


def whole(ask):
    """Asks again while a layer was too slow to answer, as on a machine that has much to do."""
    for _ in range(20):
        answer = ask()
        if not any(gap["cause"] == "timed_out" for gap in answer["gaps"]):
            break
    return answer


def facade(memory):
    """What holds of every memory, on a server or in this process."""
    stored = memory.remember("Deploys happen on Tuesdays", key="deploy_day", tags=["calendar"])
    check(stored["created"] and stored["status"] == "active", f"stored {stored}")
    logged = memory.log("s1", ("user", "I moved to Lyon"), ("assistant", "Noted."))
    check(len(logged) == 2 and logged.gaps == logged.answer["gaps"], f"turns are logged {logged.answer}")
    hits = found(lambda: memory.recall("when do we deploy?"))
    check(hits.gaps == hits.answer["gaps"] and hits.answer["used_mode"], f"what an answer says beside its hits {hits.answer}")
    check(hits[0]["key"] == "deploy_day", f"recalled {hits}")
    context = whole(lambda: memory.context("where do I live?", budget_tokens=500))
    check("Lyon" in context["text"] and context["tokens"] <= 500, f"context {context}")
    answer = whole(lambda: memory.ask("When do deploys happen?"))
    check(answer["known"] and "Tuesdays" in answer["quotes"][0]["text"], f"answered {answer}")
    unknown = whole(lambda: memory.ask("When was the bridge painted?"))
    check(not unknown["known"] and unknown["quotes"] == [], f"not known {unknown}")
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


async def waiting(memory):
    """What holds of every memory that is awaited, five notes of it at once."""
    notes = [memory.remember(f"Thing {number} stands on the shelf", key=f"thing{number}") for number in range(5)]
    check(all(stored["created"] for stored in await asyncio.gather(*notes)), "five at once")
    check(len(await memory.recall("shelf things", limit=3)) == 3, "three are found")
    check((await memory.context("shelf"))["tokens"] > 0, "a context")
    check((await memory.ask("what stands on the shelf?"))["recall_id"].startswith("rcl_"), "an answer has its account")
    check((await memory.forget("thing0"))["events"] == 1, "one is erased")
