"""Two users of one space try every door of `mnemal` for what is the other's: `doors.py PROGRAM [--json] [--write FILE]`.

Every route of the OpenAPI document, every tool of the Model Context Protocol and every command that reads or writes a space is
called with the ids of the other user, with names that it does not know, and with filters. Four kinds of keys: of one user, of
the other, of everybody, and one that may not read; and none at all. What the web UI uses besides, the same way: logins by key
and by one-time code, every route with the cookie of a session from its own page and from others, logouts, the stream of events,
and the files of the UI.

A leak is an answer with words that only the other user said, or that a key may not read. A silent drop is a name that is not
known and not refused by name. What was the other's must be there as before.
"""

import argparse
import collections
import concurrent.futures
import http.client
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse

SPACE = "doors"
UNKNOWN = "nonsense"
WORDS = "garden Kiruna Ronja nests kettle"
#: Words that one user alone says, in every layer.
CANARIES = {
    "ada": ["Quarzblende", "zimtkrone", "nebelfink", "opaldistel", "moorlaterne", "silberhuf"],
    "bo": ["Bergkamm", "kupferkanne", "graureiher", "fichtennadel", "sturmglocke", "lehmofen"],
}
#: Fields that hold an id or a name of a record.
IDS = {
    "id", "ids", "key", "keys", "session", "record", "record_id", "entity", "entities", "subject", "object", "from", "to",
    "center", "who", "name", "names", "memory_id", "event_id", "recall_id", "parent", "run_id", "q", "prefix", "text_id",
    "confirm_token", "entity_id", "fact_id", "other", "into", "one", "path", "category",
}
#: Fields with words.
TEXTS = {"query", "content", "text", "value", "messages", "data", "new_text", "old_text"}
PROFILES = ["minimal", "core", "full", "classic", "compat", "chatgpt"]


class Tally:
    def __init__(self):
        self.calls, self.leaks, self.drops, self.failures = collections.Counter(), [], [], []

    def leak(self, door, what):
        self.leaks.append({"door": door, "what": what[:300]})

    def drop(self, door, what):
        self.drops.append({"door": door, "what": what[:300]})


class Program:
    """The program in a home of its own, and the server that it is."""

    def __init__(self, program, home):
        self.program = program
        self.env = {**os.environ, "HOME": home, "MNEMAL_DATA_DIR": f"{home}/data"}
        self.env |= {"MNEMAL_SERVER__RATE_LIMIT_RPS": "100000", "MNEMAL_SERVER__RATE_LIMIT_BURST": "100000"}
        self.env |= {"MNEMAL_COMPAT__MEM0": "true", "MNEMAL_SERVER__MCP": "true"}
        # Notes come by the hundred, and those that a rule holds back would tell nothing.
        self.env |= {"MNEMAL_PRIVACY__AGENT_ITEMS_PER_HOUR": "0"}

    def said(self, *arguments, stdin=""):
        command = [self.program, "-s", SPACE, *arguments]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, input=stdin, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def key(self, name, rights, user=None):
        of = ["--user", user] if user else []
        code, out, err = self.said("--json", "key", "create", "--name", name, "--rights", rights, *of)
        if code:
            raise SystemExit(f"FAILED: no key: {err}")
        return json.loads(out)["secret"]

    def serve(self):
        command = [self.program, "serve", "--listen", "127.0.0.1:0"]
        self.said_by_server = f"{self.env['HOME']}/server.txt"
        with open(self.said_by_server, "w") as out:
            self.child = subprocess.Popen(command, env=self.env, stderr=out, stdout=out)
        for _ in range(600):
            for line in open(self.said_by_server):
                if "http://" in line and line.endswith("\n"):
                    self.address = line.split("http://")[1].split("/")[0].split()[0]
                    return
            time.sleep(0.1)
        raise SystemExit(f"FAILED: the server did not start: {self.child.poll()}")

    def died(self):
        """What the server said last, where it has ended."""
        code = self.child.poll()
        return None if code is None else f"{code}: {open(self.said_by_server).read()[-2_000:]}"


def ask(program, key, method, path, body=None, accept="application/json"):
    status, _, text = exchange(program, key, method, path, body, {"accept": accept})
    return status, text


def exchange(program, key, method, path, body=None, others=None):
    """One request, with the headers of its answer."""
    host, port = program.address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=120)
    headers = {"content-type": "application/json", **(others or {})}
    if key:
        headers["authorization"] = f"Bearer {key}"
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


