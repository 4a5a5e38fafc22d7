"""Times memories inside Python on one loop, a text for each call, then a question for each call.

    pip install -r mem0.txt -r langgraph.txt -r embedded.txt
    cargo build --release -p mnemal-python --lib --example facade_speed
    python embedded_speed.py --facade FACADE_SPEED [--module MODULE] [--json FILE]

Each system runs in a process of its own with a new folder, in turns, and the middle of the rounds counts. Mem0 and LangGraph are
handed an embedder that costs almost nothing, a hash of words into 256 numbers; mnemal makes its own vectors. Mem0 asks no model
(`infer=False`). All of them write to the same disk with the durability that they have by default; `mnemal-normal` is mnemal with
`durability = "normal"`, which a power cut may cost the newest events. MODULE is the native module as cargo builds it; without it
the package that is installed is measured.
"""

import argparse
import importlib.util
import json
import math
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from importlib.metadata import version

HERE = pathlib.Path(__file__).resolve().parent
# Numbers of a vector of the peers, and hits of a question.
WIDTH, TOP = 256, 10
SUBJECTS = "Ana Ben Carla Dario Emma Felix Greta Hugo Ines Jonas Kira Luca Mara Nils Olga Pavel".split()
VERBS = "bought sold painted repaired lost found borrowed returned cleaned photographed described ordered".split()
THINGS = "boat bicycle lamp violin camera garden kettle notebook window jacket ladder telescope map chair clock".split()
PLACES = "Lyon Porto Oslo Turin Ghent Basel Graz Bergen Nantes Cork Malmo Split Bruges Trieste Bilbao".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def corpus(n_texts, n_questions):
    """Returns texts that differ, and questions about some of them."""
    chance = random.Random(7)
    draw = lambda: [chance.choice(words) for words in (SUBJECTS, VERBS, THINGS, PLACES, DAYS)]
    facts = [draw() for _ in range(n_texts)]
    texts = [f"{who} {did} the {what} in {where} last {day}, for {number} euros" for number, (who, did, what, where, day) in enumerate(facts)]
    asked = chance.sample(facts, n_questions)
    return texts, [f"What did {who} do with the {what} in {where}?" for who, _, what, where, _ in asked]


def vector(text):
    """Hashes the words of a text into a vector of length 1."""
    values = [0.0] * WIDTH
    for word in text.lower().replace(",", " ").replace("?", " ").split():
        values[zlib.crc32(word.encode()) % WIDTH] += 1.0
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / length for value in values]


def mnemal(folder, settings=None):
    from mnemal import Memory

    memory = Memory(folder / "agent.db", settings=settings)
    add = lambda text: memory.log("s1", ("user", text))
    return add, lambda question: [hit["text"] for hit in memory.recall(question)], memory.close


def mnemal_normal(folder):
    return mnemal(folder, {"storage": {"durability": "normal"}})


def mem0(folder):
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder), HOME=str(folder))
    from mem0 import Memory

    class Embedder:
        def embed(self, text, memory_action=None):
            return vector(text)

        def embed_batch(self, texts, memory_action=None):
            return [vector(text) for text in texts]

    unasked = {"provider": "openai", "config": {"api_key": "none"}}
    qdrant = {"path": str(folder / "qdrant"), "collection_name": "turns", "embedding_model_dims": WIDTH, "on_disk": True}
    memory = Memory.from_config({
        "vector_store": {"provider": "qdrant", "config": qdrant}, "embedder": unasked, "llm": unasked,
        "history_db_path": str(folder / "history.db"),
    })
    memory.embedding_model = Embedder()
    add = lambda text: memory.add([{"role": "user", "content": text}], user_id="s1", infer=False)

    def search(question):
        found = memory.search(question, top_k=TOP, filters={"user_id": "s1"}, threshold=0.0)["results"]
        return [item["memory"] for item in found]

    return add, search, lambda: None


def langgraph(folder):
    from langgraph.store.sqlite import SqliteStore

    index = {"dims": WIDTH, "embed": lambda texts: [vector(text) for text in texts], "fields": ["text"]}
    opened = SqliteStore.from_conn_string(str(folder / "store.db"), index=index)
    store = opened.__enter__()
    store.setup()
    numbers = iter(range(10**9))
    add = lambda text: store.put(("s1",), str(next(numbers)), {"text": text})
    search = lambda question: [item.value["text"] for item in store.search(("s1",), query=question, limit=TOP)]
    return add, search, lambda: opened.__exit__(None, None, None)


SYSTEMS = {"mnemal": mnemal, "mnemal-normal": mnemal_normal, "mem0": mem0, "langgraph": langgraph}


