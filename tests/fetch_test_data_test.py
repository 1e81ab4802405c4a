#!/usr/bin/env python3
"""scripts/fetch-test-data without a network: its command line and its table; downloads from a server of this test's own
that breaks off, sends something else or is not there; and packages of each kind.

  PUNT_SOURCE_DIR=. tests/fetch_test_data_test.py
"""

import contextlib
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile

sys.dont_write_bytecode = True
SOURCE = os.environ["PUNT_SOURCE_DIR"]
SCRIPT = os.path.join(SOURCE, "scripts/fetch-test-data")
NOWHERE = "http://127.0.0.1:1"  # nothing listens there
failures = []


def check(condition, name, detail=""):
    if not condition:
        failures.append(name)
        print(f"FAILED: {name} {detail}", flush=True)


loader = importlib.machinery.SourceFileLoader("fetch_test_data", SCRIPT)
fetcher = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch_test_data", loader))
loader.exec_module(fetcher)
table = fetcher.test_data_files


def sha(data):
    return hashlib.sha256(data).hexdigest()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(place, name), folder)
                  for place, _, names in os.walk(folder) for name in names)


# ---- the command line, and the table as it is

def run(cache, *arguments, **environment):
    kept = {name: value for name, value in os.environ.items()
            if name.lower() not in ("http_proxy", "https_proxy", "all_proxy", "punt_test_data", "punt_cache_dir")}
    kept.update(XDG_CACHE_HOME=cache, HOME=cache, **environment)
    return subprocess.run([sys.executable, SCRIPT, *arguments], env=kept, capture_output=True, text=True, check=False)


def test_command_line(cache):
    shown = run(cache, "--help")
    check(shown.returncode == 0 and "examples:" in shown.stdout and "gsm8k, humaneval" in shown.stdout, "--help", shown)
    listed = run(cache, "--list")
    check(listed.returncode == 0 and listed.stderr == "", "--list", listed)
    for row in table.FILES:
        line = next((line for line in listed.stdout.splitlines() if f"  {row['path']}  from " in line), "")
        check(" MB  " in line and (row.get("url") or row.get("member")) in line, f"--list names {row['path']}", line)
    for path, reason in table.UNPUBLISHED:
        check(f"  {path}  not fetched: {reason}\n" in listed.stdout, f"--list says why {path} is not fetched")
    few = run(cache, "--list", "mbpp")
    check([line for line in few.stdout.splitlines() if not line.startswith(" ")] == ["mbpp"], "--list of one set", few)
    for arguments, part in ((["nope"], "'nope'"), (["--bad"], "--bad"), (["--out"], "--out"), (["gsm8k", "nope"], "'nope'"),
                            (["--mirror", "nowhere"], "'nowhere'")):
        refused = run(cache, *arguments)
        check(refused.returncode == 2 and part in refused.stderr and refused.stderr.count("\n") == 1 and
              refused.stdout == "", f"refuses {arguments}", refused)
    check("gsm8k, humaneval, ifeval" in run(cache, "nope").stderr, "names that are known are listed")

    unreached = run(cache, "--mirror", NOWHERE)
    lines = unreached.stderr.splitlines()
    check(unreached.returncode == 1 and len(lines) == len(table.FILES), "offline, a line for each file", unreached)
    for row, line in zip(table.FILES, lines):
        check(f"cannot fetch {row['path']}: " in line and "refused" in line, f"offline: {row['path']}", line)
    out = os.path.join(cache, "punt/test-data")
    check(f"{out}: 0 fetched, 0 there already, {len(table.FILES)} could not be fetched\n" in unreached.stdout, "the sum",
          unreached)
    check(files_below(out) == [], "nothing is left of a failure", files_below(out))
    told = run(cache, "humaneval", "--mirror", NOWHERE, PUNT_TEST_DATA=os.path.join(cache, "told"))
    check(f"{cache}/told: 0 fetched, 0 there already, 1 could not" in told.stdout, "PUNT_TEST_DATA", told)
    check(run(cache, "humaneval", "--out", "/dev/null/x", "--mirror", NOWHERE).stderr.count("\n") == 1, "a folder that is none")


