"""SQLite FTS5 with its Porter stemmer, and without the stop words of the question."""

import fts5

# Source: the English stop words that mnemal drops from questions, so that the lists do not make the difference.
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with what when where who whom which why how did do does has have had her his him he she i you "
    "we me my your our us am were been being can could would should about from".split()
)

if __name__ == "__main__":
    fts5.run("porter unicode61", STOP_WORDS)
