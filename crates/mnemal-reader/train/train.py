"""Trains a reader: one encoder, and heads for claims, names, feedback, whose words they are, and what a turn ends.

usage: train.py DATA.json BASE.npz OUT 'JOB as JSON'
A job is {name, seed, epochs, …}; see DEFAULTS.
Embeddings of pieces stay as they are: many are in no turn that is trained on.
Every `keep` minutes the state goes to OUT/NAME.state.pt; the same command goes on from there, to the same end as without a stop.
"""
import json, math, os, random, sys, time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

DEFAULTS = dict(name="reader", seed=1, epochs=8, lr=2e-4, head_lr=5e-4, batch=32, decay=0.9, drop=0.1, wide=12, span=256, heads=12, threads=2, talk=100, limit=0, minutes=0, keep=5)
NOTHING = {"ids": [], "at": [], "shape": [], "list": []}
LEAST, MOST = 0.02, 32      # probability of a span that is kept, and how many of a turn


class Layer(nn.Module):
    def __init__(self, hidden, heads, inner):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.norm, self.last = nn.LayerNorm(hidden, eps=1e-12), nn.LayerNorm(hidden, eps=1e-12)
        self.up, self.down = nn.Linear(hidden, inner), nn.Linear(inner, hidden)

    def forward(self, x, mask, p):
        b, s, d = x.shape
        q, k, v = (t.view(b, s, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm(x + F.dropout(self.out(a.transpose(1, 2).reshape(b, s, d)), p, self.training))
        return self.last(x + F.dropout(self.down(F.gelu(self.up(x))), p, self.training))


class Encoder(nn.Module):
    def __init__(self, layers, pieces, places, hidden, heads, inner):
        super().__init__()
        self.hidden = hidden
        self.word, self.place, self.kind = nn.Embedding(pieces, hidden), nn.Embedding(places, hidden), nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.layers = nn.ModuleList(Layer(hidden, heads, inner) for _ in range(layers))

    def forward(self, ids, kind, extra, mask, p):
        x = self.norm(self.word(ids) + self.place(torch.arange(ids.shape[1], device=ids.device))[None] + self.kind(kind))
        x = F.dropout(x + extra, p, self.training)
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :], p)
        return x

    @staticmethod
    def load(path, heads):
        packed = np.load(path)
        get = lambda name: torch.from_numpy(packed[name].astype(np.float32))
        layers = 1 + max(int(name.split(".")[0]) for name in packed.files if name[0].isdigit())
        made = Encoder(layers, len(packed["word"]), len(packed["place"]), packed["word"].shape[1], heads, len(packed["0.up.bias"]))
        state = {"word.weight": get("word"), "place.weight": get("place"), "kind.weight": get("kind"), "norm.weight": get("norm.weight"), "norm.bias": get("norm.bias")}
        for n in range(layers):
            for part in ("weight", "bias"):
                state[f"layers.{n}.qkv.{part}"] = torch.cat([get(f"{n}.{name}.{part}") for name in ("query", "key", "value")])
                for name in ("out", "norm", "up", "down", "last"):
                    state[f"layers.{n}.{name}.{part}"] = get(f"{n}.{name}.{part}")
        made.load_state_dict(state)
        return made


