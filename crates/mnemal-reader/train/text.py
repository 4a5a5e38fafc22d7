"""Words, pieces and features of a text, as the engine makes them too."""
import re, unicodedata

SCRIPTS = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
WORD = re.compile(rf"[{SCRIPTS}]|[^\W_{SCRIPTS}]+|[^\w\s]|_")
LISTS = {"first": 0, "surnames": 1, "people": 2, "places": 3, "organizations": 4, "products": 5, "events": 6, "works": 6}
ORDINARY = 7
PIECES = 12     # of the longest word


def words(text):
    """Places of the words: a sign of Chinese, a run of letters and digits, or one other sign."""
    return [match.span() for match in WORD.finditer(text)]


def fold(text):
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).lower()).replace("ß", "ss")
    bare = "".join(sign for sign in unicodedata.normalize("NFD", text) if not "\u0300" <= sign <= "\u036f")
    return unicodedata.normalize("NFC", bare)


class Lists:
    """The lists of names of the extractor, and the ordinary words of English."""

    def __init__(self, packs):
        self.bits = {}
        for name, bit in LISTS.items():
            for line in open(f"{packs}/names/{name}.txt", encoding="utf-8"):
                if not line.startswith("#"):
                    self.add(line, bit)
        for line in open(f"{packs}/en/ordinary.txt", encoding="utf-8"):
            self.add(line, ORDINARY)

    def add(self, line, bit):
        line = fold(line.strip())
        key = tuple(line[start:end] for start, end in words(line))
        if 0 < len(key) <= 5:
            self.bits[key] = self.bits.get(key, 0) | 1 << bit

    def of(self, text, places):
        folded = [fold(text[start:end]) for start, end in places]
        bits = [0] * len(folded)
        for at in range(len(folded)):
            for size in range(1, min(5, len(folded) - at) + 1):
                found = self.bits.get(tuple(folded[at:at + size]), 0)
                for place in range(at, at + size if found else at):
                    bits[place] |= found
        return bits


def shapes(text, places):
    """0 a sign, 1 small, 2 Capital, 3 CAPITALS, 4 miXed, 5 with a digit, 6 a capital where a sentence opens."""
    made, opens, end = [], True, 0
    for start, stop in places:
        opens = opens or "\n" in text[end:start]
        word, end = text[start:stop], stop
        if not any(sign.isalnum() for sign in word):
            made.append(0)
            opens = opens or word in ".!?:。！？："
            continue
        if any(sign.isdigit() for sign in word):
            shape = 5
        elif word == word.lower():
            shape = 1
        elif word == word.upper():
            shape = 3 if len(word) > 1 else 6 if opens else 2
        elif word[0] == word[0].upper() and word[1:] == word[1:].lower():
            shape = 6 if opens else 2
        else:
            shape = 4
        made.append(shape)
        opens = False
    return made


class Unigram:
    """Pieces by their scores: the best cut of each word on its own; a word with a space before it begins with ▁."""

    def __init__(self, pieces, unknown):
        self.ids = {piece: (at, score) for at, (piece, score) in enumerate(pieces)}
        self.unknown, self.longest = unknown, max(len(piece) for piece, _ in pieces)
        self.least = min(score for _, score in pieces) - 10
        self.known = {}

    def pieces(self, text, start, end):
        is_first = start == 0 or text[start - 1].isspace()
        word = ("▁" if is_first else "") + unicodedata.normalize("NFKC", text[start:end])
        if word not in self.known:
            self.known[word] = self.cut(word)[:PIECES]
        return self.known[word]

    def cut(self, word):
        best = [(0.0, 0, 0)] + [None] * len(word)
        for end in range(1, len(word) + 1):
            for start in range(max(0, end - self.longest), end):
                found = self.ids.get(word[start:end])
                if found is None and end - start > 1:
                    continue
                piece, score = found or (self.unknown, self.least)
                value = best[start][0] + score
                if best[end] is None or value > best[end][0]:
                    best[end] = (value, start, piece)
        out, at = [], len(word)
        while at:
            out.append(best[at][2])
            at = best[at][1]
        return out[::-1]


class WordPiece:
    """The longest piece first, of folded words."""

    def __init__(self, pieces, unknown):
        self.ids = {piece: at for at, piece in enumerate(pieces)}
        self.unknown, self.known = unknown, {}

    def pieces(self, text, start, end):
        word = fold(text[start:end])
        if word not in self.known:
            self.known[word] = self.cut(word)[:PIECES]
        return self.known[word]

    def cut(self, word):
        out, at = [], 0
        while at < len(word):
            for end in range(len(word), at, -1):
                found = self.ids.get(("##" if at else "") + word[at:end])
                if found is not None:
                    break
            else:
                return [self.unknown]
            out.append(found)
            at = end
        return out