def streamed(program, headers, work):
    """What the stream of events tells while something is done, up to a second after it."""
    host, port = program.address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=1)
    said = b""
    try:
        connection.request("GET", at("stream"), None, {"accept": "text/event-stream", **headers})
        answer = connection.getresponse()
        if answer.status >= 300:
            return answer.status, answer.read().decode("utf-8", "replace")
        work()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            said += answer.read1(65_536)
    except TimeoutError:
        pass
    finally:
        connection.close()
    return 200, said.decode("utf-8", "replace")


def at(path):
    return f"/v1/spaces/{SPACE}/{path}"


def planted(program, key, user, when="today"):
    """Says the same kinds of things for a user, and returns what they are called. What was forgotten is said in other words."""
    friend, thing, bird, flower, lamp, hoof = CANARIES[user]

    def done(method, path, body=None):
        status, text = ask(program, key, method, at(path), body)
        if status >= 300:
            raise SystemExit(f"FAILED: {method} {path}: {status} {text}")
        return json.loads(text)

    session = f"talk-of-{user}"
    turns = [
        {"role": "user", "content": f"My friend Ronja {friend} lives in Kiruna and keeps a {thing} in the garden {when}."},
        {"role": "assistant", "content": f"The {lamp} of Ronja {friend} stands in the garden {when}."},
        {"role": "user", "content": f"I prefer a {flower} in the garden {when}."},
    ]
    said = done("POST", "messages", {"session": session, "channel": f"channel-of-{user}", "messages": turns})
    note = done("POST", "memories", {
        "content": f"The {bird} nests in the garden {when}", "key": f"note-of-{user}", "tags": [f"tag-{bird}"],
        "category": f"birds/{bird}", "metadata": {"where": f"at the {hoof}"},
    })
    done("PUT", "working/plan", {"value": f"feed the {bird}", "tags": [bird]})
    done("POST", "ingest", {"text": f"The {hoof} is kept in Kiruna {when}, beside the garden."})
    context = done("POST", "context", {"query": WORDS, "session": f"asking-{user}"})
    entities = done("GET", "entities")["items"]
    facts = done("GET", "facts")["items"]
    known = [said["event_ids"][0], note["id"], note.get("event_id"), context["recall_id"]]
    known += [one["id"] for one in entities[:2]] + [one["id"] for one in facts[:2]]
    known += [f"note-of-{user}", session, "Ronja", f"session:{session}", "root", "plan"]
    return [one for one in known if one]


