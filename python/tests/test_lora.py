"""Adapters are merged when a file is opened: against a checkpoint whose weights numpy has merged."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import punt

from conftest import SOURCE

BASE = SOURCE / "tests/golden/llada"
MODULE = "model.transformer.blocks.1.q_proj"
RANK, ALPHA = 2, 6

Tensors = dict[str, npt.NDArray[Any]]


def write_safetensors(path: Path, tensors: Tensors) -> None:
    header: dict[str, Any] = {}
    data = b""
    for name, value in tensors.items():
        bytes_of = np.ascontiguousarray(value, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(bytes_of)]}
        data += bytes_of
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def read_safetensors(path: Path) -> Tensors:
    content = path.read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    tensors = {}
    for name, entry in json.loads(content[8:begin]).items():
        if name != "__metadata__":
            first, last = (begin + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(content[first:last], "<f4").reshape(entry["shape"])
    return tensors


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, npt.NDArray[Any]]:
    """A folder of PEFT's, and what it adds."""
    folder = tmp_path_factory.mktemp("adapter")
    rng = np.random.default_rng(1)
    a, b = (rng.normal(size=shape).astype(np.float32) * 0.3 for shape in ((RANK, 64), (64, RANK)))
    config = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "target_modules": ["q_proj"], "bias": "none"}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    prefix = f"base_model.model.{MODULE}.lora_"
    write_safetensors(folder / "adapter_model.safetensors", {prefix + "A.weight": a, prefix + "B.weight": b})
    return folder, (b @ a) * (ALPHA / RANK)


def test_weights_are_those_of_a_merged_checkpoint(adapter: tuple[Path, npt.NDArray[Any]], tmp_path: Path) -> None:
    folder, added = adapter
    shutil.copytree(BASE, tmp_path / "merged")
    tensors = read_safetensors(BASE / "model.safetensors")
    merged = {**tensors, MODULE + ".weight": tensors[MODULE + ".weight"] + 1.5 * added}
    write_safetensors(tmp_path / "merged/model.safetensors", merged)
    canvas = np.array([5, 6, 314, 7, 314, 8])
    expected = punt.load(tmp_path / "merged", threads=1).log_probs(canvas)
    possible = np.isfinite(expected)
    ways: list[Any] = [[folder, f"{folder}:0.5"], f"{folder}:1.5", (f"{folder}:2", f"{folder}:-0.5")]
    for lora in ways:
        found = punt.load(BASE, threads=1, lora=lora).log_probs(canvas)
        np.testing.assert_allclose(found[possible], expected[possible], atol=1e-3)
    plain = punt.load(BASE, threads=1).log_probs(canvas)
    assert np.abs(plain[possible] - expected[possible]).max() > 0.1
    assert (punt.load(BASE, threads=1, lora=[]).log_probs(canvas) == plain).all()


@pytest.mark.parametrize(
    ("model", "lora", "part"),
    [
        (BASE, "nowhere", "nowhere: no such adapter"),
        (BASE, 3, "lora must be a path or a list of paths, not 3"),
        (BASE, ["a", 3], "lora must be a path or a list of paths"),
        ("toy:markov", "a", "has no weights"),
        (punt.NumpyDenoiser(lambda canvas: np.zeros((len(canvas), 5)), 5, 4, 8), "a", "unknown model option 'lora'"),
    ],
)
def test_bad_adapters_are_named(model: Any, lora: Any, part: str) -> None:
    with pytest.raises(punt.InputError) as caught:
        punt.load(model, lora=lora)
    assert part in str(caught.value) and "\n" not in str(caught.value)
