#!/usr/bin/env bash
# sqlite-vec 0.1.9, apsw 3.54.1.0; seen 2026-11-30: one vector of zeros in a table with `distance_metric=cosine` takes nearer rows out of the answer.
# Expected: such a row has no cosine distance, and stands last, first or nowhere; the other rows are ranked as if it were not there.
# Seen: it depends on where the row of zeros is stored. As the first row of a chunk (of 1,024 rows) it takes away nearer rows that
# other chunks or its own hold: four of the five nearest are missing, rows that are farther off stand in their place, and the
# row of zeros is not returned, so that nothing shows it. In the last chunk it stands first, with NULL as its distance, and the
# fifth row is pushed out. Elsewhere it did no harm.
# For a user: some embedders give zeros for a text without a known word, and some programs begin a table with such a row.
# Keep them out of the table: one is enough to hide what is nearest.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install sqlite-vec==0.1.9 apsw==3.54.1.0
v/bin/pip list --format=freeze | grep -E '^(sqlite-vec|apsw)=='
v/bin/python - <<'P'
import apsw, random, sqlite_vec

def nearest(count, zeros_at):
    database = apsw.Connection(":memory:")
    database.enable_load_extension(True); database.load_extension(sqlite_vec.loadable_path())
    database.execute("create virtual table rows using vec0(id integer primary key, vector float[2] distance_metric=cosine)")
    order = list(range(1, count + 1)); random.Random(1).shuffle(order)
    for place, one in enumerate(order):  # row 1 is the nearest to the question, row 2 the next, and so on
        vector = [0.0, 0.0] if place == zeros_at else [1.0, one / count]
        database.execute("insert into rows values (?, ?)", (one, sqlite_vec.serialize_float32(vector)))
    found = database.execute("select id, distance is null from rows where vector match ? and k = 5 order by distance",
                             (sqlite_vec.serialize_float32([1.0, 0.0]),)).fetchall()
    return ["zeros" if null else one for one, null in found]

seen = {
    "no zeros": nearest(3000, None),
    "zeros in row 1": nearest(3000, 0),
    "zeros in row 2": nearest(3000, 1),
    "zeros in row 1025": nearest(3000, 1024),
    "zeros in row 2049, which begins the last chunk": nearest(3000, 2048),
    "zeros in row 1 of 20": nearest(20, 0),
}
for what, answer in seen.items(): print(f"{what}: {answer}")
assert list(seen.values()) == [
    [1, 2, 3, 4, 5], [2, 4, 7, 8, 9], [1, 2, 3, 4, 5], [4, 7, 9, 15, 16], ["zeros", 1, 2, 3, 4], ["zeros", 1, 2, 3, 4],
], "sqlite-vec answers otherwise now"
P
