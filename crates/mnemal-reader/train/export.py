"""Writes a trained reader as one file that the engine reads.

usage: export.py DATA.json BASE NAME.pt OUT_FILE      BASE is the path of BASE.npz without its ending
The file: "MNRD2\\n", the length of the header (u32), the header as JSON, then the sections that it names: `pieces` (a piece
and its score a line), `words` (for each piece a scale as f32, a byte with its share for each 32 dimensions, and the values of
4 bits), `read` and `claims` (ONNX).
"""
import hashlib, json, os, struct, sys, tempfile

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import train

LONGEST = 312       # pieces of a turn, of the end of the message before, and three marks, rounded up


class Read(nn.Module):
    """From the vectors of pieces to scores of spans, their predicates or kinds, feedback, authors and relations."""

    def __init__(self, reader):
        super().__init__()
        self.reader = reader

    def forward(self, word, kind, shape, lists, starts, ends, turn_mask):
        r, e = self.reader, self.reader.encoder
        x = e.norm(word + e.place.weight[:LONGEST][:word.shape[1]][None] + e.kind(kind)) + r.shape(shape) + r.lists(lists)
        for layer in e.layers:
            s, d = x.shape[1], e.hidden
            q, k, v = (t.view(1, s, layer.heads, d // layer.heads).transpose(1, 2) for t in layer.qkv(x).chunk(3, -1))
            a = (torch.softmax(q @ k.transpose(2, 3) / (d // layer.heads) ** 0.5, -1) @ v).transpose(1, 2).reshape(1, s, d)
            x = layer.norm(x + layer.out(a))
            x = layer.last(x + layer.down(F.gelu(layer.up(x))))
        h = x[0]
        first, final = h.index_select(0, starts), h.index_select(0, ends)
        a, b = r.first(first) + r.whole(h[:1]), r.final(final)
        places = torch.arange(a.shape[0])[:, None] + torch.arange(r.wide)[None]
        b = torch.cat([b, b.new_zeros(r.wide, b.shape[1])]).index_select(0, places.flatten()).view(a.shape[0], r.wide, -1)
        z = F.gelu(r.span_norm(a[:, None] + b + r.width.weight[None]))
        batch = {"turn_mask": turn_mask, "mask": torch.ones_like(turn_mask)}
        said, level, hold, relation = r.judge(x, batch)
        return h, r.score(z), r.sort(z), said[0], level[0], hold[0], relation[0], r.author(first)


class Claims(nn.Module):
    """What belongs to claims whose first and last pieces and predicates are known."""

    def __init__(self, reader):
        super().__init__()
        self.reader = reader

    def forward(self, h, first, final, predicate, word_first, word_final):
        r = self.reader
        own = torch.cat([h.index_select(0, first), h.index_select(0, final), h[:1].expand(first.shape[0], -1), r.predicate(predicate)], -1)
        f = F.gelu(r.join_norm(r.join(own)))
        one = r.ask_first(f) @ r.key_first(h.index_select(0, word_first)).T / h.shape[1] ** 0.5
        two = r.ask_final(f) @ r.key_final(h.index_select(0, word_final)).T / h.shape[1] ** 0.5
        return r.act(f), r.subject(f), r.worth(f)[:, 0], one, two


def onnx_of(module, sample, inputs, outputs, axes):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder:
        torch.onnx.export(module, sample, f"{folder}/a.onnx", input_names=inputs, output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False)
        quantize_dynamic(f"{folder}/a.onnx", f"{folder}/b.onnx", weight_type=QuantType.QInt8, per_channel=True, extra_options={"MatMulConstBOnly": True})
        return open(f"{folder}/b.onnx", "rb").read()


def packed(row):
    """A vector with 4 bits a value, to -7..7 of the largest of each 32."""
    size, group = len(row), 32
    groups = np.pad(row, (0, -size % group)).reshape(-1, group)
    most = np.abs(groups).max(1)
    scale = max(most.max() / 7, 1e-9)
    shares = np.ceil(most / 7 / scale * 255).clip(1, 255)
    values = np.rint(groups / (shares[:, None] / 255 * scale)).clip(-7, 7).astype(np.int64) + 8
    values = np.pad(values.reshape(-1)[:size], (0, size % 2), constant_values=8)
    return struct.pack("<f", scale) + shares.astype(np.uint8).tobytes() + (values[::2] | values[1::2] << 4).astype(np.uint8).tobytes()


def main(data, base, model, out):
    saved = torch.load(model, map_location="cpu")
    job = train.DEFAULTS | saved["job"]
    data, pieces = json.load(open(data)), json.load(open(f"{base}.pieces.json"))
    reader = train.Reader(train.Encoder.load(f"{base}.npz", job["heads"]), data, job)
    reader.load_state_dict({name: value.float() if value.is_floating_point() else value for name, value in saved["state"].items()})
    reader.eval()
    i = lambda *values: torch.tensor(values)
    size, n = reader.encoder.hidden, 9
    sample = (torch.randn(1, n, size), torch.ones(1, n, dtype=torch.long), torch.ones(1, n, dtype=torch.long), torch.zeros(1, n, 8), i(1, 3, 4), i(2, 3, 6), torch.ones(1, n))
    names = ["word", "kind", "shape", "lists", "starts", "ends", "turn_mask"]
    axes = {name: {1: "pieces"} for name in ("word", "kind", "shape", "lists", "turn_mask")} | {"starts": {0: "words"}, "ends": {0: "words"}}
    read = onnx_of(Read(reader), sample, names, ["h", "spans", "sorts", "feedback", "level", "hold", "relation", "author"], axes)
    sample = (torch.randn(n, size), i(1, 2), i(1, 3), i(0, 4), i(1, 2, 3), i(1, 2, 4))
    names = ["h", "first", "final", "predicate", "word_first", "word_final"]
    axes = {"h": {0: "pieces"}, "first": {0: "claims"}, "final": {0: "claims"}, "predicate": {0: "claims"}, "word_first": {0: "words"}, "word_final": {0: "words"}}
    claims = onnx_of(Claims(reader), sample, names, ["act", "subject", "worth", "one", "two"], axes)
    rows = b"".join(packed(row) for row in reader.encoder.word.weight.detach().numpy())
    lines = "\n".join(f"{piece[0]}\t{piece[1]}" if pieces["kind"] == "e5" else piece for piece in pieces["pieces"])
    sections = {"pieces": lines.encode(), "words": rows, "read": read, "claims": claims}
    header = {"tokenizer": pieces["kind"], "marks": data["marks"], "size": size, "wide": reader.wide} | {name: data[name] for name in ("predicates", "kinds", "acts", "feedback", "levels", "holds", "authors", "relations")}
    header["sections"] = {name: len(value) for name, value in sections.items()}
    header = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    with open(out, "wb") as file:
        file.write(b"MNRD2\n" + struct.pack("<I", len(header)) + header)
        for value in sections.values():
            file.write(value)
    print(out, {name: f"{len(value) / 1e6:.2f} MB" for name, value in sections.items()}, f"{os.path.getsize(out) / 1e6:.2f} MB", hashlib.sha256(open(out, "rb").read()).hexdigest()[:16])


if __name__ == "__main__":
    main(*sys.argv[1:])
