"""Makes a tiny reader that has learned nothing, for the tests of the engine.

usage: tiny.py OUT_FILE
"""
import json, string, sys, tempfile

import numpy as np
import torch

import export, prepare, train

SIZE, HEADS, INNER, PLACES = 16, 2, 16, 320


def main(out):
    rng = np.random.default_rng(7)
    signs = [f"{mark}{sign}" for sign in string.ascii_lowercase for mark in ("", "▁")]
    pieces = [["<s>", 0.0], ["</s>", 0.0], ["<pad>", 0.0], ["<unk>", 0.0]] + [[piece, -float(at)] for at, piece in enumerate(signs + ["▁live", "ing"])]
    weights = lambda *shape: rng.normal(0, 0.3, shape).astype(np.float16)
    layer = {"query": (SIZE, SIZE), "key": (SIZE, SIZE), "value": (SIZE, SIZE), "out": (SIZE, SIZE), "up": (INNER, SIZE), "down": (SIZE, INNER)}
    base = {"word": weights(len(pieces), SIZE), "place": weights(PLACES, SIZE), "kind": weights(2, SIZE), "norm.weight": weights(SIZE), "norm.bias": weights(SIZE)}
    base |= {f"0.{name}.weight": weights(*shape) for name, shape in layer.items()} | {f"0.{name}.bias": weights(shape[0]) for name, shape in layer.items()}
    base |= {f"0.{name}.{part}": weights(SIZE) for name in ("norm", "last") for part in ("weight", "bias")}
    data = {"marks": [0, 1, 2], "mask": 3, "predicates": prepare.PREDICATES, "kinds": prepare.KINDS, "acts": prepare.ACTS, "feedback": list(prepare.FEEDBACK),
            "levels": prepare.LEVELS, "holds": prepare.HOLDS, "authors": prepare.AUTHORS, "relations": prepare.RELATIONS}
    job = {"heads": HEADS, "span": 8}
    torch.manual_seed(7)
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/base.npz", **base)
        json.dump({"kind": "e5", "pieces": pieces}, open(f"{folder}/base.pieces.json", "w"))
        json.dump(data, open(f"{folder}/data.json", "w"))
        reader = train.Reader(train.Encoder.load(f"{folder}/base.npz", HEADS), data, train.DEFAULTS | job)
        torch.nn.init.constant_(reader.score.bias, 0.0)     # so that it sees claims and names everywhere
        torch.save({"job": job, "state": reader.state_dict()}, f"{folder}/tiny.pt")
        export.main(f"{folder}/data.json", f"{folder}/base", f"{folder}/tiny.pt", out)


if __name__ == "__main__":
    main(*sys.argv[1:])