class Reader(nn.Module):
    def __init__(self, encoder, data, job):
        super().__init__()
        size, d = encoder.hidden, job["span"]
        self.encoder, self.p, self.wide, self.predicates = encoder, job["drop"], job["wide"], len(data["predicates"])
        self.shape, self.lists = nn.Embedding(8, size), nn.Linear(8, size, bias=False)
        nn.init.zeros_(self.shape.weight)
        nn.init.zeros_(self.lists.weight)
        self.first, self.final, self.whole = nn.Linear(size, d), nn.Linear(size, d, bias=False), nn.Linear(size, d, bias=False)
        self.width = nn.Embedding(job["wide"], d)
        nn.init.normal_(self.width.weight, std=0.02)
        self.span_norm, self.score, self.sort = nn.LayerNorm(d), nn.Linear(d, 2), nn.Linear(d, self.predicates + len(data["kinds"]))
        nn.init.constant_(self.score.bias, -5.5)
        self.predicate = nn.Embedding(self.predicates, 64)
        self.join, self.join_norm = nn.Linear(3 * size + 64, size), nn.LayerNorm(size)
        self.act, self.subject, self.worth = nn.Linear(size, 4), nn.Linear(size, 3), nn.Linear(size, 1)
        self.ask_first, self.ask_final = nn.Linear(size, size), nn.Linear(size, size)
        self.key_first, self.key_final = nn.Linear(size, size), nn.Linear(size, size)
        self.say, self.feedback, self.level, self.hold = nn.Linear(2 * size, d), nn.Linear(d, 5), nn.Linear(d, 3), nn.Linear(d, 4)
        self.author = nn.Linear(size, len(data["authors"]))
        self.relate, self.relation = nn.Linear(3 * size, d), nn.Linear(d, len(data["relations"]))

    def read(self, batch):
        return self.encoder(batch["ids"], batch["kind"], self.shape(batch["shape"]) + self.lists(batch["lists"]), batch["mask"], self.p)

    def drop(self, x):
        return F.dropout(F.gelu(x), self.p, self.training)

    @staticmethod
    def at(h, places):
        return h.gather(1, places[..., None].expand(-1, -1, h.shape[-1]))

    def spans(self, h, starts, ends):
        """Scores (batch, words, widths, 2) of the spans from one word to another: that it is the object of a claim, and
        that it is a name; with the vectors that say of which predicate or kind."""
        a, b = self.first(self.at(h, starts)), self.final(self.at(h, ends))
        b = F.pad(b, (0, 0, 0, self.wide - 1)).unfold(1, self.wide, 1).transpose(2, 3)[:, :a.shape[1]]
        z = self.drop(self.span_norm(a[:, :, None] + b + self.width.weight[None, None] + self.whole(h[:, 0])[:, None, None]))
        return self.score(z), z

    def claim(self, h, where, first, final, predicate):
        """What belongs to a claim: act, class of the subject, worth, and a vector to ask with."""
        f = torch.cat([h[where, first], h[where, final], h[where, 0], self.predicate(predicate)], -1)
        f = self.drop(self.join_norm(self.join(f)))
        return self.act(f), self.subject(f), self.worth(f)[:, 0], f

    def point(self, h, f, where, first, final, mask):
        size = math.sqrt(h.shape[-1])
        one = (self.key_first(self.at(h[where], first[where])) @ self.ask_first(f)[..., None])[..., 0] / size
        two = (self.key_final(self.at(h[where], final[where])) @ self.ask_final(f)[..., None])[..., 0] / size
        return one.masked_fill(~mask[where], -1e4), two.masked_fill(~mask[where], -1e4)

    def means(self, h, batch):
        mean = lambda weight: (h * weight[..., None]).sum(1) / weight.sum(1, keepdim=True).clamp(min=1)
        return mean(batch["turn_mask"]), mean(batch["mask"].float() - batch["turn_mask"])

    def judge(self, h, batch):
        turn, before = self.means(h, batch)
        x = self.drop(self.say(torch.cat([h[:, 0], turn], -1)))
        relation = self.relation(self.drop(self.relate(torch.cat([h[:, 0], turn, before], -1))))
        return self.feedback(x), self.level(x), self.hold(x), relation