def test_table():
    paths = [row["path"] for row in table.FILES] + [path for path, _ in table.UNPUBLISHED]
    check(len(set(paths)) == len(paths), "no path stands twice")
    for row in [*table.FILES, *table.PACKAGES.values()]:
        check(re.fullmatch("[0-9a-f]{64}", row["sha256"]) and row["bytes"] > 0, f"{row['file']} is pinned")
    for row in table.FILES:
        check(row.get("package", "langdetect") in table.PACKAGES, f"the package of {row['path']}")
    asked = set()
    names_of_sets = "|".join(fetcher.sets())
    for place, _, names in [*os.walk(os.path.join(SOURCE, "src")), *os.walk(os.path.join(SOURCE, "tests"))]:
        for name in names:
            if name.endswith((".cc", ".h", "_test.sh")):
                text = read(os.path.join(place, name)).decode("utf-8", "replace")
                if re.search("TEST_DATA|TestData|test_data", text):
                    asked |= set(re.findall(rf'(?<!/ )"((?:{names_of_sets})/[\w./-]+)', text))
                    asked |= set(re.findall(rf'(?:=|test_data )((?:{names_of_sets})/[\w./-]+)', text))
    check(len(asked) > 25, "tests ask for files", asked)
    for name in sorted(asked):
        check(any(path.startswith(name) for path in paths), f"a test asks for {name}, which the table has not")


# ---- downloads, from a server on the loopback

class Server(http.server.BaseHTTPRequestHandler):
    content = {}  # by path
    cut = {}  # bytes of a path after which the connection ends
    asked = []

    def do_GET(self):
        cls = type(self)
        wanted = self.headers.get("Range")
        cls.asked.append((self.path, wanted))
        body = cls.content.get(self.path)
        begin = int(wanted.split("=")[1].rstrip("-")) if wanted else 0
        self.send_response(404 if body is None else 206 if begin else 200)
        body = (body or b"")[begin:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cls.cut.get(self.path, len(body))])

    def log_message(self, *arguments):
        pass


RANDOM = random.Random(1)
SMALL = b'{"question": 1}\n'
LARGE = RANDOM.randbytes(3_000_000)
MEMBERS = {"one": b"first", "two": RANDOM.randbytes(1000)}


def packed_zip():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("thing/data/inner.txt", b"inner")
        archive.writestr("thing/other.txt", b"other")
    return data.getvalue()


def packed_tar():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in [*((f"thing-1/data/{name}", content) for name, content in MEMBERS.items()),
                              ("thing-1/data/below/no", b""), ("thing-1/no", b"")]:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()


def packed_bundle(folder):
    """(a package with a git bundle, the commit)"""
    def git(*arguments):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", folder, *arguments], check=True,
                              capture_output=True, text=True).stdout.strip()

    write(os.path.join(folder, "models/vocab.txt"), b"a\nb\n")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "x")
    git("bundle", "create", "release.bundle", "HEAD")
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        archive.add(os.path.join(folder, "release.bundle"), "package/release.bundle")
    return data.getvalue(), git("rev-parse", "HEAD")


def folder_sum(members):
    return sha("".join(f"{sha(data)}  {name}\n" for name, data in sorted(members.items())).encode())


def made_up_table(address, work):
    """Replaces the table; fills the server."""
    tar, wheel = packed_tar(), packed_zip()
    bundle, commit = packed_bundle(os.path.join(work, "repository"))
    packages = {"wheel": {"pypi": "thing", "file": "thing-1.whl", "content": wheel},
                "tar": {"npm": "@some/thing", "file": "thing-1.tgz", "content": tar},
                "bundle": {"npm": "other", "file": "other-2.tgz", "content": bundle, "bundle": "package/release.bundle",
                           "commit": commit}}
    table.PACKAGES = {name: {**{key: value for key, value in row.items() if key != "content"},
                             "bytes": len(row["content"]), "sha256": sha(row["content"])} for name, row in packages.items()}
    table.FILES = [
        table.row("first/small.jsonl", len(SMALL), sha(SMALL), {"url": f"{address}/small"}),
        table.row("first/large.bin", len(LARGE), sha(LARGE), {"url": f"{address}/large"}),
        table.row("second/inner.txt", 5, sha(b"inner"), table.member("wheel", "thing/data/inner.txt")),
        table.row("second/other.txt", 5, sha(b"other"), table.member("wheel", "thing/other.txt")),
        table.row("second/folder", 1005, folder_sum(MEMBERS), table.folder("tar", "thing-1/data")),
        table.row("second/vocab.txt", 4, sha(b"a\nb\n"), table.member("bundle", "models/vocab.txt"))]
    table.UNPUBLISHED = [("second/verdicts", "made for this project")]
    index = b'<a href="../../files/thing-1.whl#sha256=0">x</a>'
    Server.content = {"/small": SMALL, "/large": LARGE, "/simple/thing/": index, "/files/thing-1.whl": wheel,
                      "/@some/thing/-/thing-1.tgz": tar, "/other/-/other-2.tgz": bundle}
    os.environ.update(PIP_INDEX_URL=f"{address}/simple", npm_config_registry=address, no_proxy="*",
                      PUNT_CACHE_DIR=os.path.join(work, "no-cache"))


