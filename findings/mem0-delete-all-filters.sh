#!/usr/bin/env bash
# mem0ai 2.2.1 (PyPI): `delete_all(filters={"user_id": "ana"})`, which its options document, sends Python's own writing of the
# dictionary as one value of the query, `?filters={'user_id': 'ana'}`, which is no JSON; `delete_all(user_id="ana")` sends
# `?user_id=ana`. `search` and `get_all` refuse owners beside `filters` before anything is sent, `add` sends them in the body as
# they are. mem0ai 3.3.1 (npm) sends `?filters=[object Object]` for the same.
# Expected: one way to name an owner, and a query that a server can read.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"; export HOME=$folder MEM0_TELEMETRY=false
python3 -m venv v; v/bin/pip -q install mem0ai==2.2.1
npm init -y >/dev/null; npm install --silent --no-audit --no-fund --ignore-scripts mem0ai@3.3.1 >/dev/null 2>&1
cat > seen.py <<'P'
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import unquote_plus
class Seen(BaseHTTPRequestHandler):
    def answer(self):
        length = int(self.headers.get("content-length") or 0); body = self.rfile.read(length).decode()
        print(self.command, unquote_plus(self.path), body, file=open("seen.txt", "a"), flush=True)
        out = json.dumps({"status": "ok", "org_id": "o", "project_id": "p", "message": "ok", "results": []}).encode()
        self.send_response(200); self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(out))); self.end_headers(); self.wfile.write(out)
    do_GET = do_POST = do_DELETE = answer
    def log_message(self, *_): pass
server = HTTPServer(("127.0.0.1", 0), Seen); print(server.server_port, file=open("port", "w"), flush=True); server.serve_forever()
P
python3 seen.py & server=$!; trap 'kill $server; rm -rf "$folder"' EXIT
until [ -s port ]; do sleep 0.1; done; export PORT=$(cat port)
v/bin/python - <<'P'
import os
from mem0 import MemoryClient
client = MemoryClient(api_key="m0-x", host=f"http://127.0.0.1:{os.environ['PORT']}")
client.delete_all(filters={"user_id": "ana"})
client.delete_all(user_id="ana")
client.add("hi", user_id="ana")
try: client.search("hi", user_id="ana")
except ValueError as error: print("search:", error)
P
cat > c.cjs <<'J'
const { MemoryClient } = require("mem0ai");
const client = new MemoryClient({ apiKey: "m0-x", host: `http://127.0.0.1:${process.env.PORT}` });
client.deleteAll({ filters: { user_id: "ana" } }).then(() => client.deleteAll({ userId: "ana" })).then(() => process.exit(0));
J
node c.cjs
cat seen.txt
grep -qF "DELETE /v1/memories/?filters={'user_id': 'ana'}" seen.txt
grep -qF "DELETE /v1/memories/?filters=[object Object]" seen.txt
[ "$(grep -cF 'DELETE /v1/memories/?user_id=ana' seen.txt)" = 2 ]
