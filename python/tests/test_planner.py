import numpy as np
import pytest

import punt
from punt import Plan, Planner, View


class Surest(Planner):
    """The k surest."""

    def __init__(self, k: int = 2) -> None:
        self.k = k

    def decide(self, view: View) -> object:  # type: ignore[override]
        return view.positions[: self.k]


punt.register_planner("surest", Surest)


def test_a_planner_of_ones_own_is_as_good_as_the_engines(toy: punt.Model, stories: punt.Model) -> None:
    for model, length in ((toy, None), (stories, 16)):
        mine = model("", planner=Surest(3), length=length, seed=4)
        theirs = model("", planner="top-k:k=3", length=length, seed=4)
        assert mine == theirs and mine.counters == theirs.counters and mine.trace[1:-1] == theirs.trace[1:-1]
    assert mine.trace[0]["planner"] == "Surest"


def test_it_can_be_named(toy: punt.Model) -> None:
    assert toy(planner="surest:k=3", seed=4) == toy(planner=Surest(3), seed=4)
    assert toy(planner="surest", seed=4) == toy(planner=Surest(), seed=4)
    assert toy(planner="hybrid:first=(surest:k=3),then=(top-k:k=3),at=0.5", seed=4) == toy(planner="top-k:k=3", seed=4)
    row = next(row for row in punt.planners() if row["name"] == "surest")
    assert row["summary"] == "The k surest." and row["params"][0]["default"] == "2"
    assert not any(row["name"].startswith("python") for row in punt.planners())
    with pytest.raises(punt.InputError, match="q"):
        toy(planner="surest:q=1")
    with pytest.raises(punt.InputError, match="surest"):
        punt.register_planner("surest", Surest)
    with pytest.raises(punt.InputError, match="subclass"):
        punt.register_planner("other", Surest(2))  # type: ignore[arg-type]


def test_batches_and_streams_take_it(toy: punt.Model) -> None:
    expected = [toy(prompt, planner="top-k:k=2", seed=4) for prompt in ("a", "b", "c")]
    assert toy.batch(["a", "b", "c"], planner=Surest(2), seed=4) == expected
    assert "".join(toy.stream("a", planner=Surest(2), seed=4)) == expected[0]


class Tester(Planner):
    """Commits the surest half if the rest does not mind, with every question that a view answers."""

    needs = punt.PlannerNeeds(divergence_history=1, prediction_history=2, revealed_rows=True, past_steps=True, tests=True)

    def decide(self, view: View) -> Plan:
        assert len(view.positions) == len(view.tokens) == len(view.confidences) == (view.canvas == view.mask_token).sum()
        assert (np.diff(view.confidences) <= 0).all() and 0 <= view.fraction < 1
        assert len(view.past) == view.key.step and len(view.revealed["tokens"]) == len(view.scope) - len(view.positions)
        half = view.positions[: max(1, len(view.positions) // 2)]
        first, second = view.test([half, half[:1]])
        rest = np.sort(view.positions[len(half) :])
        divergences = view.divergences(first, rest)
        assert divergences.shape == rest.shape and (divergences >= 0).all()
        assert (view.divergences(first) == divergences).all()
        assert view.entropies_of(second).shape == (len(view.positions) - 1,)
        assert set(view.foresee(first)["positions"]) == set(rest)
        assert len(view.history(int(view.positions[0]))["predictions"]) == min(2, view.key.step + 1)
        rounds = [punt.Round(half, rest, divergences, 0.05)]
        return Plan(half, next_base=first, rounds=rounds)


def test_tests_are_counted_and_save_the_next_pass(toy: punt.Model) -> None:
    run = toy(planner=Tester(), seed=4)
    assert run.counters["base_passes"] == 1
    assert run.counters["test_passes"] == 2 * run.steps
    rounds = [event for event in run.trace if event["event"] == "round"]
    assert len(rounds) == run.steps and rounds[0]["epsilon"] == 0.05


class Bad(Planner):
    def __init__(self, result: object) -> None:
        self.result = result

    def decide(self, view: View) -> object:  # type: ignore[override]
        return self.result(view) if callable(self.result) else self.result


@pytest.mark.parametrize(
    ("result", "part"),
    [
        (None, "got None"),
        ([], "no position"),
        ([99], "position 99, which has no proposal"),
        ([0, 0], "position 0 twice"),
        ([0.5], "int64"),
        ("abc", "int64"),
        (Plan([0], remask=[1]), "remasks = True"),
        (lambda view: view.test([[99]]), "position 99"),
        (lambda view: view.divergences(view.test([[0]])[0], [0]), "no row 0"),
        (lambda view: view.divergences(view.test([[0]])[0], kind="kl"), "no divergence"),
        (lambda view: Plan([0, 1], next_base=view.test([[0]])[0]), "next_base"),
        (lambda view: view.attention(), "needs"),
        (lambda view: view.influence, "needs"),
        (lambda view: view.history(77), "no position 77"),
    ],
)
def test_bad_plans_are_refused(toy: punt.Model, result: object, part: str) -> None:
    with pytest.raises(punt.InputError, match=part):
        toy(planner=Bad(result))


def test_exceptions_come_out_unchanged(toy: punt.Model) -> None:
    class Mine(Exception):
        pass

    def fail(view: View) -> None:
        raise Mine("mine")

    with pytest.raises(Mine, match="^mine$"):
        toy(planner=Bad(fail))
    with pytest.raises(Mine):
        list(toy.stream(planner=Bad(fail)))
    with pytest.raises(Mine):
        toy.batch(["a", "b", "c"], planner=Bad(fail))
    with pytest.raises(punt.InputError, match="punt.Planner"):
        toy(planner=object())


def test_a_view_is_good_only_within_decide(toy: punt.Model) -> None:
    kept: list[View] = []
    
    def keep(view: View) -> object:
        kept.append(view)
        return view.positions

    toy(planner=Bad(keep))
    with pytest.raises(punt.InputError, match="until decide returns"):
        kept[0].canvas
    with pytest.raises(TypeError):
        View()


def test_commits_may_be_taken_back(toy: punt.Model) -> None:
    class Twice(Planner):
        remasks = True

        def decide(self, view: View) -> Plan:
            if view.key.step == 1:
                return Plan([], remask=[0])
            return Plan(view.positions if view.key.step else [0])

    run = toy(planner=Twice(), seed=1)
    assert run.steps == 3 and run.commit_steps[0] == 2
    assert "".join(toy.stream(planner=Twice(), seed=1)) == run
    cut = toy(planner=Twice(), seed=1, max_steps=2)
    assert (cut.commit_steps == -1).all() and (cut.tokens == toy.mask_token).all()
