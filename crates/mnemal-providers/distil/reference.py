"""Reference answers for the tests of mnemal-providers, by the `tokenizers` package and numpy.

    python reference.py fixture --vocab vocab.txt --table TABLE --out ../tests/fixtures
    python reference.py strings --vocab vocab.txt [--count 10000]

`fixture` writes the small committed files; `strings` prints generated strings with their pieces for a long comparison:
one JSON array `[text, [piece or null, …]]` a line.
"""

import argparse
import json
import random
import struct
import unicodedata
from pathlib import Path

import numpy as np

HAND_WRITTEN = [
    "", " ", "\t\n", "the", "Paris", "I moved to Lisbon in March 2021.", "naïve café RÉSUMÉ Ångström", "don't stop, Mel's dog",
    "C++ and C# and GB/s", "foo_bar v1.2.3 x.io", "20.04 LTS (focal)", "user@example.org wrote: \"hi\"", "unaffordability",
    "antidisestablishmentarianism", "x" * 100, "x" * 101, "日本語のテキスト", "我喜欢喝咖啡", "한국어 문장입니다", "Привет, как дела?",
    "Γειά σου Κόσμε ΣΑΣ", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก", "İstanbul ISTANBUL ıspanak", "ﬁne ﬂow ½ ² ①",
    "emoji 😀 and 👩‍👩‍👧 family", "zero\u200bwidth and soft\u00adhyphen", "nul\u0000byte \u0007 bell", "no\u00a0break\u2003space",
    "“quotes” — dash… ‹x›", "¿Qué tal? ¡Bien!", "straße STRASSE ẞ", "a\u0301e\u0308o\u0302", "[CLS] [MASK] [UNK] [unused5]", "##ing ## #",
    "€100 £5 ¥20 ₿1", "x²+y²=z²", "ｆｕｌｌ　ｗｉｄｔｈ", "\ufffd replacement \ufffd", "豈更車", "ǅ Ǆ ǆ", "Ⅷ ⅷ", "º ª", "a/b\\c|d", "~`^$+<=>",
    "The quick brown fox jumps over the lazy dog.", "he will be there when they are about to go",
]
GOLDEN = [
    "I moved to Lisbon last spring and work as a nurse.",
    "My sister is allergic to peanuts.",
    "Where does the user live now?",
    "Deploy failed: connection refused on port 5432",
    "Caroline: I went to a support group yesterday and it was so powerful.",
    "naïve café — 日本 and C++",
    "peanuts",
]
# Scripts and signs from which strings are drawn.
RANGES = [
    (0x20, 0x7E), (0x20, 0x7E), (0x20, 0x7E), (0x61, 0x7A), (0xA0, 0xFF), (0x100, 0x24F), (0x300, 0x36F), (0x370, 0x3FF),
    (0x400, 0x4FF), (0x590, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1E00, 0x1EFF), (0x2000, 0x206F),
    (0x2070, 0x20CF), (0x2100, 0x214F), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFF00, 0xFFEF),
    (0x1F300, 0x1F6FF), (0x00, 0x1F),
]


def strings(pieces: list[str], count: int) -> list[str]:
    """Draws strings: words of the vocabulary glued in many ways, and characters of mixed scripts."""
    draw = random.Random(20)
    words = [piece.removeprefix("##") for piece in pieces if not piece.startswith("[unused")]
    found: set[str] = set()
    while len(found) < count:
        parts = []
        for _ in range(draw.randint(1, 12)):
            if draw.random() < 0.6:
                word = draw.choice(words)
                parts.append(draw.choice([word, word.upper(), word.capitalize(), word + draw.choice(words)]))
            else:
                low, high = draw.choice(RANGES)
                parts.append("".join(chr(draw.randint(low, high)) for _ in range(draw.randint(1, 6))))
            parts.append(draw.choice([" ", " ", " ", "", "-", "\n", ", "]))
        text = "".join(parts)
        # Characters without a meaning yet differ between editions of Unicode; U+061D is new in 14.0.
        if all(unicodedata.category(character) != "Cn" and character != "\u061d" for character in text):
            found.add(text)
    return sorted(found)


def reference(vocab: Path):
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(str(vocab), lowercase=True)
    unknown = tokenizer.token_to_id("[UNK]")
    # The tokenizer knows its special pieces in running text; the table takes them as ordinary characters.
    plain = tokenizer._tokenizer

    def pieces(text: str) -> list[int | None]:
        normal = plain.normalizer.normalize_str(text)
        ids = [
            token.id
            for word, _ in plain.pre_tokenizer.pre_tokenize_str(normal)
            for token in plain.model.tokenize(word)
        ]
        return [None if piece == unknown else piece for piece in ids]

    return pieces


def vector(table: bytes, pieces: list[int | None]) -> list[float]:
    """Embeds by the definition, from the stored rows."""
    _, _, dims, n_rows, *_ = struct.unpack("<8sHHIIIII", table[:32])
    scales = np.frombuffer(table, "<f4", n_rows, 64).astype(np.float64)
    rows = np.frombuffer(table, np.int8, n_rows * dims, 64 + 4 * n_rows).reshape(n_rows, dims)
    known = [piece for piece in pieces if piece is not None and scales[piece] > 0]
    mean = np.mean([rows[piece] * scales[piece] for piece in known], axis=0)
    return [round(float(value), 5) for value in mean / np.linalg.norm(mean)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["fixture", "strings"])
    parser.add_argument("--vocab", type=Path, required=True)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    args = parser.parse_args()
    pieces = reference(args.vocab)
    vocabulary = args.vocab.read_text(encoding="utf-8").splitlines()
    if args.command == "strings":
        for text in strings(vocabulary, args.count):
            print(json.dumps([text, pieces(text)]))
        return
    with open(args.out / "wordpiece.jsonl", "w", encoding="ascii") as out:
        for text in HAND_WRITTEN + strings(vocabulary, 300):
            out.write(json.dumps([text, pieces(text)]) + "\n")
    table = args.table.read_bytes()
    with open(args.out / "vectors.jsonl", "w", encoding="ascii") as out:
        for text in GOLDEN:
            out.write(json.dumps([text, vector(table, pieces(text))]) + "\n")


if __name__ == "__main__":
    main()
