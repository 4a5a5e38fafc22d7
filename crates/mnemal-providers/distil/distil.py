"""Distils the static table of mnemal-providers from a sentence transformer.

    python distil.py distil --teacher model.onnx --vocab vocab.txt --wordnet DIR --out TABLE [--dims 128]
    python distil.py verify --teacher model.onnx --vocab vocab.txt --wordnet DIR --table TABLE

`distil` writes the table.
`verify` recomputes the rows from the pinned teacher and compares a sample of 500 of them, before their
quantisation, with the rows of an existing table: each value must lie within half a quantisation step and 1e-4.
Inputs whose SHA-256 is not the pinned one are refused.
"""

import argparse
import hashlib
import struct
import sys
from pathlib import Path

import blake3
import numpy as np

# Source: the int8 ONNX export of sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0).
TEACHER_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
# Source: vocab.txt of BERT base uncased (Apache-2.0), 231,508 bytes.
VOCAB_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
# Source: the database files of WordNet 3.0.
WORDNET_SHA256 = {
    "data.noun": "fea17d2f9656611334eac790e5d69e47645fa180c4aa481fb4cd9b3520754ca2",
    "data.verb": "adcf43e35b581e8036d8b5a52d63d9cd3d3b4870b2720d3c03c799df44777bc2",
    "data.adj": "c89120dfc1f046ddff4a631bf9b7e9fa1a36b5e86565a23bf82dbe14f30b88a7",
    "data.adv": "444a63bf3955080ab7524f5079cfc07ff9bc682cb98bdb1db73b0fb9829f1139",
}
# Source: WordNet 3.0 has 117,659 synsets, each with one gloss.
GLOSSES = 117_659
# Source: ids of [CLS] and [SEP] in the vocabulary.
CLS, SEP = 101, 102
# Source: Arora, Liang and Ma, "A simple but tough-to-beat baseline for sentence embeddings" (2017), a = 1e-3.
SIF_A = 1e-3
# Source: 128 equals 256 dimensions once fused with lexical scores, at half the size.
DIMENSIONS = 128
# Source: the English stop words that recall drops from queries.
STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with what when where who whom which why how did do does has have had her his him he she i you "
    "we me my your our us am were been being can could would should about from"
).split()
# Source: two runs on one machine agree exactly; another teacher or another constant moves rows by 1e-2 and more.
TOLERANCE = 1e-4
# Source: enough rows that a changed recipe cannot hide, few enough to print.
SAMPLE = 500

MAGIC = b"MNEMTABL"
FORMAT = 1
MODEL_VERSION = 1
# Magic, format u16, dimensions u16, rows u32, model version u32, slots u32, bytes of text u32, longest piece u32.
HEADER = "<8sHHIIIII"


def main() -> None:
    args = arguments()
    rows = recompute(args)
    if args.command == "distil":
        table = build(args.pieces, *quantise(rows))
        args.out.write_bytes(table)
        print(f"{args.out}: {len(table)} bytes, sha256 {hashlib.sha256(table).hexdigest()}")
    else:
        verify(rows, args.table.read_bytes())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["distil", "verify"])
    parser.add_argument("--teacher", type=Path, required=True, help="model.onnx of the teacher")
    parser.add_argument("--vocab", type=Path, required=True, help="vocab.txt, one piece a line")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder with data.noun and its like")
    parser.add_argument("--dims", type=int, default=DIMENSIONS, help="dimensions to keep; another number is another model")
    parser.add_argument("--out", type=Path, help="table to write (distil)")
    parser.add_argument("--table", type=Path, help="table to compare (verify)")
    args = parser.parse_args()
    if (args.out if args.command == "distil" else args.table) is None:
        parser.error("distil needs --out, verify needs --table")
    if args.command == "verify":
        args.dims = struct.unpack(HEADER, args.table.read_bytes()[: struct.calcsize(HEADER)])[2]
    args.pieces = pinned(args.vocab, VOCAB_SHA256).decode().splitlines()
    return args


def pinned(path: Path, sha256: str) -> bytes:
    """Returns the bytes of a file, or ends the program if they are not the pinned ones."""
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        sys.exit(f"{path}: sha256 is {found}, the recipe needs {sha256}")
    return content


def recompute(args: argparse.Namespace) -> np.ndarray:
    """Returns the rows before quantisation, `pieces × dims` in f32."""
    excluded = np.array([piece.startswith("[") and piece.endswith("]") and len(piece) > 2 for piece in args.pieces])
    assert excluded.sum() == 999, "five special pieces and 994 unused ones"
    rows = principal_components(forward(args.teacher, len(args.pieces)), excluded, args.dims)
    counts = gloss_counts(args.vocab, args.wordnet, len(args.pieces))
    probability = (counts + 1) / (counts.sum() + len(args.pieces))
    rows *= (SIF_A / (SIF_A + probability))[:, None]
    rows[excluded] = 0
    rows[[args.pieces.index(word) for word in STOP_WORDS]] = 0
    return rows.astype(np.float32)


