"""Prints `src/wordpiece/ranges.rs`: the Unicode ranges that the BERT tokeniser treats apart.

    python ranges.py > ../src/wordpiece/ranges.rs
"""

import sys
import unicodedata


def ranges(wanted) -> list[tuple[int, int]]:
    """Returns the closed ranges of non-ASCII characters for which `wanted` holds."""
    found: list[tuple[int, int]] = []
    for code in range(0x80, sys.maxunicode + 1):
        if 0xD800 <= code <= 0xDFFF or not wanted(unicodedata.category(chr(code))):
            continue
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def table(name: str, document: str, found: list[tuple[int, int]]) -> None:
    print(f"\n/// {document}")
    print("#[rustfmt::skip]")
    print(f"pub(super) const {name}: &[(u32, u32)] = &[")
    cells = [f"(0x{first:_X}, 0x{last:_X})," for first, last in found]
    for at in range(0, len(cells), 5):
        print("    " + " ".join(cells[at : at + 5]))
    print("];")


print(f"//! Ranges of Unicode {unicodedata.unidata_version}, sorted, made by `distil/ranges.py`.")
table("DROPPED", "Control, format and private characters, and marks without a width of their own.",
      ranges(lambda category: category in ("Cc", "Cf", "Co", "Mn")))
table("PUNCTUATION", "Punctuation beyond ASCII.", ranges(lambda category: category.startswith("P")))
