#!/usr/bin/env python3
"""punt pull and --model hf:... against a server that behaves like the Hugging Face hub: lists of files, redirections to a
second server for large files, ranges; and that breaks off, stalls, lies, refuses, or means harm.

  PUNT=build/release/punt PUNT_SOURCE_DIR=. tests/hub_test.py
"""

import hashlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
PUNT = os.environ["PUNT"]
SOURCE = os.environ["PUNT_SOURCE_DIR"]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secret"
failures = []


def check(condition, name, detail=""):
    if not condition:
        failures.append(name)
        print(f"FAILED: {name} {detail}", flush=True)


def git_hash(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Hub:
    """Files of repositories, and how the servers misbehave."""

    def __init__(self):
        self.repos = {}     # name -> {file: bytes}
        self.large = {}     # hash -> bytes, what the second server sends
        self.reset()
        self.lock = threading.Lock()

    def reset(self):
        self.requests = []      # (server, method, path, headers)
        self.status = {}        # part of a path -> (status, headers), always
        self.busy = {}          # part of a path -> how often it answers 503
        self.cut = None         # bytes after which a transfer of a large file ends
        self.cuts = 1 << 30     # how often
        self.ranges = True
        self.stalls = 0         # transfers that send half and then nothing, until
        self.hold = threading.Event()
        self.delay = 0          # seconds between pieces of 4 KiB
        self.redirect = None    # where large files are said to be
        self.listing = None     # the answer to a question for a list, instead of the true one
        self.says_hashes = True
        self.extra = b""        # sent behind a large file
        self.wrong_start = False

    def add(self, repo, files):
        self.repos[repo] = files
        for name, data in files.items():
            if is_large(name):
                self.large[sha256(data)] = data

    def asked(self, server, part):
        return [r for r in self.requests if r[0] == server and part in r[2]]


def is_large(name):
    return name.endswith((".gguf", ".safetensors", "tokenizer.json"))


hub = Hub()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if "Content-Length" not in (headers or {}):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def note(self, server):
        with hub.lock:
            hub.requests.append((server, self.command, self.path, dict(self.headers)))
            for part, count in hub.busy.items():
                if part in self.path and count > 0:
                    hub.busy[part] -= 1
                    return (503, {})
            for part, said in hub.status.items():
                if part in self.path:
                    return said
        return None

    def do_HEAD(self):
        self.do_GET()


class Front(Handler):
    def do_GET(self):
        said = self.note("front")
        if said:
            return self.answer(said[0], b"no", said[1])
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        if path.startswith("/api/models/"):
            return self.list_files(path[len("/api/models/"):])
        repo, _, rest = path[1:].partition("/resolve/")
        commit, _, name = rest.partition("/")
        files = hub.repos.get(repo)
        if files is None or commit != COMMIT or name not in files:
            return self.answer(404, b"", {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"})
        data = files[name]
        if not is_large(name):
            return self.answer(200, data, {"ETag": f'"{git_hash(data)}"'})
        return self.answer(302, b"", {"Location": hub.redirect or f"http://127.0.0.1:{back.server_port}/{sha256(data)}",
                                      "X-Linked-Etag": f'"{sha256(data)}"', "X-Linked-Size": str(len(data))})

    def list_files(self, path):
        repo, _, revision = path.partition("/revision/")
        if hub.listing is not None:
            return self.answer(200, hub.listing)
        if repo not in hub.repos or revision not in ("main", "v2", COMMIT):
            return self.answer(404, b"", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        siblings = []
        for name, data in hub.repos[repo].items():
            entry = {"rfilename": name}
            if hub.says_hashes:
                entry |= {"size": len(data), "blobId": git_hash(data)}
                if is_large(name):
                    entry["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 134}
            siblings.append(entry)
        return self.answer(200, json.dumps({"id": repo, "sha": COMMIT, "siblings": siblings}).encode())


class Back(Handler):
    def do_GET(self):
        said = self.note("back")
        if said:
            return self.answer(said[0], b"no", said[1])
        data = hub.large.get(self.path.strip("/"))
        if data is None:
            return self.answer(404)
        begin = 0
        headers = {}
        status = 200
        wanted = self.headers.get("Range", "")
        if hub.ranges and wanted.startswith("bytes="):
            begin = int(wanted[6:].split("-")[0])
            if begin >= len(data):
                return self.answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            status = 206
            headers["Content-Range"] = f"bytes {begin + hub.wrong_start}-{len(data) - 1}/{len(data)}"
        body = data[begin:] + hub.extra
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if hub.extra:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with hub.lock:
            is_cut = hub.cut is not None and hub.cuts > 0
            hub.cuts -= is_cut
            stalls = hub.stalls > 0
            hub.stalls -= stalls
        end = hub.cut if is_cut else len(body) // 2 if stalls else len(body)
        for at in range(0, min(end, len(body)), 4096):
            self.wfile.write(body[at:min(at + 4096, end)])
            self.wfile.flush()
            time.sleep(hub.delay)
        if stalls:
            hub.hold.wait(300)
        if is_cut or stalls or hub.extra:
            self.close_connection = True
        return None


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients that go away


front = Server(("127.0.0.1", 0), Front)
back = Server(("127.0.0.1", 0), Back)
for server in (front, back):
    threading.Thread(target=server.serve_forever, daemon=True).start()
ENDPOINT = f"http://127.0.0.1:{front.server_port}"


# ---- the program

def environment(cache, **more):
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith("HF_") and not k.lower().endswith("_proxy") and k != "XDG_CACHE_HOME"}
    return {**clean, "HOME": cache, "HF_HUB_CACHE": os.path.join(cache, "hub"), "HF_ENDPOINT": ENDPOINT,
            "PUNT_MODELS_DIR": os.path.join(cache, "none"), **more}


def run(cache, *arguments, **more):
    return subprocess.run([PUNT, *arguments], env=environment(cache, **more), capture_output=True, text=True,
                          errors="replace", check=False, timeout=120, stdin=subprocess.DEVNULL)


def refused(name, result, code, *parts):
    check(result.returncode == code, f"{name}: exit code", result)
    check(result.stdout == "", f"{name}: nothing on the standard output", result)
    lines = [line for line in result.stderr.splitlines() if "pulling" not in line]
    check(len(lines) == 1 and lines[0].startswith("punt: "), f"{name}: one line", result)
    for part in parts:
        check(part in result.stderr, f"{name}: '{part}'", result)
    check(TOKEN not in result.stderr, f"{name}: no token in a message", result)


def repo_folder(cache, repo="user/folder"):
    return os.path.join(cache, "hub", "models--" + repo.replace("/", "--"))


def has_model(cache, repo="user/folder"):
    return os.path.exists(os.path.join(repo_folder(cache, repo), "refs/main"))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def incomplete(cache, repo):
    folder = os.path.join(repo_folder(cache, repo), "blobs")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in names if name.endswith(".incomplete")]


tests = []


def test(function):
    tests.append(function)
    return function


@test
def a_folder_in_the_hubs_layout(cache):
    result = run(cache, "pull", "user/folder", "--json")
    check(result.returncode == 0, "pull", result)
    said = json.loads(result.stdout)
    folder = os.path.join(repo_folder(cache), "snapshots", COMMIT)
    check(said["path"] == folder and said["commit"] == COMMIT and said["fetched"] == said["bytes"], "pull --json", said)
    check(read(os.path.join(repo_folder(cache), "refs/main")).decode() == COMMIT, "refs/main")
    files = hub.repos["user/folder"]
    wanted = {name for name in files if name not in ("README.md", "flax.msgpack")}
    check({f["name"] for f in said["files"]} == wanted, "which files", said)
    for name in wanted:
        path = os.path.join(folder, name)
        blob = (sha256 if is_large(name) else git_hash)(files[name])
        check(os.readlink(path) == f"../../blobs/{blob}" and read(path) == files[name], f"{name} is a link to its blob")
    check(not incomplete(cache, "user/folder"), "nothing is incomplete")
    before = len(hub.requests)
    again = run(cache, "pull", "hf:user/folder", "--json")
    check(json.loads(again.stdout)["fetched"] == 0, "a second pull fetches nothing", again)
    check(len(hub.requests) == before + 1, "and asks once", hub.requests[before:])
    text = run(cache, "generate", "--model", "hf:user/folder", "the ", "--length", "4", "--json")
    check(text.returncode == 0 and json.loads(text.stdout)["model"] == "hf:user/folder", "generate", text)
    check(len(hub.requests) == before + 1, "what is there is used without asking")
    offline = run(cache, "inspect", "hf:user/folder", "--json", HF_HUB_OFFLINE="1", HF_ENDPOINT="http://127.0.0.1:1")
    check(offline.returncode == 0 and json.loads(offline.stdout)["architecture"] == "llada", "offline", offline)


@test
def names_work_wherever_a_model_does(cache):
    tokens = run(cache, "tokenize", "--model", "hf:user/folder", "the", "--json")
    check(tokens.returncode == 0, "tokenize", tokens)
    made = os.path.join(cache, "made.gguf")
    converted = run(cache, "convert", "hf:user/gguf:q8_0", made)
    check(converted.returncode == 0 and os.path.exists(made), "convert", converted)
    adapted = run(cache, "generate", "--model", "hf:user/folder", "--lora", "hf:user/adapter:0.5", "the ", "--length", "4")
    check(adapted.returncode == 0, "an adapter by name", adapted)
    plain = run(cache, "generate", "--model", "hf:user/folder", "the ", "--length", "4")
    check(adapted.stdout != plain.stdout, "the adapter does something")


@test
def gguf_files_by_type(cache):
    q8 = run(cache, "pull", "user/gguf:Q8_0")
    check(q8.stdout.strip().endswith(f"snapshots/{COMMIT}/m-Q8_0.gguf"), "type", q8)
    check(not hub.asked("back", sha256(hub.repos["user/gguf"]["sub/m-F16.gguf"])), "only that one")
    f16 = run(cache, "pull", "user/gguf:f16")
    path = f16.stdout.strip()
    check(path.endswith("/sub/m-F16.gguf") and os.readlink(path).startswith("../../../blobs/"), "in a folder", f16)
    refused("no such type", run(cache, "pull", "user/gguf:q2_k"), 2, "user/gguf", "q2_k", "m-Q8_0.gguf")
    refused("no types", run(cache, "pull", "user/folder:q8_0"), 2, "user/folder", "no GGUF")
    plan = run(cache, "pull", "user/gguf:q8_0", "--dry-run")
    check("m-Q8_0.gguf  (in the cache)" in plan.stdout and plan.returncode == 0, "--dry-run", plan)
    fresh = os.path.join(cache, "fresh")
    planned = run(fresh, "pull", "user/folder", "--dry-run", "--json")
    check(json.loads(planned.stdout)["fetched"] == 0 and not os.path.exists(fresh), "--dry-run writes nothing", planned)
    check(run(cache, "pull", "user/gguf@v2:q8_0").returncode == 0, "a branch")
    check(read(os.path.join(repo_folder(cache, "user/gguf"), "refs/v2")).decode() == COMMIT, "refs/v2")


@test
def the_token_goes_to_the_hub_alone(cache):
    run(cache, "pull", "user/folder", HF_TOKEN=TOKEN)
    check(all(r[3].get("Authorization") == f"Bearer {TOKEN}" for r in hub.asked("front", "")), "sent to the hub")
    check(hub.asked("back", "") and not any("Authorization" in r[3] for r in hub.asked("back", "")), "and not further")
    for place in ("home", "path"):
        hub.reset()
        home = os.path.join(cache, place)
        os.makedirs(home)
        file = os.path.join(home, "token")
        with open(file, "w", encoding="ascii") as out:
            out.write(TOKEN + "\n")
        more = {"HF_HOME": home} if place == "home" else {"HF_TOKEN_PATH": file}
        run(cache, "pull", "user/folder", "--dry-run", **more)
        check(hub.requests[0][3].get("Authorization") == f"Bearer {TOKEN}", f"from the file, {place}", hub.requests)
    hub.reset()
    refused("a token of two lines", run(cache, "pull", "user/folder", HF_TOKEN="a\r\nX-Evil: 1"), 2, "HF_TOKEN")
    check(not hub.requests, "nothing is sent then")


@test
def transfers_that_break_off_go_on(cache):
    hub.cut = 20000
    result = run(cache, "pull", "user/folder")
    check(result.returncode == 0, "cut transfers", result)
    ranges = [r[3].get("Range") for r in hub.asked("back", "")]
    check("bytes=20000-" in ranges and "bytes=40000-" in ranges, "by ranges", ranges)
    check(read(os.path.join(result.stdout.strip(), "model.safetensors")) == hub.repos["user/folder"]["model.safetensors"],
          "and the bytes are right")


@test
def without_ranges_it_starts_over(cache):
    hub.cut, hub.cuts, hub.ranges = 20000, 2, False
    result = run(cache, "pull", "user/folder")
    check(result.returncode == 0, "a server without ranges", result)
    hub.reset()
    hub.cut, hub.ranges = 1000, False
    refused("one that never comes to the end", run(os.path.join(cache, "b"), "pull", "user/folder"), 1, "does not come",
            "tokenizer.json", "1000 of")


@test
def wrong_ranges_are_noticed(cache):
    hub.cut, hub.cuts, hub.wrong_start = 1000, 1, True
    refused("another range", run(cache, "pull", "user/folder"), 1, "asked for bytes from 1000 on")


@test
def damaged_files_are_refused(cache):
    data = hub.repos["user/folder"]["model.safetensors"]
    hub.large[sha256(data)] = data[:-1] + bytes([data[-1] ^ 1])
    refused("a wrong hash", run(cache, "pull", "user/folder"), 1, "model.safetensors", "SHA-256", sha256(data))
    hub.large[sha256(data)] = data
    check(not incomplete(cache, "user/folder") and not has_model(cache), "nothing of it is left")
    refused("and it is not opened", run(cache, "generate", "--model", "hf:user/folder", HF_HUB_OFFLINE="1"), 2, "OFFLINE")
    check(run(cache, "pull", "user/folder").returncode == 0, "the next pull is right")
    small = hub.repos["user/folder"]["config.json"]
    hub.listing = json.dumps({"sha": COMMIT, "siblings": [
        {"rfilename": "config.json", "size": len(small), "blobId": git_hash(small + b"x")},
        {"rfilename": "model.safetensors", "size": len(data), "lfs": {"sha256": sha256(data), "size": len(data)}}]}).encode()
    refused("a small file", run(os.path.join(cache, "b"), "pull", "user/folder"), 1, "config.json", "SHA-1")


@test
def more_than_announced_is_refused(cache):
    hub.extra = b"x" * 100
    refused("more bytes", run(cache, "pull", "user/folder"), 1, "more than the", "announced")


@test
def refusals_say_why(cache):
    hub.status = {"/api/models": (401, {"X-Error-Message": "Invalid username or password."})}
    refused("401", run(cache, "pull", "user/folder"), 2, "user/folder", "HF_TOKEN", "Invalid username")
    refused("401 with a token", run(cache, "pull", "user/folder", HF_TOKEN=TOKEN), 2, "token was not accepted")
    hub.status = {"/resolve/": (403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is\tgated \x1b[2J"})}
    refused("403", run(cache, "pull", "user/folder", HF_TOKEN=TOKEN), 2, "user/folder", f"{ENDPOINT}/user/folder", "gated")
    refused("403 without a token", run(cache, "pull", "user/folder"), 2, "HF_TOKEN")
    check(not has_model(cache), "no model then")
    hub.reset()
    refused("404", run(cache, "pull", "user/none"), 2, "user/none", "no such model")
    refused("a revision", run(cache, "pull", "user/folder@nope"), 2, "user/folder", "nope")
    refused("by --model", run(cache, "generate", "--model", "hf:user/none"), 2, "user/none", "no such model")
    hub.status = {"/api/models": (418, {})}
    refused("another status", run(cache, "pull", "user/folder"), 1, "418")


@test
def a_busy_hub_is_asked_again(cache):
    hub.busy = {"/api/models": 1, "/resolve/": 1, sha256(hub.repos["user/folder"]["model.safetensors"]): 2}
    check(run(cache, "pull", "user/folder").returncode == 0, "503 now and then")


@test
def redirections_lead_to_the_web_alone(cache):
    secret = os.path.join(cache, "secret")
    with open(secret, "w", encoding="ascii") as out:
        out.write("secret")
    for target in (f"file://{secret}", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "http://", "dict://127.0.0.1:1/x"):
        hub.redirect = target
        refused(f"to {target}", run(cache, "pull", "user/folder"), 1, "not followed")
    hub.redirect = ENDPOINT + "/user/folder/resolve/" + COMMIT + "/model.safetensors"
    refused("in a circle", run(cache, "pull", "user/folder"), 1, "not followed")
    check(not has_model(cache) and not incomplete(cache, "user/x"), "nothing came")


@test
def names_of_files_stay_inside(cache):
    data = hub.repos["user/folder"]["config.json"]
    for name in ("../config.json", "/etc/config.json", "a/../../config.json", "a\\..\\config.json", "", "a//b", "x\ny.gguf"):
        hub.listing = json.dumps({"sha": COMMIT, "siblings": [
            {"rfilename": name, "size": len(data), "blobId": git_hash(data)}]}).encode()
        refused(f"'{name!r}'", run(cache, "pull", "user/folder"), 2, "refused as the name of a file")
    check(not os.path.exists(os.path.join(cache, "hub")), "nothing is written")


@test
def nonsense_is_refused(cache):
    good = {"rfilename": "a.gguf", "size": 5, "lfs": {"sha256": "a" * 64, "size": 5}}
    for name, listing, part in (
            ("no JSON", b"<html>", "as the hub does"), ("empty", b"", "as the hub does"), ("a list", b"[]", "sha"),
            ("deep", b"[" * 100000, "as the hub does"), ("a commit", {"sha": "../..", "siblings": []}, "commit"),
            ("no siblings", {"sha": COMMIT}, "siblings"), ("siblings", {"sha": COMMIT, "siblings": 3}, "siblings"),
            ("an entry", {"sha": COMMIT, "siblings": [3]}, "rfilename"),
            ("a hash", {"sha": COMMIT, "siblings": [{**good, "lfs": {"sha256": "../../../x", "size": 5}}]}, "no file 'a.gguf'"),
            ("a size", {"sha": COMMIT, "siblings": [{**good, "lfs": {"sha256": "a" * 64, "size": 1 << 61}}]}, "room for")):
        hub.listing = listing if isinstance(listing, bytes) else json.dumps(listing).encode()
        result = run(cache, "pull", "user/folder")
        check(result.returncode in (1, 2) and part in result.stderr and result.stderr.count("\n") == 1, name, result)
    refused("nobody there", run(cache, "pull", "user/folder", HF_ENDPOINT="http://127.0.0.1:1"), 1, "127.0.0.1:1")
    for endpoint in ("file:///etc", "nonsense", "ftp://x"):
        refused(endpoint, run(cache, "pull", "user/folder", HF_ENDPOINT=endpoint), 2, "HF_ENDPOINT", endpoint)
    refused("a timeout", run(cache, "pull", "user/folder", HF_HUB_DOWNLOAD_TIMEOUT="soon"), 2, "HF_HUB_DOWNLOAD_TIMEOUT")
    for wrong in ("../x", "a/b/c", "a b/c", "a/b:", "a/b:../x", "http://a/b", "-x/y"):
        refused(wrong, run(cache, "pull", "--", wrong), 2, "punt: ")
        refused(f"--model hf:{wrong}", run(cache, "generate", "--model", f"hf:{wrong}"), 2, "punt: ")
    refused("no name", run(cache, "pull"), 2)
    refused("offline", run(cache, "pull", "user/folder", HF_HUB_OFFLINE="1"), 2, "HF_HUB_OFFLINE")


@test
def mirrors_may_leave_hashes_out(cache):
    hub.says_hashes = False
    result = run(cache, "pull", "user/folder")
    check(result.returncode == 0 and any(r[1] == "HEAD" for r in hub.requests), "asked for by HEAD", result)
    check(not any(r[1] == "HEAD" for r in hub.asked("back", "")), "of the hub")
    hub.reset()
    check(run(cache, "pull", "user/folder", "--json").stdout.find('"fetched":0') > 0, "the same blobs")


@test
def a_stalled_transfer_is_begun_anew(cache):
    hub.stalls = 1
    hold = hub.hold
    result = run(cache, "pull", "user/gguf:q8_0", HF_HUB_DOWNLOAD_TIMEOUT="1")
    hold.set()
    check(result.returncode == 0, "a stalled transfer", result)
    check(any("Range" in r[3] for r in hub.asked("back", "")), "goes on from there")


def start(cache, *arguments):
    return subprocess.Popen([PUNT, *arguments], env=environment(cache), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


@test
def an_interruption_keeps_what_came(cache):
    hub.delay = 0.2
    process = start(cache, "pull", "user/gguf:q8_0")
    deadline = time.time() + 30
    while time.time() < deadline and not any(os.path.getsize(p) > 0 for p in incomplete(cache, "user/gguf")):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    check(process.returncode == 130 and out == "", "exit code 130", (process.returncode, out, err))
    check("interrupted" in err and "goes on from there" in err, "one line says so", err)
    kept = incomplete(cache, "user/gguf")
    check(len(kept) == 1 and os.path.getsize(kept[0]) > 0 and not has_model(cache, "user/gguf"), "the beginning is kept")
    size = os.path.getsize(kept[0])
    hub.reset()
    result = run(cache, "pull", "user/gguf:q8_0")
    check(result.returncode == 0 and hub.asked("back", "")[0][3].get("Range") == f"bytes={size}-", "and used", hub.requests)


@test
def what_was_left_is_checked_too(cache):
    data = hub.repos["user/gguf"]["m-Q8_0.gguf"]
    blobs = os.path.join(repo_folder(cache, "user/gguf"), "blobs")
    os.makedirs(blobs)
    left = os.path.join(blobs, sha256(data) + ".incomplete")
    with open(left, "wb") as out:
        out.write(b"x" * 1000)
    refused("a wrong beginning", run(cache, "pull", "user/gguf:q8_0"), 1, "SHA-256")
    check(run(cache, "pull", "user/gguf:q8_0").returncode == 0, "is thrown away")
    shutil.rmtree(repo_folder(cache, "user/gguf"))
    os.makedirs(blobs)
    with open(left, "wb") as out:
        out.write(data + b"too much")
    check(run(cache, "pull", "user/gguf:q8_0").returncode == 0, "too much is thrown away")
    shutil.rmtree(repo_folder(cache, "user/gguf"))
    os.makedirs(blobs)
    with open(left, "wb") as out:
        out.write(data)
    hub.reset()
    check(run(cache, "pull", "user/gguf:q8_0").returncode == 0 and not hub.asked("back", ""), "all of it is not fetched again")


@test
def several_at_once_fetch_once(cache):
    hub.delay = 0.05
    processes = [start(cache, "pull", "user/gguf:q8_0") for _ in range(3)]
    results = [(p.communicate(timeout=100), p.returncode) for p in processes]
    check(all(code == 0 for _, code in results), "all end well", results)
    check(len({out for (out, _), _ in results}) == 1, "with the same file", results)
    check(len(hub.asked("back", "")) == 1, "which came once", hub.asked("back", ""))
    check(any("waiting" in err for (_, err), _ in results), "the others say that they wait", results)


@test
def a_cache_that_cannot_be_written(cache):
    place = os.path.join(cache, "file")
    with open(place, "w", encoding="ascii"):
        pass
    refused("a file in the way", run(cache, "pull", "user/folder", HF_HUB_CACHE=place), 1, place)


def main():
    work = tempfile.mkdtemp()
    try:
        golden = os.path.join(SOURCE, "tests/golden/llada")
        folder = {name: read(os.path.join(golden, name))
                  for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")}
        hub.add("user/folder", {**folder, "README.md": b"# A model", "flax.msgpack": b"x", "generation_config.json": b"{}"})
        gguf = {}
        for kind, name in (("q8_0", "m-Q8_0.gguf"), ("f16", "sub/m-F16.gguf")):
            made = os.path.join(work, kind + ".gguf")
            subprocess.run([PUNT, "convert", golden, made, "--type", kind], check=True, capture_output=True)
            gguf[name] = read(made)
        hub.add("user/gguf", {**gguf, "README.md": b"x"})
        header = {}
        at = 0
        for part, shape in (("A", [2, 64]), ("B", [64, 2])):
            header[f"base_model.model.model.transformer.blocks.0.up_proj.lora_{part}.weight"] = {
                "dtype": "F32", "shape": [*shape], "data_offsets": [at, at + 512]}
            at += 512
        header["base_model.model.model.transformer.blocks.0.up_proj.lora_B.weight"]["shape"] = [96, 2]
        header["base_model.model.model.transformer.blocks.0.up_proj.lora_B.weight"]["data_offsets"][1] = 512 + 768
        text = json.dumps(header).encode()
        values = b"".join(b"\0\0\x40\x41" if i % 3 else b"\0\0\x40\xc1" for i in range((512 + 768) // 4))
        hub.add("user/adapter", {"adapter_config.json": b'{"peft_type": "LORA", "r": 2, "lora_alpha": 4}',
                                 "adapter_model.safetensors": len(text).to_bytes(8, "little") + text + values})
        only = sys.argv[1:]
        for function in tests:
            if only and function.__name__ not in only:
                continue
            hub.reset()
            cache = os.path.join(work, function.__name__)
            os.makedirs(cache)
            before = len(failures)
            try:
                function(cache)
            except Exception as error:  # an answer that has another form, a command that does not end
                check(False, function.__name__, repr(error))
            print(f"{'ok' if len(failures) == before else 'FAILED'}  {function.__name__}", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
