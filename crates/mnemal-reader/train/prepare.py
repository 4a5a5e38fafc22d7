"""Makes the training file of the reader: words, pieces, features, and labels as places of words.

usage: prepare.py PROJECT BASE.pieces.json OUT.json
Training and validation come from the reader's own turns (`data/LANGUAGE/*.txt` but not `held-*`) and from the halves of
the gold sets that are for development; a fifth of the dialogues is for validation. `held` rows carry no label.
"""
import glob, hashlib, json, os, random, re, sys

import check, text

PREDICATES, KINDS, ACTS = check.PREDICATES, check.KINDS, ["assert", "end", "plan", "negative"]
FEEDBACK = {"corrections": ("reject", "repair"), "directives": ("directive",), "preferences": ("preference",), "praise": ("praise",), "give_up": ("give_up",)}
LEVELS, HOLDS = check.LEVELS, ["answer", "session", "until", "lasting"]
AUTHORS = ["own", "o", "d", "p", "m"]
RELATIONS = ["unrelated", "ended", "changed", "holds", "retracted"]
LONGEST, BEFORE, WIDEST = 240, 64, 12     # pieces of a turn, of the end of the message before; words of an object
VALIDATION = 4                             # of 20 parts of the dialogues


def part(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 20


class Maker:
    def __init__(self, project, base):
        base = json.load(open(base, encoding="utf-8"))
        self.tokenizer = text.Unigram([tuple(piece) for piece in base["pieces"]], 3) if base["kind"] == "e5" else text.WordPiece(base["pieces"], base["pieces"].index("[UNK]"))
        marks = ["<s>", "</s>", "<pad>"] if base["kind"] == "e5" else ["[CLS]", "[SEP]", "[PAD]"]
        names = [piece if isinstance(piece, str) else piece[0] for piece in base["pieces"]]
        self.marks = [names.index(mark) for mark in marks]
        self.mask = names.index("[MASK]") if "[MASK]" in names else 3
        self.pieces = len(names)
        self.lists = text.Lists(f"{project}/crates/mnemal-extract/packs")
        self.lost = self.claims = 0

    def encode(self, words_of, longest, from_end=False):
        places = text.words(words_of)
        ids = [self.tokenizer.pieces(words_of, *place) for place in places]
        shape, bits = text.shapes(words_of, places), self.lists.of(words_of, places)
        sizes, first, last = [len(one) for one in ids], 0, len(ids)
        total = sum(sizes)
        while total > longest:
            at = first if from_end else last - 1
            total -= sizes[at]
            first, last = (first + 1, last) if from_end else (first, last - 1)
        cut = slice(first, last)
        return {"ids": ids[cut], "at": places[cut], "shape": shape[cut], "list": bits[cut]}

    def places(self, words_of, at, wanted):
        """Windows of words that are exactly the wanted text."""
        starts, ends = {start: n for n, (start, _) in enumerate(at)}, {end: n for n, (_, end) in enumerate(at)}
        found, place = [], words_of.find(wanted)
        while place >= 0 and wanted:
            if place in starts and place + len(wanted) in ends:
                found.append([starts[place], ends[place + len(wanted)]])
            place = words_of.find(wanted, place + 1)
        return found

    def window(self, words_of, at, wanted):
        """The window of an object: exact, in other letters, or from its first word to its last."""
        found = self.places(words_of, at, wanted) or self.places(words_of.lower(), at, wanted.lower())
        if found:
            return found[0]
        own = [wanted[start:end].lower() for start, end in text.words(wanted)]
        said = [words_of[start:end].lower() for start, end in at]
        best = None
        for first in range(len(said)):
            if own and said[first] == own[0]:
                place = first
                for word in own[1:]:
                    place = next((p for p in range(place + 1, min(len(said), first + WIDEST)) if said[p] == word), None)
                    if place is None:
                        break
                if place is not None and (best is None or place - first < best[1] - best[0]):
                    best = [first, place]
        return best

    def role(self, said, wanted):
        own = wanted.lower().split()
        ends = {own[-1], own[-1] + "s", own[-1] + "es", own[-1][:-1] + "ies"}
        ends.add({"child": "children", "wife": "wives", "person": "people", "man": "men", "woman": "women"}.get(own[-1], own[-1]))
        size = len(own)
        return [[at, at + size - 1] for at in range(len(said) - size + 1) if said[at:at + size - 1] == own[:-1] and said[at + size - 1] in ends]

    def subject(self, words_of, at, before, before_at, subject, object_start):
        """The class (me, role, name), and the window that names the subject, counted from the turn: below 0 stands the message before."""
        if subject == "me":
            return 0, None
        kind, wanted = subject.split(":", 1)
        one = lambda t, places: self.role([t[a:b].lower() for a, b in places], wanted) if kind == "rel" else self.places(t, places, wanted) or self.places(t.lower(), places, wanted.lower())
        kind, found = 1 if kind == "rel" else 2, one(words_of, at)
        if found:
            return kind, min(found, key=lambda place: (place[0] > object_start, abs(place[0] - object_start)))
        found = one(before, before_at)
        return kind, [place - len(before_at) for place in found[-1]] if found else None

    def row(self, source, name, split, words_of, before, label):
        """A row of a turn; what `label` lacks is not known."""
        turn, said = self.encode(words_of, LONGEST), self.encode(before, BEFORE, True)
        row = {"id": name, "set": source, "split": split, "turn": turn, "before": said}
        if "claims" in label:
            row["claims"] = []
            for one in label["claims"]:
                self.claims += 1
                window = self.window(words_of, turn["at"], one["o"])
                if window is None or window[1] - window[0] >= WIDEST:
                    self.lost += 1
                    continue
                kind, place = self.subject(words_of, turn["at"], before, said["at"], one["s"], window[0])
                time = self.places(words_of, turn["at"], one["time"])[:1] if one.get("time") else []
                row["claims"].append([PREDICATES.index(one["p"]), *window, ACTS.index(one.get("act", "assert")), kind, place, int(one.get("w", 1)), time[0] if time else None])
        if "entities" in label:
            row["names"] = [[KINDS.index(kind), *place] for one, kind in label["entities"] for place in self.places(words_of, turn["at"], one) if place[1] - place[0] < WIDEST]
        if "acts" in label:
            acts = {act["act"] for act in label["acts"]}
            levels = [LEVELS.index(act["level"]) for act in label["acts"] if act.get("level") in LEVELS]
            holds = [HOLDS.index(act["hold"].split(" ")[0]) for act in label["acts"] if act.get("hold")]
            row["acts"] = [int(any(act in acts for act in of)) for of in FEEDBACK.values()]
            row["level"], row["hold"] = max(levels, default=-1), holds[0] if holds else -1
        if "authors" in label:
            row["author"] = [next((AUTHORS.index(kind) for start, end, kind in label["authors"] if start <= place < end), 0) for place, _ in turn["at"]]
        return row

    def pool(self, packs, name):
        every = [word.strip() for word in open(f"{packs}/names/{name}.txt", encoding="utf-8") if re.fullmatch(r"[A-Za-z]{3,14}", word.strip())]
        made = []
        for word in random.Random(7).sample(every, min(2500, len(every))):
            one = self.encode(word[:1].upper() + word[1:], 20)
            made.append([one["ids"][0], 2 if one["shape"][0] == 6 else one["shape"][0], one["list"][0]])
        return made


def gold_rows(maker, root):
    lines = lambda path: [json.loads(line) for line in open(path, encoding="utf-8")] if os.path.exists(path) else []
    for name in ("practice/dev", "g1/dev", "speech/dev", "g1/held", "unseen/held", "speech/held"):
        is_held = name.endswith("held")
        labels = {} if is_held else {line["id"]: line for line in lines(f"{root}/{name}.labels.jsonl")}
        for turn in lines(f"{root}/{name}.turns.jsonl"):
            split = "held" if is_held else "val" if part(turn["dialogue"]) < VALIDATION else "train"
            label = {} if is_held else {"claims": labels[turn["id"]].get("claims", []), "entities": labels[turn["id"]].get("entities", [])}
            yield maker.row(name, turn["id"], split, turn["text"], turn.get("prev") or "", label)
    for half in ("dev", "held"):
        for turn in lines(f"{root}/g2/{half}.jsonl"):
            split = "held" if half == "held" else "val" if part(turn["id"]) < VALIDATION else "train"
            yield maker.row(f"g2/{half}", turn["id"], split, turn["text"], turn.get("prev") or "", {} if half == "held" else {"claims": []})
    for name in ("g4/dev", "practice-feedback/dev", "g4/held", "unseen-feedback/held"):
        is_held = name.endswith("held")
        labels = {} if is_held else {line["id"]: line for line in lines(f"{root}/{name}.labels.jsonl")}
        for turn in lines(f"{root}/{name}.turns.jsonl"):
            split = "held" if is_held else "val" if part(turn["dialogue"]) < VALIDATION else "train"
            label = {} if is_held else {"acts": [act for act in labels[turn["id"]]["acts"] if act["act"] != "none"]}
            yield maker.row(name, turn["id"], split, turn["user"], turn.get("assistant") or "", label)
    for code in ("de", "es", "fr", "pt", "zh"):
        for half in ("dev", "held"):
            labels = {line["id"]: line for line in lines(f"{root}/g5/{code}.{half}.labels.jsonl")}
            for turn in lines(f"{root}/g5/{code}.{half}.turns.jsonl"):
                label = labels.get(turn["id"], {})
                label = {} if half == "held" else {"claims": label.get("claims", []), "entities": label.get("entities", [])}
                yield maker.row(f"g5/{code}.{half}", turn["id"], "held" if half == "held" else "train", turn["text"], turn.get("prev") or "", label)


def own_rows(maker, folder):
    """The reader's own turns; each statement that a turn ends or leaves is a row of its own, and beside it a statement of another turn."""
    ends = []
    for path in sorted(glob.glob(f"{folder}/*/*.txt")):
        source = os.path.relpath(path, folder).removesuffix(".txt")
        for turn in check.read(path, []):
            split = "val" if part(f"{source} {turn['dialogue'] // 2}") < VALIDATION else "train"
            if source.endswith("/measure"):     # of these every second dialogue is held back
                split = "held" if turn["dialogue"] % 2 else "val"
            name = f"{source}:{turn['line']}"
            yield maker.row(source, name, split, turn["text"], turn["prev"], {} if split == "held" else turn)
            for relation, statement in turn["ends"]:
                if split != "held":
                    ends.append((source, name, split, turn["text"], statement, relation))
    rng = random.Random(3)
    for source, name, split, words_of, statement, relation in ends:
        yield maker.row(source, name, split, words_of, statement, {}) | {"relation": RELATIONS.index(relation)}
        # Of the same file, so that language and manner do not give it away.
        others = [end[4] for end in ends if end[0] == source and end[4] != statement and end[2] == split]
        if others and rng.random() < 0.7:
            yield maker.row(source, name, split, words_of, rng.choice(others), {}) | {"relation": 0}


def main(project, base, out):
    maker = Maker(project, base)
    rows = list(gold_rows(maker, f"{project}/crates/mnemal-extract/gold")) + list(own_rows(maker, f"{project}/crates/mnemal-reader/data"))
    packs = f"{project}/crates/mnemal-extract/packs"
    pools = {KINDS.index(kind): maker.pool(packs, name) for kind, name in (("person", "first"), ("location", "places"), ("organization", "organizations"), ("product", "products"))}
    json.dump({"rows": rows, "pools": pools, "marks": maker.marks, "mask": maker.mask, "pieces": maker.pieces, "predicates": PREDICATES, "kinds": KINDS, "acts": ACTS,
               "feedback": list(FEEDBACK), "levels": LEVELS, "holds": HOLDS, "authors": AUTHORS, "relations": RELATIONS}, open(out, "w"), separators=(",", ":"))
    count = lambda key, split: sum(key in row for row in rows if row["split"] == split)
    for split in ("train", "val"):
        print(split, sum(row["split"] == split for row in rows), {key: count(key, split) for key in ("claims", "names", "acts", "author", "relation")})
    print("claims", maker.claims, "whose object is not found", maker.lost, "mean pieces of a turn", sum(len(i) for row in rows for i in row["turn"]["ids"]) / len(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