ALL = ["first/large.bin", "first/small.jsonl", "second/folder/one", "second/folder/two", "second/inner.txt",
       "second/other.txt", "second/vocab.txt"]


def fetch(*arguments):
    """(exit code, stdout, the lines of stderr that are no progress)"""
    Server.asked.clear()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = fetcher.main(list(arguments))
    return code, out.getvalue(), [line for line in err.getvalue().splitlines() if line.startswith("fetch-test-data: ")]


def test_downloads(work):
    out = os.path.join(work, "all")
    code, said, errors = fetch("--out", out)
    check(code == 0 and errors == [] and "6 fetched, 0 there already, 0 could not" in said, "all of it", (code, said, errors))
    check("second/verdicts: not fetched: made for this project\n" in said, "what is not published is told", said)
    check(files_below(out) == ALL, "all files, and nothing else", files_below(out))
    check(read(os.path.join(out, "first/large.bin")) == LARGE and read(os.path.join(out, "second/folder/two")) ==
          MEMBERS["two"] and read(os.path.join(out, "second/vocab.txt")) == b"a\nb\n", "what they hold")
    code, said, errors = fetch("--out", out)
    check(code == 0 and "0 fetched, 6 there already" in said and Server.asked == [], "what is there is kept", Server.asked)

    for name, damage in (("first/small.jsonl", SMALL + b"?"), ("second/folder/one", b"other"), ("second/folder/three", b"")):
        write(os.path.join(out, name), damage)
        code, said, errors = fetch("--out", out)
        check(code == 0 and "1 fetched, 5 there" in said and files_below(out) == ALL, f"{name} is damaged", (said, errors))
    check(read(os.path.join(out, "first/small.jsonl")) == SMALL and read(os.path.join(out, "second/folder/one")) == b"first",
          "the damage is gone")

    out = os.path.join(work, "second")
    code, said, errors = fetch("second", "--out", out)
    check(code == 0 and "4 fetched" in said and files_below(out) == ALL[2:], "one set", (said, files_below(out)))


def test_interruptions(work):
    out = os.path.join(work, "cut")
    Server.cut = {"/large": 1_000_000}
    code, said, errors = fetch("first", "--out", out)
    check(code == 1 and len(errors) == 1 and "cannot fetch first/large.bin: " in errors[0] and "1 fetched" in said,
          "a connection that ends", (said, errors))
    check(files_below(out) == ["first/large.bin.part", "first/small.jsonl"] and
          os.path.getsize(os.path.join(out, "first/large.bin.part")) == 1_000_000, "what came is kept", files_below(out))
    Server.cut = {}
    code, said, errors = fetch("first", "--out", out)
    check(code == 0 and Server.asked == [("/large", "bytes=1000000-")], "only the rest is asked for", (said, errors))
    check(files_below(out) == ALL[:2] and read(os.path.join(out, "first/large.bin")) == LARGE, "the whole is right")
    os.remove(os.path.join(out, "first/large.bin"))
    write(os.path.join(out, "first/large.bin.part"), b"x" * 5000)
    code, said, errors = fetch("first", "--out", out)
    check(code == 0 and "cannot be continued" in errors[0] and files_below(out) == ALL[:2], "a bent part", errors)

    out = os.path.join(work, "killed")
    write(os.path.join(out, "second/folder.part/half"), b"")
    write(os.path.join(out, "second/inner.txt.part"), b"in")
    check(fetch("second", "--out", out)[0] == 0 and files_below(out) == ALL[2:], "what a killed run left", files_below(out))


