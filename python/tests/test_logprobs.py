"""How sure the model was of each token, against a pass over the canvas as it was before that step."""

import numpy as np
import pytest

import punt

TOY = "toy:markov,length=12,vocab=5,seed=3,permute=true"


@pytest.mark.parametrize("planner", ["left-to-right", "top-k:k=3", "scout"])
def test_rows_are_those_of_the_canvas_before_the_step(planner: str) -> None:
    model = punt.load(TOY)
    run = model("ab", length=8, seed=1, planner=planner, logprobs=2)
    assert [row["position"] for row in run.logprobs] == list(range(2, 10))
    for row in run.logprobs:
        canvas = np.where((run.commit_steps >= row["step"]), 5, run.tokens)
        naive = model.log_probs(canvas, [row["position"]])[0]
        assert row["token"] == run.tokens[row["position"]]
        assert row["logprob"] == pytest.approx(naive[row["token"]])
        assert [best["token"] for best in row["top"]] == list(np.argsort(-naive, kind="stable")[:2])
        seen = naive[np.isfinite(naive)]
        assert row["entropy"] == pytest.approx(-np.sum(np.exp(seen) * seen))
        assert row["text"] == "abcde"[row["token"]]


def test_streams_batches_and_canvases_have_them() -> None:
    model = punt.load(TOY)
    alone = model("ab", length=8, seed=1, logprobs=0)
    assert model.batch(["ab"], length=8, seed=1, logprobs=0)[0].logprobs == alone.logprobs
    stream = model.stream("ab", length=8, seed=1, logprobs=0)
    assert "".join(stream) == alone
    assert model.fill([0, 5, 5], seed=1, logprobs=1).logprobs[0]["position"] == 1


def test_nothing_is_told_unless_asked_for() -> None:
    model = punt.load(TOY)
    assert model("ab", length=8, seed=1).logprobs == []
    with pytest.raises(punt.InputError, match="logprobs"):
        model("ab", length=8, logprobs=-1)
    with pytest.raises(punt.InputError, match="logprobs must be a whole number"):
        model("ab", length=8, logprobs="many")