def one(name, folder):
    """Measures one system in this process, with the texts of a folder."""
    texts, questions = (json.loads((folder / f"{part}.json").read_text()) for part in ("texts", "questions"))
    with tempfile.TemporaryDirectory(dir=folder) as home:
        add, search, close = SYSTEMS[name](pathlib.Path(home))
        began = time.perf_counter()
        for text in texts:
            add(text)
        added = time.perf_counter()
        hits = sum(len(search(question)) for question in questions)
        found = time.perf_counter()
        close()
        print(json.dumps({"add_ms": (added - began) * 1e3, "search_ms": (found - added) * 1e3, "hits": hits}))


def load(module):
    """Loads a module of cargo as that of the package, which stands in the tree."""
    sys.path.append(str(HERE.parents[1] / "integrations/python"))
    spec = importlib.util.spec_from_file_location("mnemal._engine", module)
    sys.modules["mnemal._engine"] = loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)


def measure(given, folder):
    """Returns the rounds of each system, which take turns."""
    rounds = {}
    for turn in range(given.rounds):
        for name in ("facade", *SYSTEMS):
            if turn >= given.peer_rounds and name in ("mem0", "langgraph"):
                continue
            command = [given.facade, folder] if name == "facade" else [sys.executable, "-B", __file__, "--one", name, "--folder", folder]
            command += ["--module", given.module] if given.module and name != "facade" else []
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{name} failed: {done.stderr}")
            rounds.setdefault(name, []).append(json.loads(done.stdout.splitlines()[-1]))
            print(name, rounds[name][-1], file=sys.stderr)
    return rounds


def report(given, rounds):
    rows = {}
    for name, of_one in rounds.items():
        figure = lambda part: round(statistics.median(one[part] for one in of_one), 1)
        both = statistics.median(one["add_ms"] + one["search_ms"] for one in of_one)
        rows[name] = {
            "add_ms": figure("add_ms"), "search_ms": figure("search_ms"), "both_ms": round(both, 1),
            "add_ms_each": round(figure("add_ms") / given.texts, 3),
            "search_ms_each": round(figure("search_ms") / given.questions, 3), "hits": of_one[0]["hits"],
            "rounds": [{name: round(value, 1) for name, value in one.items()} for one in of_one],
        }
    times = lambda slow, fast, part="both_ms": round(rows[slow][part] / rows[fast][part], 2)
    ratios = {"mnemal_to_facade": times("mnemal", "facade")}
    for peer in ("mem0", "langgraph"):
        ratios[f"{peer}_to_mnemal"] = times(peer, "mnemal")
        ratios[f"{peer}_to_mnemal_add"] = times(peer, "mnemal", "add_ms")
        ratios[f"{peer}_to_mnemal_search"] = times(peer, "mnemal", "search_ms")
        ratios[f"{peer}_to_mnemal_normal"] = times(peer, "mnemal-normal")
    versions = {name: version(name) for name in ("mem0ai", "qdrant-client", "langgraph-checkpoint-sqlite", "sqlite-vec")}
    machine = {"system": platform.platform(), "processors": os.cpu_count(), "python": platform.python_version(), "load": os.getloadavg()}
    return {
        "command": "python benches/peers/embedded_speed.py --facade FACADE_SPEED --module MODULE --json FILE",
        "date": time.strftime("%Y-%m-%d"), "machine": machine, "versions": versions,
        "texts": given.texts, "questions": given.questions, "ratios": ratios, "systems": rows,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facade", type=os.path.abspath, help="the example `facade_speed` of mnemal-python")
    parser.add_argument("--module", type=os.path.abspath, help="the native module; without it that of the installed package")
    parser.add_argument("--json", type=pathlib.Path, help="the file of results")
    parser.add_argument("--texts", type=int, default=5_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of mnemal and of the facade")
    parser.add_argument("--peer-rounds", type=int, default=1, help="rounds of the others")
    parser.add_argument("--one", choices=SYSTEMS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.module and given.one:
        load(given.module)
    if given.one:
        return one(given.one, given.folder)
    if not given.facade:
        parser.error("--facade is missing")
    with tempfile.TemporaryDirectory() as folder:
        texts, questions = corpus(given.texts, given.questions)
        (pathlib.Path(folder) / "texts.json").write_text(json.dumps(texts))
        (pathlib.Path(folder) / "questions.json").write_text(json.dumps(questions))
        made = report(given, measure(given, folder))
    text = json.dumps(made, indent=1, ensure_ascii=False)
    if given.json:
        given.json.write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