def test_other_bytes(work):
    out = os.path.join(work, "other")
    good = dict(Server.content)
    for other in (SMALL[:-1] + b"?", SMALL + b"more"):
        Server.content["/small"] = other
        code, said, errors = fetch("--out", out)
        check(code == 1 and len(errors) == 1 and "first/small.jsonl has the checksum" in errors[0] and "not used" in errors[0],
              "another file", errors)
        check(files_below(out) == ALL[:1] + ALL[2:], "nothing is left of it, and the others are there", files_below(out))
    del Server.content["/small"]
    code, said, errors = fetch("--out", out)
    check(code == 1 and "cannot fetch first/small.jsonl: Not Found" in errors[0], "no such file", errors)
    Server.content.update(good)

    out = os.path.join(work, "package")
    Server.content["/files/thing-1.whl"] = good["/files/thing-1.whl"][:-1] + b"?"
    code, said, errors = fetch("--out", out)
    for name, error in zip(("inner", "other"), errors + [""] * 2):
        check(f"cannot fetch second/{name}.txt: thing-1.whl has the checksum" in error, "another package", errors)
    check(code == 1 and len(errors) == 2 and [path for path, _ in Server.asked].count("/files/thing-1.whl") == 1,
          "it is fetched once", Server.asked)
    check(files_below(out) == [name for name in ALL if name not in ("second/inner.txt", "second/other.txt")], "the others",
          files_below(out))
    Server.content.update(good)
    rows = {row["path"]: row for row in table.FILES}
    kept = [dict(row) for row in table.FILES]
    rows["second/inner.txt"]["member"] = "thing/nothing"
    rows["second/other.txt"]["sha256"] = rows["second/folder"]["sha256"] = "0" * 64
    rows["second/vocab.txt"]["member"] = "models/nothing"
    out = os.path.join(work, "members")
    code, said, errors = fetch("second", "--out", out)
    for part, error in zip(("thing-1.whl has no thing/nothing", "other.txt of thing-1.whl is not what it should be",
                            "thing-1/data of thing-1.tgz is not what it should be", "other-2.tgz: fatal:"),
                           errors + [""] * 4):
        check(code == 1 and part in error, "another member", (part, errors))
    check(files_below(out) == [], "nothing is left of them", files_below(out))
    table.FILES = kept


def test_offline(work):
    good = table.FILES
    table.FILES = [dict(row) for row in good]
    table.FILES[0]["url"] = f"{NOWHERE}/small"
    table.FILES[1]["url"] = f"{NOWHERE}/large"
    out = os.path.join(work, "offline")
    mine = b"an older one"
    write(os.path.join(out, "first/small.jsonl"), mine)
    opened = []
    real = fetcher.downloads.open_url
    fetcher.downloads.open_url = lambda url, begin=0: opened.append(url) or real(url, begin)
    code, said, errors = fetch("--out", out)
    fetcher.downloads.open_url = real
    check(code == 1 and len(errors) == 2 and all("127.0.0.1:1: " in error for error in errors), "a host is not there", errors)
    check(opened.count(f"{NOWHERE}/large") == 0, "a host that is not there is not asked twice", opened)
    check("4 fetched" in said and read(os.path.join(out, "first/small.jsonl")) == mine, "the others; the old one stays", said)
    table.FILES = good


def test_mirrors(work, address):
    content = dict(Server.content)
    files = {"first/small.jsonl": SMALL, "first/large.bin": LARGE, "packages/thing-1.whl": content["/files/thing-1.whl"],
             "packages/thing-1.tgz": content["/@some/thing/-/thing-1.tgz"],
             "packages/other-2.tgz": content["/other/-/other-2.tgz"]}
    for name, data in files.items():
        write(os.path.join(work, "mirror", name), data)
    Server.content = {f"/mirror/{name}": data for name, data in files.items()}
    for name, url in (("http", f"{address}/mirror/"), ("file", f"file://{work}/mirror")):
        out = os.path.join(work, "from-" + name)
        code, said, errors = fetch("--out", out, "--mirror", url)
        check(code == 0 and files_below(out) == ALL, f"a mirror: {name}", (said, errors))
    Server.content = content
    # What scripts/install-llama has fetched is not fetched again.
    write(os.path.join(work, "no-cache/other-2.tgz"), files["packages/other-2.tgz"])
    out = os.path.join(work, "cached")
    code, said, errors = fetch("second", "--out", out)
    check(code == 0 and files_below(out) == ALL[2:] and not [path for path, _ in Server.asked if "other-2" in path] and
          os.path.exists(os.path.join(work, "no-cache/other-2.tgz")), "a package that is at hand", Server.asked)


def main():
    with tempfile.TemporaryDirectory() as work:
        test_command_line(os.path.join(work, "cache"))
        test_table()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        made_up_table(address, work)
        test_downloads(work)
        test_interruptions(work)
        test_other_bytes(work)
        test_offline(work)
        test_mirrors(work, address)
        server.shutdown()
    print(f"{len(failures)} failures" if failures else "fetch-test-data: all as it should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
