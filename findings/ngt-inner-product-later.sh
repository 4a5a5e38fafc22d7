#!/usr/bin/env bash
# ngt 2.8.0.post1 (ngtpy); seen 2026-11-30: with "Inner Product", what is inserted later and is longer than the first vectors is found last.
# Expected: the object with the largest inner product comes first, whenever it was inserted, as for all of them inserted at once.
# Seen: three vectors, then three with inner products of 5, 3 and 0: these come behind the first three, of which one has -1, and the
# answer is "1, 0, -1, 5, 3, 0". NGT makes inner products into Euclidean distances by one more dimension, which holds what a vector lacks
# to the length of the longest; the longest is taken from the first `batch_insert` and written into the index, and longer
# vectors get 0 there. After `save` and opening again it is the same. The distance that is told is the one in this other space:
# for a product of 5 it is 4.0 or 8.5, by what else was in the first batch.
# For a user: notes of today are not found by the notes of yesterday's index, and no threshold can be set.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install ngt==2.8.0.post1 numpy==2.3.5; v/bin/pip list --format=freeze | grep -E '^ngt=='
v/bin/python 2>/dev/null - <<'P' | grep ': '
import ngtpy, numpy

first, later, query = [[1, 0.1], [0, 1], [-1, 0]], [[5, 0.5], [3, 0], [0, 9]], numpy.array([1, 0])

def found(name, *batches):
    ngtpy.create(name, 2, distance_type="Inner Product")
    for batch in batches:
        index = ngtpy.Index(name)
        index.batch_insert(numpy.array(batch, dtype=numpy.float32))
        index.save(); index.close()
    vectors = numpy.array([vector for batch in batches for vector in batch])
    return [(float(vectors[number] @ query), round(distance, 1)) for number, distance in ngtpy.Index(name).search(query, 6)]

seen = {"all at once": found("a", first + later), "longer ones first": found("b", later, first), "longer ones later": found("c", first, later)}
for what, answer in seen.items(): print(f"{what}: products {[product for product, _ in answer]}, told as {[distance for _, distance in answer]}")
right = [5, 3, 1, 0, 0, -1]
products = [[product for product, _ in answer] for answer in seen.values()]
assert products == [right, right, [1, 0, -1, 5, 3, 0]]
P
