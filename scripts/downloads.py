"""Downloading of files whose checksums are known: what scripts/fetch-models and scripts/fetch-test-data share.

A download that was interrupted is continued; a file appears whole and with its checksum, or not at all.
"""

import hashlib
import http.client
import os
import re
import ssl
import subprocess
import sys
import time
import urllib.parse
import urllib.request

PIECE = 1 << 20
TIMEOUT = 60  # seconds without a byte
SOON = 2_000_000  # bytes; files below are there before a line of progress is read


class Failure(Exception):
    """One line for the user; `code` is the exit code."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


def open_url(url, begin=0):
    request = urllib.request.Request(url, headers={"Range": f"bytes={begin}-"} if begin else {})
    authorities = os.environ.get("SSL_CERT_FILE") or os.environ.get("PIP_CERT") or os.environ.get("REQUESTS_CA_BUNDLE")
    context = ssl.create_default_context(cafile=authorities) if url.startswith("https:") else None
    return urllib.request.urlopen(request, timeout=TIMEOUT, context=context)


def pip_index():
    index = os.environ.get("PIP_INDEX_URL")
    if not index:
        asked = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"],
                               capture_output=True, text=True, check=False)
        index = asked.stdout.strip() if asked.returncode == 0 else ""
    return (index or "https://pypi.org/simple").rstrip("/")


def pypi_url(project, file):
    """Where the index that pip is set to has this file of the project."""
    page = f"{pip_index()}/{project}/"
    with open_url(page) as answer:
        text = answer.read().decode("utf-8", "replace")
    for link in re.findall(r'href="([^"]*)"', text):
        url = urllib.parse.urljoin(page, link.replace("&amp;", "&").split("#")[0])
        if urllib.parse.unquote(url).endswith("/" + file):
            return url
    raise Failure(f"{page} has no {file}")


class Progress:
    """One line that grows on a terminal, a line per tenth elsewhere; on stderr."""

    def __init__(self, label, total):
        self.label, self.total, self.shown = label, total, -1
        self.is_terminal = sys.stderr.isatty()
        self.start, self.first = time.monotonic(), None

    def show(self, done):
        if self.total < SOON:
            return
        if self.first is None:
            self.first = done
        tenth = done * 10 // self.total
        percent = done * 100 // self.total
        seconds = time.monotonic() - self.start
        rate = (done - self.first) / seconds if seconds > 1 else 0
        left = f", about {(self.total - done) / rate:.0f} s left" if rate > 0 and done < self.total else ""
        line = f"{self.label}: {percent} %, {done / 1e6:.0f} of {self.total / 1e6:.0f} MB{left}"
        if self.is_terminal and percent != self.shown:
            self.shown = percent
            print(f"\r\x1b[K{line}", end="" if done < self.total else "\n", file=sys.stderr, flush=True)
        elif not self.is_terminal and tenth != self.shown:
            self.shown = tenth
            print(line, file=sys.stderr, flush=True)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def transfer(row, url, part):
    """Appends to `part` what it lacks. Servers that know no ranges send everything again."""
    begin = os.path.getsize(part) if os.path.exists(part) else 0
    if begin >= row["bytes"]:
        return
    with open_url(url, begin) as answer:
        is_rest = begin > 0 and getattr(answer, "status", 200) == 206
        begin = begin if is_rest else 0
        progress = Progress(row["file"], row["bytes"])
        with open(part, "ab" if is_rest else "wb") as file:
            while piece := answer.read(PIECE):
                file.write(piece)
                begin += len(piece)
                if begin > row["bytes"]:
                    return  # the checksum will tell
                progress.show(begin)
    if begin < row["bytes"]:
        raise OSError(f"the connection ended after {begin} of {row['bytes']} bytes")


def download(row, url, path, say):
    """Brings row's "file" of so many "bytes" with its "sha256" to `path`; what is there is replaced. `url` is called
    for the address; `say` takes a line for the user. Raises Failure; what came so far is then kept as `path`.part,
    unless it is wrong."""
    part = path + ".part"
    was_there = os.path.exists(part)
    try:
        transfer(row, url(), part)
        if was_there and sha256(part) != row["sha256"]:
            say(f"{part} cannot be continued, fetching all of it")
            os.remove(part)
            transfer(row, url(), part)
    except (OSError, ValueError, http.client.HTTPException) as error:  # ValueError: an address that is none
        raise Failure(f"cannot fetch {row['file']}: {getattr(error, 'reason', error)}") from error
    found = sha256(part)
    if found != row["sha256"]:
        os.remove(part)
        raise Failure(f"{row['file']} has the checksum {found} instead of {row['sha256']}: not used")
    os.replace(part, path)
