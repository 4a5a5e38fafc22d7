"""The second reading of a tenth of the turns.

usage: twice.py sample DATA OUT          writes every tenth dialogue of DATA/LANGUAGE/*.txt, without labels, to OUT/LANGUAGE.txt
       twice.py agree DATA SECOND        compares DATA with the second reading in SECOND/LANGUAGE.txt, by language
"""
import collections, glob, hashlib, os, re, sys

import check


def dialogues(path):
    """The dialogues of a file, as lists of lines."""
    made = [[]]
    for line in open(path, encoding="utf-8"):
        if line.startswith("# "):
            made.append([])
        made[-1].append(line.rstrip("\n"))
    return [one for one in made if one]


def is_chosen(lines):
    return int(hashlib.sha256("\n".join(lines).encode()).hexdigest(), 16) % 10 == 0


def bare(lines):
    """The lines of turns and messages without labels and marks; what a turn ends is given, so that its relation can be judged."""
    for line in lines:
        if re.match(r"[cntf] ", line):
            continue
        if line.startswith("e "):
            yield "e ? | " + line.split(" | ", 1)[1]
        else:
            yield re.sub(r"⟦\w:|⟧", "", line)


def sample(data, out):
    os.makedirs(out, exist_ok=True)
    for folder in sorted(glob.glob(f"{data}/*/")):
        code, turns = os.path.basename(folder[:-1]), 0
        with open(f"{out}/{code}.txt", "w", encoding="utf-8") as file:
            for path in sorted(glob.glob(f"{folder}*.txt")):
                for lines in filter(is_chosen, dialogues(path)):
                    turns += sum(line.startswith("U: ") for line in lines)
                    file.write("\n".join(bare(lines)) + "\n")
        print(code, turns)


def agree(data, second):
    for path in sorted(glob.glob(f"{second}/*.txt")):
        code, first = os.path.basename(path)[:-4], {}
        for own in sorted(glob.glob(f"{data}/{code}/*.txt")):
            for turn in check.read(own, []):
                first[turn["prev"], turn["text"]] = turn
        counts = collections.defaultdict(lambda: [0, 0, 0])
        for turn in check.read(path, []):
            other = first.get((turn["prev"], turn["text"]))
            if other is None:
                continue
            counts["turns"][0] += 1
            of = {
                "claims": lambda t: {(c["s"], c["p"], c["o"].lower(), c.get("act")) for c in t["claims"]},
                "claims, where": lambda t: {c["o"].lower() for c in t["claims"]},
                "names": lambda t: {tuple(one) for one in t["entities"]},
                "feedback": lambda t: {act["act"] for act in t["acts"]},
                "holds": lambda t: {(act["act"], act["hold"].split(" ")[0]) for act in t["acts"] if act["hold"]},
                "words of others": lambda t: {place for start, end, _ in t["authors"] for place in range(start, end)},
                "relations": lambda t: {tuple(one) for one in t["ends"]},
            }
            for name, get in of.items():
                a, b = get(other), get(turn)
                counts[name][0] += len(a & b)
                counts[name][1] += len(a)
                counts[name][2] += len(b)
        figures = {name: f"F1 {2 * both / max(one + two, 1):.3f} of {one} and {two}" for name, (both, one, two) in counts.items() if name != "turns"}
        print(code, counts["turns"][0], "turns", figures)


if __name__ == "__main__":
    {"sample": sample, "agree": agree}[sys.argv[1]](*sys.argv[2:])
