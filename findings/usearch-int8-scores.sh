#!/usr/bin/env bash
# usearch 2.26.6: the same vectors under metric "ip" give −189.3 as float32 and −15,570 as int8, because what is returned is the
# product of the quantized numbers, not scaled back. A floor for scores that fits one data type means nothing for the other.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv v; v/bin/pip -q install usearch==2.26.6 numpy==2.4.6
v/bin/python - <<'P'
import numpy as np, usearch
from usearch.index import Index
rows = (np.random.default_rng(0).normal(size=(1000, 32)) * 3).astype(np.float32)
def nearest(kind):
    index = Index(ndim=32, metric="ip", dtype=kind); index.add(np.arange(1000), rows)
    return float(index.search(rows[0], 1).distances[0])
single, quantized = nearest("f32"), nearest("i8")
print("usearch", usearch.__version__, "f32", round(single, 1), "i8", round(quantized, 1), "ratio", round(quantized / single, 1))
assert abs(single + 189.3) < 0.5 and quantized / single > 50
P