class Batches:
    def __init__(self, data, job):
        self.job, self.data, self.rng = job, data, random.Random(job["seed"])
        self.begin, self.end, self.pad = data["marks"]

    def changed(self, row):
        """A copy of a turn with other names, small letters or hidden words."""
        turn, rng = row["turn"], self.rng
        ids, shape, lists = list(turn["ids"]), list(turn["shape"]), list(turn["list"])
        if rng.random() < 0.3:
            for kind, first, final in row.get("names") or []:
                pool = self.data["pools"].get(str(kind))
                if pool and rng.random() < 0.7:
                    for at in range(first, final + 1):
                        if shape[at] in (2, 3, 4, 6):
                            new = rng.choice(pool)
                            ids[at], lists[at] = new[0], new[2]
        if rng.random() < 0.08:
            shape = [1 if one in (2, 3, 4, 6) else one for one in shape]
        if rng.random() < 0.4:
            ids = [[self.data["mask"]] if rng.random() < 0.06 else one for one in ids]
        if rng.random() < 0.3:
            lists = [0 if rng.random() < 0.3 else one for one in lists]
        before = row["before"]
        if "claims" in row and not any(claim[5] and claim[5][0] < 0 for claim in row["claims"]) and rng.random() < 0.15:
            before = NOTHING
        return row | {"turn": turn | {"ids": ids, "shape": shape, "list": lists}, "before": before}

    def make(self, rows, train):
        n, wide, made = len(rows), self.job["wide"], []
        for row in rows:
            turn, before = row["turn"], row["before"]
            pieces, kinds, shapes, lists, first, final = [self.begin], [0], [0], [0], [], []
            for part, kind in ((before, 0), (turn, 1)):
                for ids, shape, bits in zip(part["ids"], part["shape"], part["list"]):
                    first.append(len(pieces))
                    pieces += ids
                    kinds += [kind] * len(ids)
                    shapes += [shape + 1] * len(ids)
                    lists += [bits] * len(ids)
                    final.append(len(pieces) - 1)
                pieces.append(self.end)
                kinds.append(kind)
                shapes.append(0)
                lists.append(0)
            made.append((pieces, kinds, shapes, lists, first, final, len(before["ids"])))
        longest, most = (max(len(m[0]) for m in made) + 7) // 8 * 8, max(1, max(len(m[4]) for m in made))
        words = max(1, max(len(m[4]) - m[6] for m in made))
        zeros = lambda *shape, of=np.int64: np.zeros((n, *shape), of)
        b = dict(ids=zeros(longest) + self.pad, kind=zeros(longest), shape=zeros(longest), mask=zeros(longest, of=bool), turn_mask=zeros(longest, of=np.float32),
                 lists=zeros(longest, 8, of=np.float32), starts=zeros(words), ends=zeros(words), word_mask=zeros(words, of=bool),
                 all_first=zeros(most), all_final=zeros(most), all_mask=zeros(most, of=bool))
        for at, (pieces, kinds, shapes, bits, first, final, skip) in enumerate(made):
            l, w = len(pieces), len(first) - skip
            b["ids"][at, :l], b["kind"][at, :l], b["shape"][at, :l], b["mask"][at, :l], b["turn_mask"][at, :l] = pieces, kinds, shapes, True, kinds
            b["lists"][at, :l] = (np.array(bits)[:, None] >> np.arange(8)) & 1
            b["starts"][at, :w], b["ends"][at, :w], b["word_mask"][at, :w] = first[skip:], final[skip:], True
            b["all_first"][at, :len(first)], b["all_final"][at, :len(first)], b["all_mask"][at, :len(first)] = first, final, True
        if train:
            b |= dict(target=zeros(words, wide, 2, of=np.float32), weigh=zeros(2, of=np.float32), acts=zeros(5, of=np.float32), judged=zeros(of=np.float32),
                      level=zeros() - 1, hold=zeros() - 1, author=zeros(words) - 1, relation=zeros() - 1)
            claims, named = [], []
            for at, row in enumerate(rows):
                skip = made[at][6]
                if "acts" in row:
                    b["acts"][at], b["judged"][at], b["level"][at], b["hold"][at] = row["acts"], 1, row["level"], row["hold"]
                if "author" in row:
                    b["author"][at, :len(row["author"])] = row["author"]
                if "relation" in row:
                    b["relation"][at] = row["relation"]
                if "claims" in row:
                    b["weigh"][at, 0] = 1
                    for predicate, first, final, act, subject, window, worth, _ in row["claims"]:
                        window = [w + skip for w in window] if window else [-1, -1]
                        window = window if window[0] >= 0 else [-1, -1]
                        claims.append((at, made[at][4][skip + first], made[at][5][skip + final], predicate, act, subject, worth, *window, first, final - first))
                        b["target"][at, first, final - first, 0] = 1
                if "names" in row:
                    b["weigh"][at, 1] = 1
                    for kind, first, final in row["names"]:
                        b["target"][at, first, final - first, 1] = 1
                        named.append((at, first, final - first, kind))
            b |= dict(claims=np.array(claims, np.int64).reshape(-1, 11), named=np.array(named, np.int64).reshape(-1, 4))
        batch = {name: torch.from_numpy(value) for name, value in b.items()}
        batch["skip"] = [m[6] for m in made]
        end = torch.arange(words)[:, None] + torch.arange(wide)[None]
        batch["span_mask"] = end[None] < batch["word_mask"].sum(1)[:, None, None]
        return batch


