"""Checks files of labelled turns and counts what they hold.

usage: check.py FILE…        prints each fault with its line, turns that are nearly the same, then the counts; exits with 1 if there is a fault
"""
import collections, itertools, json, re, sys

PREDICATES = """name pronouns birthday age comes_from lives_in timezone speaks contact works_at role works_on studies studies_at
skill uses setting partner relative knows pet member_of owns health allergic_to diet likes dislikes prefers favourite habit goal
plan did attended visited acquired achieved decided deadline""".split()
KINDS = "person organization location product work event animal".split()
TRAPS = "question hypothetical negation reported sarcasm wish imperative pasted about_others fiction".split()
FEEDBACK = "reject repair directive preference praise give_up".split()
RELATIONS = "ended changed holds retracted".split()
LEVELS = "casual mild very".split()
AUTHORS = "odpm"
ACTS = "end plan negative".split()


ALIKE = 0.6     # share of their runs of three words from which on two turns are nearly the same


class Fault(Exception):
    pass


def parts(line):
    return [part.strip() for part in line[2:].split(" | ")]


def author_spans(text):
    """Takes the marks out; returns the text and the spans of others as (start, end, author)."""
    out, spans, at, open_at = [], [], 0, None
    size = 0
    while at < len(text):
        if text[at] == "⟦":
            if open_at is not None or at + 2 >= len(text) or text[at + 1] not in AUTHORS or text[at + 2] != ":":
                raise Fault("a mark ⟦k: that is nested or of no known kind")
            open_at, author = size, text[at + 1]
            at += 3
        elif text[at] == "⟧":
            if open_at is None:
                raise Fault("⟧ without ⟦")
            spans.append((open_at, size, author))
            open_at = None
            at += 1
        else:
            out.append(text[at])
            size += 1
            at += 1
    if open_at is not None:
        raise Fault("⟦ without ⟧")
    return "".join(out), spans


def place(text, words, spans=()):
    """Where the words stand in what is the user's own, on the borders of words; else anywhere."""
    found = []
    at = text.find(words)
    while at >= 0 and words:
        before = text[at - 1] if at else " "
        after = text[at + len(words)] if at + len(words) < len(text) else " "
        inner = (before.isalnum() and words[0].isalnum() and before < "\u2e80") or (
            after.isalnum() and words[-1].isalnum() and after < "\u2e80"
        )
        if not inner and not any(start <= at < end for start, end, _ in spans):
            found.append((at, at + len(words)))
        at = text.find(words, at + 1)
    return found


def read(path, faults=None):
    """Returns the turns of a file. A fault is added to `faults` as (line, words), or raised if there is no such list."""
    turns, turn, dialogue, before, last = [], None, 0, "", None

    def fail(number, words):
        if faults is None:
            raise Fault(f"{path}:{number}: {words}")
        faults.append((number, words))

    def close():
        if turn:
            try:
                turns.append(finish(turn))
            except Fault as fault:
                fail(turn["line"], fault)

    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if not line.strip():
            continue
        if line.startswith(("# ", "U: ", "A: ")):
            close()
            turn = None
        try:
            if line.startswith("# "):
                dialogue, before, last = dialogue + 1, "", None
            elif line.startswith("A: "):
                before, last = line[3:], "A"
            elif line.startswith("U: "):
                turn = {"line": number, "dialogue": dialogue, "prev": before, "raw": line[3:],
                        "claims": [], "entities": [], "traps": [], "acts": [], "ends": []}
                before, last = "", "U"
            elif line.startswith("| ") or line == "|":
                if last == "A":
                    before += "\n" + line[2:]
                elif last == "U" and turn:
                    turn["raw"] += "\n" + line[2:]
                else:
                    raise Fault("a line that continues nothing")
            elif turn and re.match(r"[cntfe] ", line):
                last = None
                label(turn, line)
            else:
                raise Fault(f"what is this: {line[:50]}")
        except Fault as fault:
            fail(number, fault)
    close()
    return turns


