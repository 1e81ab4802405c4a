import re
from pathlib import Path

from conftest import SOURCE, run_python


def test_the_examples_run(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "python/README.md").read_text(), re.S)
    assert len(blocks) >= 4
    ended = run_python("\n".join(blocks), timeout=300, folder=tmp_path)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    assert len(ended.stdout.splitlines()) >= 6
    assert (tmp_path / "runs/sudoku/report.html").exists()