def loss_of(model, batch):
    h = model.read(batch).float()
    scores, z = model.spans(h, batch["starts"], batch["ends"])
    cells = batch["span_mask"][..., None] * batch["weigh"][:, None, None]
    count = batch["weigh"][:, 0].sum().clamp(min=1)
    loss = (F.binary_cross_entropy_with_logits(scores.float(), batch["target"], reduction="none") * cells).sum() / count
    claims, named = batch["claims"], batch["named"]
    if len(named):
        kinds = model.sort(z[named[:, 0], named[:, 1], named[:, 2]])[:, model.predicates:]
        loss = loss + F.cross_entropy(kinds.float(), named[:, 3], reduction="sum") / count
    if len(claims):
        where = claims[:, 0]
        predicates = model.sort(z[where, claims[:, 9], claims[:, 10]])[:, :model.predicates]
        loss = loss + F.cross_entropy(predicates.float(), claims[:, 3], reduction="sum") / count
        act, subject, worth, f = model.claim(h, where, claims[:, 1], claims[:, 2], claims[:, 3])
        loss = loss + 0.5 * (F.cross_entropy(act.float(), claims[:, 4]) + F.cross_entropy(subject.float(), claims[:, 5])
                             + F.binary_cross_entropy_with_logits(worth.float(), claims[:, 6].float()))
        known = claims[:, 7] >= 0
        if known.any():
            one, two = model.point(h, f[known], where[known], batch["all_first"], batch["all_final"], batch["all_mask"])
            loss = loss + 0.5 * (F.cross_entropy(one.float(), claims[known, 7]) + F.cross_entropy(two.float(), claims[known, 8]))
    said, level, hold, relation = model.judge(h, batch)
    each = F.binary_cross_entropy_with_logits(said.float(), batch["acts"], reduction="none").sum(1) * batch["judged"]
    loss = loss + each.sum() / batch["judged"].sum().clamp(min=4)
    for logits, wanted, weight in ((level, batch["level"], 0.3), (hold, batch["hold"], 0.5), (relation, batch["relation"], 1.0)):
        known = wanted >= 0
        if known.any():
            loss = loss + weight * F.cross_entropy(logits.float()[known], wanted[known])
    known = batch["author"] >= 0
    if known.any():
        words = model.author(model.at(h, batch["starts"]))
        each = F.cross_entropy(words.float()[known], batch["author"][known], reduction="sum")
        loss = loss + 2.0 * each / known.sum()
    return loss


