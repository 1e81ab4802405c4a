"""The five lines of the README in a fresh environment, and that everybody tells the same story.

    PUNT_WHEEL=FILE      installs this instead of building python/
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from conftest import SOURCE

pytestmark = pytest.mark.slow

PROMPT, LENGTH, TEMPERATURE, SEED = "Once upon a time", 32, 0.7, 7
OPTIONS = ["--model", "stories", "--prompt", PROMPT, "--length", str(LENGTH), "--temperature", str(TEMPERATURE), "--seed",
           str(SEED), "--json"]  # fmt: skip
PROGRAM = f"""
#include <punt/writer.h>

#include <iostream>

int main(int, char** argv) {{
  const punt::Writer writer = punt::Writer::Open(argv[1]);
  std::cout << writer.Write({{.prompt = "{PROMPT}", .length = {LENGTH}}}, {{.temperature = {TEMPERATURE}, .seed = {SEED}}}).text;
}}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(story LANGUAGES CXX)
find_package(punt REQUIRED)
add_executable(story story.cc)
target_link_libraries(story PRIVATE punt::punt)
"""


def succeed(*command: object, cwd: Path | None = None, **environment: str) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd,
                          env={**os.environ, **environment})  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Told by the README's lines, by a Python that has nothing but the package."""
    folder = tmp_path_factory.mktemp("fresh")
    succeed(sys.executable, "-m", "venv", folder / "venv")
    pip = [folder / "venv/bin/pip", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"]
    reach = subprocess.run([*map(str, pip), "download", "-q", "--no-deps", "-d", str(folder), "scikit-build-core==1.1.2"],
                           capture_output=True, text=True)  # fmt: skip
    if reach.returncode != 0:
        pytest.skip("PyPI cannot be reached")
    package = os.environ.get("PUNT_WHEEL", SOURCE / "python")
    succeed(*pip, "install", "-q", package, CCACHE_BASEDIR=str(SOURCE), CCACHE_NOHASHDIR="1")
    lines = re.findall(r"```python\n(.*?)```", (SOURCE / "python/README.md").read_text(), re.S)[0].strip()
    assert len([line for line in lines.splitlines() if line]) == 5
    told = succeed(folder / "venv/bin/python", "-I", "-c", lines, cwd=folder)
    text, figures = told.rstrip("\n").rsplit("\n", 1)
    assert re.fullmatch(r"\d+ \d+ (stop|length)", figures)
    return text


def test_five_lines_in_a_fresh_environment(story: str) -> None:
    assert len(story.split()) > 10


def test_the_command_line_tells_the_same(story: str, program: str) -> None:
    assert json.loads(succeed(program, "generate", *OPTIONS).splitlines()[-1])["text"].removeprefix(PROMPT) == story


def test_http_tells_the_same(story: str, program: str, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    command = [program, "serve", "--port", "0", "--model", "stories", "--ready-file", str(ready), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            while not ready.exists() or not ready.read_text().strip():
                assert server.poll() is None
                time.sleep(0.05)
            body = {"prompt": PROMPT, "max_tokens": LENGTH, "temperature": TEMPERATURE, "seed": SEED}
            request = urllib.request.Request(ready.read_text().strip() + "/v1/completions", json.dumps(body).encode(),
                                             {"Content-Type": "application/json"})  # fmt: skip
            with urllib.request.urlopen(request, timeout=60) as answer:
                told = json.load(answer)["choices"][0]["text"]
        finally:
            server.terminate()
    assert told == story


def test_cpp_tells_the_same(story: str, program: str, tmp_path: Path) -> None:
    build = Path(program).parent
    if not (build / "cmake_install.cmake").exists():
        pytest.skip(f"{build} is no folder of a build")
    succeed("cmake", "--install", build, "--prefix", tmp_path / "installed")
    (tmp_path / "story.cc").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    succeed("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tmp_path}/installed")
    succeed("cmake", "--build", tmp_path / "build")
    assert succeed(tmp_path / "build/story", SOURCE / "models/stories.gguf") == story