def label(turn, line):
    kind, fields = line[0], parts(line)
    if kind == "c":
        if len(fields) < 3:
            raise Fault("a claim needs SUBJECT | PREDICATE | OBJECT")
        claim = {"s": fields[0], "p": fields[1], "o": fields[2], "x": 1, "w": 1}
        if not re.fullmatch(r"me|rel:\S.*|name:\S.*", fields[0]):
            raise Fault(f"no subject: {fields[0]}")
        if fields[1] not in PREDICATES:
            raise Fault(f"no predicate: {fields[1]}")
        for flag in fields[3:]:
            if flag in ACTS:
                claim["act"] = flag
            elif flag in ("x0", "w0"):
                claim[flag[0]] = 0
            elif flag.startswith("@") and len(flag) > 1:
                claim["time"] = flag[1:].strip()
            elif flag.startswith("=") and len(flag) > 1:
                claim["key"] = flag[1:].strip()
            else:
                raise Fault(f"no flag of a claim: {flag}")
        turn["claims"].append(claim)
    elif kind == "n":
        if len(fields) != 2 or fields[0] not in KINDS:
            raise Fault("a name needs KIND | NAME")
        turn["entities"].append([fields[1], fields[0]])
    elif kind == "t":
        if len(fields) != 2 or fields[0] not in TRAPS:
            raise Fault("a trap needs KIND | SENTENCE")
        turn["traps"].append(fields)
    elif kind == "f":
        fields += [""] * (4 - len(fields))
        act, value, level, hold = fields[:4]
        if act not in FEEDBACK or (level or "casual") not in LEVELS:
            raise Fault("feedback needs ACT | VALUE | LEVEL | HOLD")
        if hold and not re.fullmatch(r"answer|session|lasting|until \S.*", hold):
            raise Fault(f"no HOLD: {hold}")
        if act in ("directive", "preference") and not hold:
            raise Fault("a directive or preference needs HOLD")
        turn["acts"].append({"act": act, "value": value, "level": level or "casual", "hold": hold})
    else:
        if len(fields) != 2 or fields[0] not in RELATIONS:
            raise Fault("an end needs RELATION | STATEMENT")
        turn["ends"].append(fields)


def finish(turn):
    """Takes the marks out of a turn and compares its labels with its words."""
    turn["text"], turn["authors"] = author_spans(turn["raw"])
    text, spans = turn["text"], turn["authors"]
    for claim in turn["claims"]:
        if not place(text, claim["o"], spans):
            raise Fault(f"object is not in the user's own words: {claim['o']}")
        if "time" in claim and not place(text, claim["time"]):
            raise Fault(f"time is not in the turn: {claim['time']}")
    for name, _ in turn["entities"]:
        if not place(text, name):
            raise Fault(f"name is not in the turn: {name}")
    for _, sentence in turn["traps"]:
        if sentence not in text:
            raise Fault(f"trap is not in the turn: {sentence}")
    for act in turn["acts"]:
        if act["value"] and act["value"] not in text:
            raise Fault(f"value is not in the turn: {act['value']}")
        if act["hold"].startswith("until ") and act["hold"][6:] not in text:
            raise Fault(f"words of HOLD are not in the turn: {act['hold']}")
    return turn


def alike(turns):
    """Pairs of places whose turns share most of their runs of three words; `turns` are (place, text), turns below six words left out."""
    runs, by_run = {}, collections.defaultdict(list)
    for place, text in turns:
        words = re.findall(r"[\u4e00-\u9fff]|\w+", text.lower())
        if len(words) >= 6:
            runs[place] = {tuple(words[at:at + 3]) for at in range(len(words) - 2)}
            for run in runs[place]:
                by_run[run].append(place)
    shared = collections.Counter(pair for places in by_run.values() if len(places) < 40 for pair in itertools.combinations(places, 2))
    return [pair for pair, count in shared.items() if count >= ALIKE * len(runs[pair[0]] | runs[pair[1]])]


def main():
    count, counts, predicates, seen, turns = 0, collections.Counter(), collections.Counter(), {}, []
    for path in sys.argv[1:]:
        faults = []
        for turn in read(path, faults):
            counts["turns"] += 1
            kinds = ("claims", "entities", "traps", "acts", "ends")
            for kind in kinds:
                counts[kind] += len(turn[kind])
            counts["with words of others"] += bool(turn["authors"])
            counts["nothing labelled"] += not (turn["authors"] or any(turn[kind] for kind in kinds))
            predicates.update(claim["p"] for claim in turn["claims"])
            key = re.sub(r"\W+", " ", turn["text"].lower()).strip()
            if len(key) > 12 and key in seen:
                faults.append((turn["line"], f"the same turn stands at {seen[key]}"))
            seen[key] = f"{path}:{turn['line']}"
            turns.append((seen[key], turn["text"]))
        for number, words in faults:
            print(f"{path}:{number}: {words}")
        count += len(faults)
    for one, other in alike(turns):
        print(f"nearly the same: {one} and {other}")
    print(json.dumps(counts))
    print(json.dumps(dict(predicates.most_common())))
    sys.exit(bool(count))


if __name__ == "__main__":
    main()
