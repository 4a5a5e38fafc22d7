"""Checks how items of frameworks are kept in the log, without any framework: `items.py PROGRAM`."""

import base64
import json
import random
import warnings

from framework import arguments, check, erase, events_of, passed, raised, served

from mnemal import Client, Mnemal, MnemalConnectionError
from mnemal._frames import Said
from mnemal._items import ASSISTANT, USER, Entry, Items, tool_call


class Between(Client):
    """A client that does `act` once, behind a preview of what would be erased, or instead of an erase."""

    after_preview = instead = None

    def _once(self, name):
        act = getattr(self, name)
        setattr(self, name, None)
        return act() if act else None

    def forget(self, space, selector=None, **more):
        if not more.get("dry_run"):
            self._once("instead")
        answer = super().forget(space, selector=selector, **more)
        if more.get("dry_run"):
            self._once("after_preview")
        return answer

    def event_forget(self, *given, **more):
        self._once("instead")
        return super().event_forget(*given, **more)


def no_answer():
    raise MnemalConnectionError("timed_out", "no answer", "try again")


def entry(text, fields=USER, **more):
    return Entry({"text": text}, [Said(("text",), fields)], **more)


def warned(act):
    """Returns the warnings that an act tells."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        act()
    return [str(one.message) for one in told]


def living(items):
    return [one["content"] for one in items.events() if one.get("content")]


def overlapping():
    """Two that erase the same at once both do so, whoever comes first."""
    slow = Items(Mnemal("overlapping", client=Between()), "mark", "s")
    quick = Items(Mnemal("overlapping"), "mark", "s")
    for act in (quick.clear, lambda: quick.take(quick.read()[0])):
        slow.add(*(entry(f"{n} boats") for n in range(3)))
        slow.memory.client.after_preview = act
        slow.clear()
        check(slow.memory.client.after_preview is None and not living(slow), f"nothing is left {living(slow)}")


def lost():
    """Words that are not kept are told of, also under a key; once, and not where they were kept and erased later."""
    items = Items(Mnemal("lost"), "mark", "s")
    words = "My locker code is seven four one one"
    items.add(entry(words))
    erase(items.memory, words, "s")
    again = entry(words, ASSISTANT, key="again")
    told = warned(lambda: items.add(again))
    check(len(told) == 1 and "come back as [forgotten]" in told[0], f"a warning tells of it {told}")
    check(not warned(lambda: items.add(again)), "once")
    several = [entry("The boat is red", key="one"), entry(words, ASSISTANT, key="two"), entry(words, ASSISTANT), entry("So be it", key="3")]
    told = warned(lambda: items.add(*several))
    check(len(told) == 2, f"of each {told}")
    items.add(kept := entry("The harbor lies in the north", ASSISTANT, key="kept"))
    erase(items.memory, "The harbor lies in the north", "s")
    check(not warned(lambda: items.add(kept)), "what was kept and is erased is not stored again")


def interrupted():
    """What was taken by somebody who was interrupted is erased by whoever takes the next, or finds nothing to take."""
    for user in (None, "ana"):
        for texts in (["one boat"], ["two boats", "x" * 40_000]):
            items = Items(Mnemal(f"interrupted-{user}", client=Between()), "mark", f"s{len(texts)}", user)
            other = Items(Mnemal(items.memory.space), "mark", items.session, user)
            for how in ("take", "erase_taken", "clear"):
                items.add(*(entry(text) for text in ("stays", *texts)))
                gone = items.read()[-1]
                items.memory.client.instead = no_answer
                raised(MnemalConnectionError, lambda: items.take(gone))
                left = other.read()
                check(gone.id not in [one.id for one in left], f"nobody else sees it {left}")
                check("".join(living(other)).endswith(gone.value["text"]), "but its words are there still")
                check(not other.take(gone), "and nobody else takes it")
                other.read()
                act = {"take": lambda: other.take(left[-1]), "erase_taken": other.erase_taken, "clear": other.clear}[how]
                act()
                expected = {"take": left[:-1], "erase_taken": left, "clear": []}[how]
                check(living(other) == [one.value["text"] for one in expected], f"{how}: the words are gone {living(other)}")
                other.clear()


def encrypted():
    """What is encrypted comes back as it is, and other secrets are cut still."""
    items, key = Items(Mnemal("encrypted"), "mark", "s"), "AKIAIOSFODNN7EXAMPLE"
    token = base64.urlsafe_b64encode(b"\x80\0\0\0\0\x69\x4a\x12\x7f" + random.Random(3).randbytes(600)).decode()
    value = {"encrypted": f"{token[:200]}-{key}-{token[200:]}", "other": f"{token[8:200]}-{key}-{token[200:]}", "bare": token}
    items.add(Entry(value))
    [got] = [one.value for one in items.read()]
    check(token.startswith("gAAAAA") and got["bare"] == token, "what is encrypted is whole")
    check(got["encrypted"] == value["encrypted"], f"also where it looks like a secret by chance {got['encrypted']}")
    check(key not in got["other"], f"what only looks so is read {got['other']}")


def sentences():
    """Sentences that were erased are cut out of what repeats them, in words, in JSON and in texts that nobody says."""
    items, words = Items(Mnemal("sentences"), "mark", "s"), "My locker code is seven four one one."
    items.add(entry(words))
    erase(items.memory, words, "s")
    around = f"Let me see. {words} It is told."
    value = {
        "said": around, "asked": json.dumps({"note": around, "to": [words]}), "object": {"note": around},
        "reasoning": [{"text": around}], "list": json.dumps([around]),
    }
    fields = tool_call("note")
    said = [Said(("said",), ASSISTANT), Said(("asked",), fields), Said(("object",), fields)]
    check(not warned(lambda: items.add(Entry(value, said))), "what stands around it is kept")
    [got] = [one.value for one in items.read()]
    check("seven four" not in str(got) and str(got).count("It is told.") == 5, f"each sentence is gone, and no more {got}")
    check("seven four" not in str(events_of(items.memory, "s")), "from the log, too")


def main():
    given = arguments(__doc__)
    with served(given.program):
        for part in (overlapping, lost, interrupted, encrypted, sentences):
            part()
    print(f"items: {len(passed)} checks passed")


if __name__ == "__main__":
    main()
