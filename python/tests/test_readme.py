import re

from conftest import SOURCE, run_python


def test_the_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (SOURCE / "python/README.md").read_text(), re.S)
    assert len(blocks) >= 4
    ended = run_python("\n".join(blocks), timeout=120)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    assert len(ended.stdout.splitlines()) >= 6