def forward(teacher: Path, n_pieces: int) -> np.ndarray:
    """Averages the last hidden state of `[CLS] piece [SEP]` over its three positions, one piece a call.

    One piece a call, because the int8 teacher scales its activations by the whole batch.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    model = pinned(teacher, TEACHER_SHA256)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    mask, types = np.ones((1, 3), np.int64), np.zeros((1, 3), np.int64)
    out = np.zeros((n_pieces, 384), np.float64)
    for piece in range(n_pieces):
        ids = np.array([[CLS, piece, SEP]], np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        out[piece] = session.run(None, feed)[0][0].mean(axis=0)
    return out


def principal_components(hidden: np.ndarray, excluded: np.ndarray, dims: int) -> np.ndarray:
    """Centres the rows that count and projects all on their first right singular vectors."""
    kept = hidden[~excluded]
    mean = kept.mean(axis=0)
    _, values, right = np.linalg.svd(kept - mean, full_matrices=False)
    # A singular vector is defined up to its sign; the largest component decides it.
    largest = np.abs(right).argmax(axis=1)
    right *= np.sign(right[np.arange(len(right)), largest])[:, None]
    share = (values[:dims] ** 2).sum() / (values**2).sum()
    print(f"{len(kept)} rows, {dims} dimensions keep {share:.1%} of the variance")
    return (hidden - mean) @ right[:dims].T


def gloss_counts(vocab: Path, wordnet: Path, n_pieces: int) -> np.ndarray:
    """Counts the pieces of all glosses."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(str(vocab), lowercase=True)
    glosses = []
    for name, sha256 in WORDNET_SHA256.items():
        for line in pinned(wordnet / name, sha256).decode("latin-1").splitlines():
            if not line.startswith("  ") and "| " in line:
                glosses.append(line.split("| ", 1)[1].strip())
    assert len(glosses) == GLOSSES, len(glosses)
    counts = np.zeros(n_pieces, np.int64)
    for encoding in tokenizer.encode_batch(glosses, add_special_tokens=False):
        np.add.at(counts, encoding.ids, 1)
    print(f"{counts.sum()} pieces in {len(glosses)} glosses")
    return counts


def quantise(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns one f32 scale per row, and the rows in int8."""
    scales = (np.abs(rows).max(axis=1) / 127).astype("<f4")
    divisor = np.where(scales > 0, scales, 1)[:, None]
    return scales, np.round(rows / divisor).astype(np.int8)


def build(pieces: list[str], scales: np.ndarray, rows: np.ndarray) -> bytes:
    """Lays out the file: header, BLAKE3 of all the rest, scales, rows, offsets, text, hash slots."""
    text = [piece.encode() for piece in pieces]
    offsets = np.cumsum([0] + [len(piece) for piece in text]).astype("<u4")
    slots = hash_slots(text)
    body = scales.tobytes() + rows.tobytes() + offsets.tobytes() + b"".join(text) + slots.tobytes()
    longest = max(len(piece.removeprefix(b"##")) for piece in text)
    header = struct.pack(
        HEADER, MAGIC, FORMAT, rows.shape[1], len(rows), MODEL_VERSION, len(slots), int(offsets[-1]), longest
    )
    return header + blake3.blake3(header + body).digest() + body


def hash_slots(text: list[bytes]) -> np.ndarray:
    """Places each piece id plus one into an open-addressing table with linear probing; 0 is an empty slot."""
    size = 1 << (2 * len(text) - 1).bit_length()
    slots = np.zeros(size, "<u4")
    for piece, spelling in enumerate(text):
        at = fnv1a(spelling) & (size - 1)
        while slots[at]:
            at = (at + 1) & (size - 1)
        slots[at] = piece + 1
    return slots


def fnv1a(text: bytes) -> int:
    """FNV-1a, 32 bit, folded once so that the low bits see the high ones."""
    state = 0x811C9DC5
    for byte in text:
        state = (state ^ byte) * 0x01000193 & 0xFFFFFFFF
    return state ^ state >> 15


def verify(rows: np.ndarray, table: bytes) -> None:
    """Compares a sample of the rows that are not zero with those of a table."""
    size = struct.calcsize(HEADER)
    _, _, dims, n_rows, *_ = struct.unpack(HEADER, table[:size])
    assert blake3.blake3(table[:size] + table[size + 32 :]).digest() == table[size : size + 32], "damaged table"
    scales = np.frombuffer(table, "<f4", n_rows, size + 32)
    stored = np.frombuffer(table, np.int8, n_rows * dims, size + 32 + 4 * n_rows).reshape(n_rows, dims)
    candidates = np.flatnonzero(np.abs(rows).max(axis=1))
    sample = np.random.default_rng(0).choice(candidates, SAMPLE, replace=False)
    distance = np.abs(stored[sample] * scales[sample, None] - rows[sample])
    excess = max(0.0, float((distance - scales[sample, None] / 2).max()))
    print(f"{SAMPLE} rows: at most {excess:.1e} beyond half a quantisation step (allowed {TOLERANCE:.0e})")
    if excess > TOLERANCE:
        sys.exit("the table is not what the recipe makes")


if __name__ == "__main__":
    main()