@torch.no_grad()
def predict(model, batches, rows, cast):
    """What the reader makes of rows: claims [predicate, first, final, p, acts, subjects, window, p of it, worth], names, feedback, …"""
    model.eval()
    out, r = [None] * len(rows), lambda values: [round(value, 4) for value in values]
    order = sorted(range(len(rows)), key=lambda n: len(rows[n]["turn"]["ids"]) + len(rows[n]["before"]["ids"]))
    for begin in range(0, len(order), 48):
        part = order[begin:begin + 48]
        batch = batches.make([rows[n] for n in part], False)
        with cast():
            h = model.read(batch).float()
            scores, z = model.spans(h, batch["starts"], batch["ends"])
            said, level, hold, relation = (x.float() for x in model.judge(h, batch))
            authors = model.author(model.at(h, batch["starts"])).float().softmax(-1)
        p = scores.float().sigmoid() * batch["span_mask"][..., None]
        cells = (p.max(-1).values > LEAST).nonzero()
        at = (cells[:, 0], cells[:, 1], cells[:, 2])
        sorts = model.sort(z[at].float())
        each = torch.cat([sorts[:, :model.predicates].softmax(-1) * p[at][:, :1], sorts[:, model.predicates:].softmax(-1) * p[at][:, 1:]], -1)
        lists, places, keep = [[] for _ in part], cells.tolist(), []
        for (n, kind), value in zip((each > LEAST).nonzero().tolist(), each[each > LEAST].tolist()):
            where, first, width = places[n]
            lists[where].append((value, kind, first, first + width))
        for at, one in enumerate(lists):
            one.sort(reverse=True)
            row = rows[part[at]]
            words = len(row["turn"]["ids"])
            out[part[at]] = {"set": row["set"], "id": row["id"], "c": [], "n": [[c[1] - model.predicates, c[2], c[3], round(c[0], 4)] for c in one if c[1] >= model.predicates][:MOST],
                             "f": r(said[at].sigmoid().tolist()), "l": r(level[at].softmax(-1).tolist()), "h": r(hold[at].softmax(-1).tolist()),
                             "r": r(relation[at].softmax(-1).tolist()), "a": r((1 - authors[at, :words, 0]).tolist())}
            keep += [(at, *c) for c in one if c[1] < model.predicates][:MOST]
        if keep:
            column = lambda n: torch.tensor([k[n] for k in keep])
            where = column(0)
            act, subject, worth, f = model.claim(h, where, batch["starts"][where, column(3)], batch["ends"][where, column(4)], column(2))
            one, two = model.point(h, f, where, batch["all_first"], batch["all_final"], batch["all_mask"])
            joint = one.softmax(-1)[:, :, None] * two.softmax(-1)[:, None, :]
            near = torch.ones(joint.shape[1:], dtype=torch.bool)
            best, place = (joint * (near.triu() & ~near.triu(4))).flatten(1).max(1)
            size = joint.shape[1]
            for k, a, s, w, b, x in zip(keep, act.softmax(-1).tolist(), subject.softmax(-1).tolist(), worth.sigmoid().tolist(), best.tolist(), place.tolist()):
                skip = batch["skip"][k[0]]
                out[part[k[0]]]["c"].append([k[2], k[3], k[4], round(k[1], 4), r(a), r(s), x // size - skip, x % size - skip, round(b, 4), round(w, 4)])
    return out


def strict(data, rows, found):
    """For the log alone: right, found and F1 of claims and names by span at .5, by language; feedback, authors and relations at .5."""
    counts, n_f = {}, len(data["feedback"])
    def add(name, hit, got, want):
        one = counts.setdefault(name, [0, 0, 0])
        one[0], one[1], one[2] = one[0] + hit, one[1] + got, one[2] + want
    for row, one in zip(rows, found):
        code = row["set"].split("/")[0] if row["set"][2:3] == "/" and row["set"][0] != "g" else "gold"
        if "claims" in row:
            gold = {(c[0], c[1], c[2], c[3], c[4]) for c in row["claims"]}
            got = {(c[0], c[1], c[2], int(np.argmax(c[4])), int(np.argmax(c[5]))) for c in one["c"] if c[3] > 0.5}
            add(f"claims {code}", len(gold & got), len(got), len(gold))
        if "names" in row:
            gold, got = {tuple(x) for x in row["names"]}, {tuple(x[:3]) for x in one["n"] if x[3] > 0.5}
            add(f"names {code}", len(gold & got), len(got), len(gold))
        for n in range(2 if "acts" in row else 0):
            add(f"{data['feedback'][n]} {code}", int(row["acts"][n] and one["f"][n] > 0.5), int(one["f"][n] > 0.5), row["acts"][n])
        if row.get("hold", -1) >= 0:
            add("hold", int(np.argmax(one["h"]) == row["hold"]), 1, 1)
        if "author" in row:
            for p, a in zip(one["a"], row["author"]):
                add("foreign words", int(p > 0.5 and a > 0), int(p > 0.5), int(a > 0))
        if "relation" in row:
            is_end = lambda r: r in (1, 2, 4)
            got = int(np.argmax(one["r"]))
            add("relation", int(got == row["relation"]), 1, 1)
            add("end", int(is_end(got) and is_end(row["relation"])), int(is_end(got)), int(is_end(row["relation"])))
    return {name: [round(h / max(g, 1), 3), round(h / max(w, 1), 3), round(2 * h / max(g + w, 1), 3), w] for name, (h, g, w) in sorted(counts.items())}


def main(data, base, out, job):
    job = DEFAULTS | json.loads(job)
    torch.set_num_threads(job["threads"])
    torch.manual_seed(job["seed"])
    cast = lambda: torch.autocast("cpu", torch.bfloat16)
    begin = time.time()
    data = json.load(open(data))
    rows = [row for row in data["rows"] if row["split"] == "train"]
    if job["limit"]:
        rows = rows[::max(1, len(rows) // job["limit"])]
    model, batches = Reader(Encoder.load(base, job["heads"]), data, job), Batches(data, job)
    model.encoder.word.weight.requires_grad_(False)
    groups, depth = {}, len(model.encoder.layers)
    for name, value in model.named_parameters():
        if value.requires_grad:
            at = int(name.split(".")[2]) + 1 if name.startswith("encoder.layers.") else 0
            peak = job["lr"] * job["decay"] ** (depth - at) if name.startswith("encoder.") else job["head_lr"]
            groups.setdefault((peak, 0.01 if value.ndim > 1 else 0.0), []).append(value)
    optimizer = torch.optim.AdamW([{"params": values, "peak": peak, "weight_decay": decay} for (peak, decay), values in groups.items()], lr=1e-4, betas=(0.9, 0.98))
    size, step, rng = job["batch"], 0, random.Random(job["seed"] * 7 + 1)
    total = job["epochs"] * (len(rows) // size)
    state, kept, done = f"{out}/{job['name']}.state.pt", begin, 0
    if os.path.exists(state):
        saved = torch.load(state)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["rng"])
        done = saved["step"]
        print(job["name"], f"goes on behind step {done}", flush=True)
    length = lambda row: sum(map(len, row["turn"]["ids"])) + sum(map(len, row["before"]["ids"]))
    for epoch in range(job["epochs"]):
        model.train()
        order = [batches.changed(row) if epoch else row for row in rows]
        rng.shuffle(order)
        packs = []
        for at in range(0, len(order), size * 16):
            chunk = sorted(order[at:at + size * 16], key=length)
            packs += [chunk[i:i + size] for i in range(0, len(chunk), size)]
        rng.shuffle(packs)
        for pack in packs:
            if step < done:     # this was trained before; the order is that of the seed
                step += 1
                continue
            share = step / total
            if job["minutes"]:      # the rate falls by the clock, so that a run ends when it shall
                share = max(share, (time.time() - begin) / 60 / job["minutes"])
            if share >= 1:
                break
            rate = min(1.0, (step + 1) / (0.06 * total)) * max(0.02, 1 - share)
            for group in optimizer.param_groups:
                group["lr"] = group["peak"] * rate
            with cast():
                loss = loss_of(model, batches.make(pack, True))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_([p for p in model.parameters() if p.grad is not None], 1.0)
            optimizer.step()
            step += 1
            if time.time() - kept > 60 * job["keep"]:
                kept = time.time()
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state(), "step": step}, state + ".part")
                os.replace(state + ".part", state)
            if step % job["talk"] == 0:
                print(job["name"], f"epoch {epoch} step {step} of {total}", round(float(loss.detach()), 3), f"{time.time() - begin:.0f} s", flush=True)
    torch.save({"job": job, "state": {name: value.half() if value.is_floating_point() else value for name, value in model.state_dict().items()}}, f"{out}/{job['name']}.pt")
    if os.path.exists(state):
        os.remove(state)
    for split in ("val", "held"):
        own = [row for row in data["rows"] if row["split"] == split]
        if job["limit"]:
            own = own[::max(1, len(own) // job["limit"])]
        found = predict(model, batches, own, cast)
        with open(f"{out}/{job['name']}.{split}.jsonl", "w") as file:
            for one in found:
                file.write(json.dumps(one, separators=(",", ":")) + "\n")
        if split == "val":
            for name, figures in strict(data, own, found).items():
                print(f"  {name:24s} right {figures[0]:.3f} found {figures[1]:.3f} F1 {figures[2]:.3f} n {figures[3]}")
    print(job["name"], f"rows {len(rows)} steps {step} in {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