class Doors:
    def __init__(self, program, keys, known):
        self.program, self.keys, self.known, self.tally = program, keys, known, Tally()
        status, text = ask(program, None, "GET", "/openapi.json")
        self.document = json.loads(text)

    def look(self, door, words_of, asked, answered):
        """Looks for words of a user in an answer; what the request itself says is no news."""
        asked = asked.lower()
        for canary in itertools.chain.from_iterable(CANARIES[user] for user in words_of):
            if canary.lower() in answered.lower() and canary.lower() not in asked:
                self.tally.leak(door, f"{canary}: {answered}")
                return

    def call(self, who, words_of, method, path, body=None):
        """One request; its answer must hold no words of these users."""
        status, text = ask(self.program, self.keys.get(who), method, path, body)
        self.tally.calls["http"] += 1
        door = f"{who} {method} {path}"
        self.look(door, words_of, urllib.parse.unquote(path) + json.dumps(body), text)
        if status >= 500 and status != 501:
            self.tally.failures.append({"door": door, "what": f"{status} {text[:300]}"})
        return status, text

    # --- routes

    def schema(self, node):
        while "$ref" in node:
            node = self.document["components"]["schemas"][node["$ref"].rsplit("/", 1)[1]]
        return node

    def value(self, name, schema, record):
        schema = self.schema(schema)
        options = schema.get("anyOf") or schema.get("oneOf")
        if options:
            return self.value(name, next((one for one in options if one.get("type") != "null"), {}), record)
        kind = schema.get("type")
        kind = next((one for one in kind if one != "null"), None) if isinstance(kind, list) else kind
        if "enum" in schema:
            return schema["enum"][0]
        if kind == "string":
            fixed = {"role": "user", "sha256": "0" * 64, "verdict": "useful", "kb_name": SPACE, "command": "view"}
            if name in fixed:
                return fixed[name]
            return WORDS if name in TEXTS else record
        if kind in ("integer", "number"):
            return max(schema.get("minimum", 1), 1)
        if kind == "boolean":
            return name in ("dry_run", "explain", "include_quarantined", "all")
        if kind == "array":
            if name == "messages":
                return [{"role": "user", "content": WORDS}]
            return [self.value(name, schema.get("items", {}), record)]
        if kind == "object" or "properties" in schema:
            return self.body(schema, record)
        return record

    def body(self, schema, record):
        schema = self.schema(schema)
        fields = schema.get("properties", {})
        return {name: self.value(name, fields.get(name, {}), record) for name in schema.get("required", [])}

    def routes(self):
        for path, methods in sorted(self.document["paths"].items()):
            if path.endswith("/stream"):
                continue
            for method, operation in sorted(methods.items()):
                content = operation.get("requestBody", {}).get("content", {})
                yield path, method.upper(), operation, self.schema(content.get("application/json", {}).get("schema", {}))

    def place(self, path, record):
        encoded = urllib.parse.quote(record, safe="")
        path = path.replace("{space}", SPACE).replace("{kb}", SPACE).replace("{type}", "user")
        while "{" in path:
            begin, end = path.index("{"), path.index("}")
            path = path[:begin] + encoded + path[end + 1:]
        return path

    def bodies(self, operation, schema, record):
        """The least that a route asks for, and one field of a record more."""
        if "requestBody" not in operation:
            yield None
            return
        least = self.body(schema, record)
        yield least
        for name, field in schema.get("properties", {}).items():
            if name in IDS and name not in least:
                yield {**least, name: self.value(name, field, record)}
            if name == "selector":
                for one in ("id", "ids", "key", "session", "entity"):
                    yield {**least, "dry_run": True, "selector": {one: [record] if one == "ids" else record}}

    def foreign(self, who, other):
        """A key of one user on every route, with everything that is the other's."""
        for path, method, operation, schema in self.routes():
            queries = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
            for record in self.known[other]:
                for body in self.bodies(operation, schema, record):
                    self.call(who, [other], method, self.place(path, record), body)
                named = [name for name in queries if name in IDS]
                if named and method == "GET":
                    pairs = {name: record for name in named}
                    self.call(who, [other], method, f"{self.place(path, record)}?{urllib.parse.urlencode(pairs)}")

    def filters(self, who, other):
        """A key of one user that names the other one; a key of everybody that asks for one."""
        for path, method, operation, schema in self.routes():
            record = self.known[who][0]
            queries = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
            for name in queries & {"user", "user_id"}:
                place = f"{self.place(path, record)}?{urllib.parse.urlencode({name: other})}"
                body = self.body(schema, record) if "requestBody" in operation else None
                status, text = self.call(who, [other], method, place, body)
                if status < 300:
                    self.tally.drop(f"{who} {method} {place}", f"{name} of another is not refused: {status} {text}")
                reads = operation.get("x-right") == "read"
                if reads:
                    self.call("everybody", [who], method, place, body)
            for name in set(schema.get("properties", {})) & {"user", "user_id"}:
                body = {**self.body(schema, record), name: other}
                status, text = self.call(who, [other], method, self.place(path, record), body)
                if status < 300:
                    self.tally.drop(f"{who} {method} {path}", f"{name} of another is not refused: {text}")
                if operation.get("x-right") == "read":
                    self.call("everybody", [who], method, self.place(path, record), body)
        for filters in (
            {"user_id": other}, {"OR": [{"user_id": who}, {"user_id": other}]}, {"NOT": [{"user_id": who}]},
            {"user_id": {"in": [who, other]}}, {"user_id": "*"}, {"user_id": {"ne": who}}, {"user_id": {"icontains": other}},
        ):
            for path in ("/search", "/v3/memories", "/v2/memories/search", "/v2/memories"):
                self.call(who, [other], "POST", path, {"query": WORDS, "filters": filters})
            query = urllib.parse.urlencode({"filters": json.dumps(filters)})
            self.call(who, [other], "GET", f"/memories?{query}")

    def unknown(self, who):
        """A name that no route knows, behind the question mark and in the body."""
        for path, method, operation, schema in self.routes():
            record = self.known[who][0]
            place = self.place(path, record)
            body = self.body(schema, record) if "requestBody" in operation else None
            for name in (UNKNOWN, "User", "userId", "user_ids", "limits"):
                status, text = self.call(who, [], method, f"{place}?{name}=1", body)
                if status < 400 or status == 400 and name not in text:
                    self.tally.drop(f"{who} {method} {path}?{name}", f"{status} {text}")
                if not schema.get("properties"):
                    continue
                status, text = self.call(who, [], method, place, {**(body or {}), name: 1})
                if status < 400:
                    self.tally.drop(f"{who} {method} {path} body {name}", f"{status} {text}")

    def without_right(self):
        """A key that may not read, one that may only read, and none at all."""
        everybody = list(CANARIES)
        for path, method, operation, schema in self.routes():
            right = operation.get("x-right")
            for record in self.known["ada"][:3]:
                body = self.body(schema, record) if "requestBody" in operation else None
                place = self.place(path, record)
                for who in ("nobody", "counter"):
                    status, text = self.call(who, everybody, method, place, body)
                    if right and status < 300 and not (who == "counter" and right == "metrics"):
                        self.tally.leak(f"{who} {method} {path}", f"{status} {text}")
                if right and right != "read":
                    status, text = self.call("reader", [], method, place, body)
                    if status < 300:
                        self.tally.leak(f"reader {method} {path}", f"{status} {text}")

    # --- the web UI

    def paged(self, who, cookie, method, path, body=None, **others):
        """One request of a page, with a cookie."""
        own = {"origin": f"http://{self.program.address}", "sec-fetch-site": "same-origin"}
        headers = {"cookie": cookie, **own, **{name.replace("_", "-"): value for name, value in others.items()}}
        headers = {name: value for name, value in headers.items() if value is not None}
        status, found, text = exchange(self.program, None, method, path, body, headers)
        self.tally.calls["browser"] += 1
        if status >= 500 and status != 501:
            self.tally.failures.append({"door": f"{who}'s page {method} {path}", "what": f"{status} {text[:300]}"})
        return status, found, text

    def login(self, who, body):
        """Logs in, and returns the cookie as a browser would send it; none where it is refused."""
        status, headers, text = self.paged(who, "none=0", "POST", "/v1/login", body)
        if status >= 300:
            return None
        cookie = headers.get("set-cookie") or ""
        for wanted in ("HttpOnly", "SameSite=Strict", "Path=/v1", "Max-Age="):
            if wanted not in cookie:
                self.tally.leak(f"{who} POST /v1/login", f"a cookie without {wanted}: {cookie}")
        if self.keys[who] in text + cookie:
            self.tally.leak(f"{who} POST /v1/login", "the answer has the key")
        return cookie.split(";")[0]

    def expect(self, door, is_right, status, text):
        if not is_right:
            self.tally.leak(door, f"{status} {text}")

    def browsers(self, who, other):
        """Logins of one user, and every route with the cookie: with what is the other's, from other pages, and after a logout."""
        refused = [{"key": "mnk_none"}, {"key": ""}, {"code": "none"}, {"code": self.keys[who]}, {"key": self.keys[who], "code": "x"}, {}]
        for body in refused:
            self.expect(f"{who} POST /v1/login {sorted(body)}", self.login(who, body) is None, "", "is let in")
        _, text = ask(self.program, self.keys[who], "POST", "/v1/login/code")
        code = json.loads(text)["code"]
        first = self.login(who, {"code": code})
        self.expect(f"{who} POST /v1/login", first and not self.login(who, {"code": code}), "", "a code counts once")
        cookie = self.login(who, {"key": self.keys[who]})
        self.expect(f"{who} POST /v1/login", cookie and cookie != first, "", "each login has a session of its own")
        status, _, text = self.paged(who, cookie, "GET", "/v1/login")
        self.expect(f"{who}'s page GET /v1/login", status == 200 and json.loads(text)["user"] == who, status, text)
        name = cookie.split("=")[0]
        strangers = [f"{name}=0", f"{name}={self.keys[who]}", f"{name}={code}", f"other_{cookie}", f"{cookie}0", cookie[:-1]]
        pages = ["http://127.0.0.1:1", "http://localhost", "https://mnemal.example", "null", f"https://{self.program.address}"]
        routes = list(self.routes())
        for place, (path, method, operation, schema) in enumerate(routes):
            needs = operation.get("x-right")
            least = self.body(schema, self.known[other][0]) if "requestBody" in operation else None
            for record in self.known[other][:4]:
                for body in self.bodies(operation, schema, record):
                    where = self.place(path, record)
                    if "/v1/login" in path:
                        continue
                    status, _, text = self.paged(who, cookie, method, where, body)
                    self.look(f"{who}'s page {method} {where}", [other], where + json.dumps(body), text)
            if not needs:
                continue
            where = self.place(path, self.known[who][0])
            door = f"{who}'s page {method} {path}"
            for origin in [pages[place % len(pages)], *([None] if method != "GET" else [])]:
                status, _, text = self.paged(who, cookie, method, where, least, origin=origin)
                self.expect(f"{door} from {origin}", status in (400, 403), status, text)
            if method == "GET":
                for site in ("cross-site", "same-site"):
                    status, _, text = self.paged(who, cookie, method, where, least, origin=None, sec_fetch_site=site)
                    self.expect(f"{door} {site}", status == 403, status, text)
            status, _, text = self.paged(who, strangers[place % len(strangers)], method, where, least)
            self.expect(f"{door} with another cookie", status == 401, status, text)
            status, _, text = self.paged(who, cookie, method, where, least, authorization="Bearer mnk_none")
            self.expect(f"{door} with a wrong key beside the cookie", status == 401, status, text)
            status, _, text = self.paged(who, cookie, method, where, least, host="mnemal.example")
            self.expect(f"{door} under another host", status in (400, 403, 421), status, text)
        self.streams(who, other, cookie)
        for stopped in (cookie, first):
            status, headers, text = self.paged(who, stopped, "DELETE", "/v1/login")
            gone = headers.get("set-cookie") or ""
            self.expect(f"{who} DELETE /v1/login", status == 200 and "Max-Age=0" in gone, status, gone + text)
        for path, method, operation, schema in routes:
            if operation.get("x-right"):
                least = self.body(schema, self.known[who][0]) if "requestBody" in operation else None
                status, _, text = self.paged(who, cookie, method, self.place(path, self.known[who][0]), least)
                self.expect(f"{who}'s page {method} {path} after the logout", status == 401, status, text)

    def streams(self, who, other, cookie):
        """What the stream tells of while the other one says something, and to whom it says nothing."""
        words = CANARIES[other][0]

        def say():
            turn = {"role": "user", "content": f"The garden of {words} has a bench."}
            ask(self.program, self.keys[other], "POST", at("messages"), {"session": f"bench-of-{other}", "messages": [turn]})

        page = {"cookie": cookie, "sec-fetch-site": "same-origin"}
        for door, headers in (("page", page), ("key", {"authorization": f"Bearer {self.keys[who]}"})):
            status, text = streamed(self.program, headers, say)
            self.tally.calls["browser"] += 1
            self.look(f"{who}'s {door} GET stream", [other], "", text)
            self.expect(f"{who}'s {door} GET stream", f"bench-of-{other}" not in text, status, text)
        own = {"authorization": f"Bearer {self.keys[other]}"}
        status, text = streamed(self.program, own, say)
        self.expect(f"{other}'s key GET stream", status in (200, 403) and (status == 403 or "event.stored" in text), status, text)
        for door, headers in (
            ("nobody", {}), ("counter", {"authorization": f"Bearer {self.keys['counter']}"}),
            ("another page", {**page, "origin": "http://127.0.0.1:1"}), ("another site", {**page, "sec-fetch-site": "cross-site"}),
        ):
            status, text = streamed(self.program, headers, say)
            self.tally.calls["browser"] += 1
            self.expect(f"{who} {door} GET stream", status in (401, 403), status, text)

    def files(self):
        """The files of the UI need no key: they hold nothing of anybody, and nothing lies behind them."""
        names = ["", "app.js", "app.css", "force.js", "icon.svg", "index.html", "../v1/spaces", "..%2f..%2fetc%2fpasswd", "%2e%2e/data", "app.js/x"]
        for name in names:
            for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
                status, headers, text = self.paged("nobody", "none=0", method, f"/ui/{name}")
                door = f"nobody {method} /ui/{name}"
                self.look(door, list(CANARIES), "", text)
                self.expect(door, status < 400 or status in (401, 403, 404, 405), status, text[:200])
                if status == 200:
                    policy = headers.get("content-security-policy") or ""
                    self.expect(door, method == "GET" and "default-src 'none'" in policy and "unsafe" not in policy, status, policy)
            status, headers, text = self.paged("nobody", "none=0", "GET", f"/ui/{name}", host="mnemal.example")
            self.expect(f"nobody GET /ui/{name} under another host", status >= 400, status, text[:200])

    # --- tools

    def tool(self, who, profile, tool, arguments):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        self.tally.calls["mcp"] += 1
        accept = "application/json, text/event-stream"
        _, text = ask(self.program, self.keys[who], "POST", f"/mcp/{SPACE}?profile={profile}", call, accept)
        return text

    def tools(self, who, other):
        accept = "application/json, text/event-stream"
        for profile in PROFILES:
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            status, text = ask(self.program, self.keys[who], "POST", f"/mcp/{SPACE}?profile={profile}", call, accept)
            if status >= 400:
                continue
            line = next((one[5:] for one in text.splitlines() if one.startswith("data:")), text)
            for tool in json.loads(line)["result"]["tools"]:
                schema, name = tool["inputSchema"], tool["name"]
                door = f"{who} {profile} {name}"
                least = {**self.plain(schema, self.known[who][0])}
                text = self.tool(who, profile, name, {**least, UNKNOWN: 1})
                self.look(door, [other], json.dumps(least), text)
                if UNKNOWN not in text and '"isError":true' not in text:
                    self.tally.drop(door, f"{UNKNOWN}: {text}")
                for record in self.known[other]:
                    least = self.plain(schema, record)
                    variants = [least]
                    for field, form in schema.get("properties", {}).items():
                        if field in IDS and field not in least:
                            variants.append({**least, field: self.plain_value(field, form, record)})
                    for arguments in variants:
                        self.look(door, [other], json.dumps(arguments), self.tool(who, profile, name, arguments))
            for method, params in (
                [("resources/list", {}), ("resources/templates/list", {}), ("prompts/list", {})]
                + [("resources/read", {"uri": uri}) for uri in self.uris(other)]
            ):
                call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                _, text = ask(self.program, self.keys[who], "POST", f"/mcp/{SPACE}?profile={profile}", call, accept)
                self.tally.calls["mcp"] += 1
                self.look(f"{who} {profile} {method}", [other], json.dumps(params), text)

    def uris(self, other):
        for record in self.known[other]:
            encoded = urllib.parse.quote(record, safe="")
            for kind in ("summary", "entity", "memory", "session", "event", "note"):
                yield f"mnemal://{SPACE}/{kind}/{encoded}"
        yield "memory://graph"

    def plain(self, schema, record):
        fields = schema.get("properties", {})
        return {name: self.plain_value(name, fields.get(name, {}), record) for name in schema.get("required", [])}

    def plain_value(self, name, schema, record):
        if schema.get("enum"):
            return schema["enum"][0]
        kind = schema.get("type")
        kind = next((one for one in kind if one != "null"), None) if isinstance(kind, list) else kind
        if kind == "array":
            return [self.plain_value(name, schema.get("items", {}), record)]
        if kind == "object":
            return self.plain(schema, record)
        if kind in ("integer", "number"):
            return 1
        if kind == "boolean":
            return True
        return WORDS if name in TEXTS else record

    # --- commands

    def commands(self, who, other):
        """Every command that reads or decides, as one user, with everything that is the other's."""
        lines = [
            ["memory", "show"], ["memory", "history"], ["memory", "archive"], ["memory", "restore"], ["memory", "reject"],
            ["learning", "show"], ["preference", "show"], ["log", "show"], ["log", "release"], ["entity", "show"],
            ["entity", "forget", "--dry-run"], ["fact", "list", "--about"], ["session", "show"], ["session", "rm", "--dry-run"],
            ["summary"], ["why"], ["forget", "--dry-run"], ["forget", "--dry-run", "--key"], ["forget", "--dry-run", "--session"],
            ["forget", "--dry-run", "--person"], ["forget", "--dry-run", "--query"], ["undo"], ["working", "get"], ["extract"],
            ["recall"], ["ask"], ["context"], ["remember", "--key"],
        ]
        bare = [
            ["memory", "list"], ["memory", "categories"], ["learning", "list"], ["preference", "list"], ["log", "list"],
            ["entity", "list"], ["entity", "suggestions"], ["fact", "list"], ["topic", "list"], ["session", "list"],
            ["summary", "root", "--tree"], ["graph", "export"], ["recall", WORDS], ["ask", WORDS], ["context", WORDS], ["working", "list"],
            ["memory", "search", WORDS], ["memory", "entities"],
        ]
        of_whole = [["export"], ["dream"], ["doctor"], ["check"], ["backup", "x.db"], ["audit"], ["space", "list"], ["status"]]

        def one(line, expected=None):
            code, out, err = self.program.said("--only-user", who, *line)
            self.tally.calls["cli"] += 1
            self.look(f"{who} {' '.join(line)}", [other], " ".join(line), out + err)
            if expected and code != expected:
                self.tally.drop(f"{who} {' '.join(line)}", f"exit {code}: {out}{err}")
            if code > 100:
                self.tally.failures.append({"door": " ".join(line), "what": f"exit {code}: {err[-300:]}"})

        work = [(line, None) for line in bare]
        for line in lines:
            for record in self.known[other][::2]:
                work.append(([*line, record, "x"] if line[0] == "remember" else [*line, record], None))
        work += [([*line, f"--{UNKNOWN}"], 2) for line in lines + bare]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: one(*each), work))
        for line in of_whole:
            code, out, err = self.program.said("--only-user", who, *line)
            self.tally.calls["cli"] += 1
            if code == 0:
                self.tally.leak(f"{who} {' '.join(line)}", out)

    def tell(self, part):
        """Says to whoever waits how far it is."""
        tally = self.tally
        counts = f"{len(tally.leaks)} leaks, {len(tally.drops)} silent drops, {len(tally.failures)} failures"
        print(f"{part}: {tally.calls.total()} calls, {counts}", file=sys.stderr, flush=True)
        for found in (tally.leaks, tally.drops, tally.failures):
            for one in found[-6:]:
                print(f"  {one['door']}: {one['what'][:200]}", file=sys.stderr, flush=True)

    def held(self, who):
        """What a user has, as he sees it."""
        said = [ask(self.program, self.keys[who], "GET", at(path))[1] for path in ("memories", "events", "entities", "working")]
        return [canary for canary in CANARIES[who] if any(canary.lower() in text.lower() for text in said)]


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("program")
    parse.add_argument("--json", action="store_true")
    parse.add_argument("--write")
    asked = parse.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        program = Program(asked.program, home)
        program.said("init")
        rights = "read,write,erase"
        keys = {user: program.key(user, rights, user) for user in CANARIES}
        keys |= {"everybody": program.key("everybody", rights), "reader": program.key("reader", "read")}
        keys |= {"counter": program.key("counter", "metrics")}
        program.serve()
        try:
            known = {user: planted(program, keys[user], user) for user in CANARIES}
            doors = Doors(program, keys, known)
            before = {user: doors.held(user) for user in CANARIES}
            for who, other in (("bo", "ada"), ("ada", "bo")):
                for part in (doors.filters, doors.foreign, doors.tools):
                    part(who, other)
                    doors.tell(f"{part.__name__} {who}")
                # What is said by the way is forgotten: each begins with all of what was the other's.
                if before[other] != doors.held(other):
                    doors.tally.leak(f"{who} everywhere", f"of {other} there was {before[other]}, now {doors.held(other)}")
                if who == "bo":
                    doors.commands(who, other)
                    doors.tell("commands")
                    known["bo"] = planted_again(program, keys["bo"])
                    before["bo"] = doors.held("bo")
            for who, other in (("bo", "ada"), ("ada", "bo")):
                doors.browsers(who, other)
                doors.tell(f"browsers {who}")
            doors.files()
            doors.unknown("bo")
            doors.without_right()
            died = program.died()
        except OSError as error:
            died = f"{error}: {program.died()}"
        finally:
            program.child.terminate()
            program.child.wait()
    tally = doors.tally
    outcome = {
        "calls": tally.calls.total(),
        "by_door": dict(sorted(tally.calls.items())),
        "leaks": len(tally.leaks),
        "silent_drops": len(tally.drops),
        "failures": len(tally.failures),
        "server_died": died is not None,
        "seconds": round(time.monotonic() - begun, 1),
    }
    found = {"leaks": tally.leaks[:40], "silent_drops": tally.drops[:40], "failures": tally.failures[:40]}
    text = json.dumps(outcome, indent=1)
    print(text)
    if asked.write:
        with open(asked.write, "w") as out:
            out.write(text + "\n")
    if any(found.values()) or died is not None:
        print(json.dumps({**found, "died": died}, indent=1), file=sys.stderr)
        raise SystemExit("FAILED")


def planted_again(program, key):
    """The one who has called every door has put away much of what was his own, and says it once more."""
    return planted(program, key, "bo", "again")


main()
