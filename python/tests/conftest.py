import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import punt

# Shells start what runs in the background with Ctrl-C ignored, and programs that are started inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch's models are tiny: threads would only wait for each other

SOURCE = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def toy() -> punt.Model:
    return punt.load("toy:markov,length=24,vocab=8,seed=1")


@pytest.fixture(scope="session")
def stories() -> punt.Model:
    return punt.load("stories", threads=2)


@pytest.fixture(scope="session")
def program() -> str:
    """The command line, for comparisons."""
    path = Path(os.environ.get("PUNT", SOURCE / "build/release/punt"))
    if not path.exists():
        pytest.skip(f"{path} is missing: build it with `make`")
    return str(path)


def run_python(code: str, *, timeout: float = 60, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program of its own, which tells where it hangs or crashes."""
    watch = f"import faulthandler; faulthandler.dump_traceback_later({timeout - 5}, exit=True)\n"
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", watch + code],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=folder or tempfile.gettempdir(),  # not where the source lies, without the compiled module
        env={**os.environ, **environment},
    )
