# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts, thresholds and the file they are kept in."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mace.python.tools.config.vocabulary import Arithmetic, MeasuredAs, Runtime
from mace.python.tools.validate import Metrics, compare_tensor, similarity_threshold
from mace.python.tools.validate.accuracy import (
    AccuracyScriptError,
    RunBatch,
    run_accuracy_script,
)
from mace.python.tools.validate.comparison import write_log
from mace.python.tools.validate.metrics import (
    Array,
    compute_metrics,
    cosine_similarity,
    moved_by_rounding,
    pixel_accuracy,
    sqnr,
)


def test_equal_tensors_pass() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = compare_tensor("prob", x, x, 0.999)
    assert result.passed
    assert result.line() == (
        "prob: cosine similarity 1.000000000, SQNR inf (inf dB), "
        "pixel accuracy 1.0000, max abs error 0, max rel error 0: passed"
    )


def test_a_low_similarity_fails_and_says_the_threshold() -> None:
    x, y = np.array([3.0, 4.0]), np.array([4.0, 3.0])
    result = compare_tensor("t", x, y, 0.98)
    assert not result.passed
    assert "FAILED, cosine similarity is below 0.98" in result.line()
    assert "cosine similarity 0.960000000" in result.line()
    assert compare_tensor("t", x, y, 0.96).passed


def test_nan_and_inf_fail_at_any_threshold() -> None:
    x = np.ones(4)
    bad = np.array([1.0, math.nan, math.inf, 1.0])
    result = compare_tensor("t", x, bad, -1.0)
    assert not result.passed
    assert "1 NaN and 1 Inf among 4 values" in result.failure
    same = compare_tensor("t", bad, bad, -1.0)
    assert not same.passed
    assert "framework's own" in compare_tensor("t", bad, x, -1.0).failure


def test_other_shapes_fail() -> None:
    result = compare_tensor("t", np.zeros((1, 2)), np.zeros((2, 1)), 0.9)
    assert result.failure == "shape [2, 1] instead of [1, 2]"


def _moved(similarity: float, sqnr: float) -> Metrics:
    return Metrics(similarity, sqnr, 1.0, 0.5, 0.25, 0)


def test_a_framework_that_varies_as_much_excuses_an_error() -> None:
    x, y = np.array([3.0, 4.0]), np.array([4.0, 3.0])
    assert compare_tensor("t", x, y, 0.98).metrics.sqnr == pytest.approx(12.5)
    # The error is just 4 times the framework's own.
    result = compare_tensor("t", x, y, 0.98, variation=_moved(0.97, 16 * 12.4))
    assert result.passed
    assert result.decided
    assert "inputs moved by rounding: 0.25): passed; cosine" in result.line()
    assert "its similarity to itself is 0.970000" in result.note
    more = compare_tensor("t", x, y, 0.98, variation=_moved(0.97, 16 * 12.6))
    assert not more.passed
    assert "FAILED, cosine similarity is below 0.98" in more.line()


def test_a_framework_that_varies_wildly_decides_nothing() -> None:
    x, y = np.array([3.0, 4.0]), np.array([-4.0, 3.0])
    result = compare_tensor("t", x, y, 0.98, variation=_moved(0.1, 0.5))
    assert result.passed
    assert not result.decided
    assert "NOT DECIDED; cosine similarity is below 0.98, but" in result.line()
    assert "validation_inputs_data" in result.line()


def test_random_numbers_decide_nothing() -> None:
    x, y = np.array([3.0, 4.0]), np.array([-4.0, 3.0])
    result = compare_tensor("t", x, y, 0.98, drawn_by="dropout")
    assert result.passed
    assert not result.decided
    assert "depends on random numbers (dropout)" in result.line()
    assert compare_tensor("t", x, x, 0.98, drawn_by="dropout").decided
    nan = np.array([math.nan, 1.0])
    assert not compare_tensor("t", x, nan, 0.98, drawn_by="dropout").passed
    assert not compare_tensor("t", x, x[:1], 0.98, drawn_by="dropout").passed


@pytest.mark.parametrize("sqnr", [math.inf, math.nan])
def test_a_framework_that_does_not_vary_excuses_nothing(sqnr: float) -> None:
    x, y = np.array([3.0, 4.0]), np.array([4.0, 3.0])
    assert not compare_tensor("t", x, y, 0.98, variation=_moved(1.0, sqnr)).passed
    nan = np.array([math.nan, 1.0])
    assert not compare_tensor("t", x, nan, 0.98, variation=_moved(0.1, 0.5)).passed


@pytest.mark.parametrize(
    ("threshold", "factor", "passes"),
    [
        (0.999, 1.08, True),
        (0.999, 1.1, False),
        (0.999, 0.9, False),
        (0.98, 1.3, True),
        (0.98, 2.0, False),
        (1.0, 1.009, True),
        (1.0, 1.02, False),
    ],
)
def test_values_that_are_all_larger_or_smaller_fail(
    threshold: float, factor: float, passes: bool
) -> None:
    # Powers of 2: the cosine of a multiple is exactly 1.
    x = np.array([1.0, -2.0, 4.0])
    result = compare_tensor("t", x, x * factor, threshold)
    assert result.metrics.similarity >= threshold or threshold == 1.0
    if result.metrics.similarity >= threshold:
        assert result.passed == passes
    if not passes and result.metrics.similarity >= threshold:
        assert f"the values are {factor:g} times the framework's" in result.failure


def test_equal_values_are_named() -> None:
    x = np.full((2, 3), 0.25)
    same = compare_tensor("t", x, x, 0.999)
    assert same.passed and not same.decided
    assert (
        "NOT DECIDED; all 6 values of the framework are 0.25 and all 6 values of MACE"
        in (same.line())
    )
    # The cosine is 1.
    wrong = compare_tensor("t", x, x * 2, 0.999)
    assert not wrong.passed and wrong.decided
    assert "2 times the framework's" in wrong.failure
    one_sided = compare_tensor(
        "t", np.array([0.25, 0.25, 0.2501]), x[:1, :].ravel(), 0.9
    )
    assert one_sided.passed and not one_sided.decided
    assert one_sided.note.startswith("all 3 values of MACE are 0.25: equal values")
    none = compare_tensor("t", np.zeros(3), np.zeros(3), 0.999)
    assert none.passed
    assert "all 3 values of the framework are 0" in none.note


def test_a_single_value_is_compared_by_its_size() -> None:
    one = np.array([[3.0]])
    near = compare_tensor("t", one, one * 1.01, 0.999)
    assert near.passed and near.decided
    wrong = compare_tensor("t", one, one * 1.5, 0.999)
    assert not wrong.passed
    assert "one value, 4.5, where the framework has 3" in wrong.line()


def test_thresholds() -> None:
    assert similarity_threshold(Runtime.CPU, {}, quantized=False) == 0.999
    assert similarity_threshold(Runtime.GPU, {}, quantized=False) == 0.995
    assert similarity_threshold(Runtime.CPU, {}, quantized=True) == 0.980
    assert similarity_threshold(Runtime.CPU, {}, False, rounded=True) == 0.995
    assert similarity_threshold(Runtime.DSP, {}, True, rounded=True) == 0.980
    configured: dict[MeasuredAs, float] = {Runtime.CPU: 0.5}
    assert similarity_threshold(Runtime.CPU, configured, quantized=True) == 0.5
    assert similarity_threshold(Runtime.GPU, configured, quantized=False) == 0.995
    of_quantized: dict[MeasuredAs, float] = {
        Runtime.CPU: 0.5,
        Arithmetic.QUANTIZED: 0.9,
    }
    assert similarity_threshold(Runtime.CPU, of_quantized, quantized=True) == 0.9
    assert similarity_threshold(Runtime.CPU_GPU, of_quantized, quantized=True) == 0.9
    assert similarity_threshold(Runtime.CPU, of_quantized, quantized=False) == 0.5


def test_log_csv(tmp_path: Path) -> None:
    x, y = np.array([3.0, 4.0]), np.array([3.0, 4.5])
    write_log(
        tmp_path / "sub" / "log.csv",
        [compare_tensor("a,b:0", x, y, 0.9), compare_tensor("c", x, x, 0.9)],
    )
    lines = (tmp_path / "sub" / "log.csv").read_text().splitlines()
    assert lines[0] == "output_name,similarity,sqnr,pixel_accuracy"
    name, similarity, sqnr, accuracy = lines[1].rsplit(",", 3)
    assert name == '"a,b:0"'
    assert float(similarity) == pytest.approx(27 / (5 * math.sqrt(29.25)), abs=1e-15)
    assert (sqnr, accuracy) == ("100.0", "1.0")
    assert lines[2] == "c,1.0,inf,1.0"


# Sample i is the number i; a right model says whether it is odd.
_SCRIPT = """
import numpy as np

class AccuracyValidator:
    def __init__(self):
        self.right = 0
        self.batches = []
    def sample_size(self):
        return 5
    def batch_size(self):
        return 2
    def preprocess(self, begin, end):
        return {"x": np.arange(begin, end, dtype=np.float32)}
    def postprocess(self, begin, end, outputs):
        self.batches.append((begin, end))
        truth = np.arange(begin, end) % 2
        self.right += int(np.sum(outputs["odd"] == truth))
    def result(self):
        return f"{self.right / 5} {self.batches}"
"""


def _model(inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    odd = inputs["x"] % 2
    odd[inputs["x"] == 3] = 0  # wrong once
    return {"odd": odd}


def _write(tmp_path: Path, text: str) -> Path:
    script = tmp_path / "script.py"
    script.write_text(text)
    return script


def test_runs_every_sample_once(tmp_path: Path) -> None:
    result = run_accuracy_script(_write(tmp_path, _SCRIPT), ("x",), _model)
    assert result == "0.8 [(0, 2), (2, 4), (4, 5)]"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("np.arange(begin, end, ", "np.nonsense(", r"script\.py:13: AttributeError"),
        ('{"x":', '{"y":', r"preprocess\(\) must return a dict .*\['x'\].*\['y'\]"),
        ("def result", "def results", "one class AccuracyValidator"),
        ("return 5", "return 0", "at least 1"),
        ("import numpy", "import no_such_package", "ModuleNotFoundError"),
        ("class A", "clas A", "SyntaxError"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in _SCRIPT
    script = _write(tmp_path, _SCRIPT.replace(old, new))
    with pytest.raises(AccuracyScriptError, match=message):
        run_accuracy_script(script, ("x",), _model)


def test_missing_script(tmp_path: Path) -> None:
    with pytest.raises(AccuracyScriptError, match="absent.py"):
        run_accuracy_script(tmp_path / "absent.py", ("x",), _model)


def test_arrays_reach_the_model_as_arrays(tmp_path: Path) -> None:
    as_list = _SCRIPT.replace(
        "np.arange(begin, end, dtype=np.float32)", "list(range(begin, end))"
    )
    script = _write(tmp_path, as_list)
    seen = []

    def model(inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        seen.append(inputs["x"])
        return {"odd": inputs["x"] % 2}

    run_accuracy_script(script, ("x",), model)
    assert all(isinstance(array, np.ndarray) for array in seen)


def test_cosine_by_hand() -> None:
    # 3*4 + 4*3 = 24 over 5 * 5.
    assert cosine_similarity(np.array([3.0, 4.0]), np.array([4.0, 3.0])) == 0.96
    assert cosine_similarity(np.array([1.0, 0.0]), np.array([0.0, 2.0])) == 0.0
    assert cosine_similarity(np.array([1.0, 2.0]), np.array([-1.0, -2.0])) == -1.0


def test_cosine_ignores_scale_and_never_exceeds_one() -> None:
    x = np.random.default_rng(3).standard_normal(1001)
    assert cosine_similarity(x, 7 * x) == pytest.approx(1.0, abs=1e-15)
    assert cosine_similarity(x, 7 * x) <= 1.0
    assert cosine_similarity(x * 1e300, x * 1e-300) == pytest.approx(1.0, abs=1e-12)


def test_cosine_of_zeros() -> None:
    zero, one = np.zeros(3), np.ones(3)
    assert cosine_similarity(zero, zero) == 1.0
    assert cosine_similarity(zero, one) == 0.0
    assert cosine_similarity(one, zero) == 0.0


def test_sqnr_is_a_ratio() -> None:
    # 3^2 + 4^2 = 25 over 0.5^2 = 0.25.
    x, y = np.array([3.0, 4.0]), np.array([3.0, 4.5])
    assert sqnr(x, y) == 100.0
    assert compute_metrics(x, y).sqnr_db == pytest.approx(20.0)
    assert sqnr(x, x) == math.inf
    assert compute_metrics(x, x).sqnr_db == math.inf


def test_pixel_accuracy_counts_rows() -> None:
    x = np.array([[1, 2, 3], [3, 2, 1], [0, 5, 0], [0, 0, 9]])
    y = np.array([[1, 2, 3], [3, 2, 1], [9, 5, 0], [0, 0, 9]])
    assert pixel_accuracy(x, y) == 0.75
    assert pixel_accuracy(x[0], y[0]) == 1.0
    assert pixel_accuracy(np.array(2.0), np.array(3.0)) == 1.0
    # The same picture with channels first.
    assert pixel_accuracy(x.T, y.T, class_axis=0) == 0.75


def test_errors_by_hand() -> None:
    metrics = compute_metrics(np.array([1.0, -8.0]), np.array([1.5, -8.0]))
    assert metrics.max_abs_error == 0.5
    assert metrics.max_rel_error == 0.0625


def test_float32_inputs_are_widened_first() -> None:
    # In float32 the squares would overflow to Inf.
    x = np.full(4, 1e30, dtype=np.float32)
    metrics = compute_metrics(x, x)
    assert metrics.similarity == 1.0
    assert metrics.sqnr == math.inf


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_no_numbers(bad: float) -> None:
    good = np.array([1.0, 2.0])
    broken = np.array([1.0, bad])
    metrics = compute_metrics(good, broken)
    assert metrics.non_finite == 1
    assert math.isnan(metrics.similarity)
    # In the expected tensor, too: never a pass by accident.
    assert math.isnan(compute_metrics(broken, good).similarity)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="shapes differ"):
        compute_metrics(np.zeros((2, 3)), np.zeros((3, 2)))


def test_empty_tensors_agree() -> None:
    metrics = compute_metrics(np.zeros((0, 3)), np.zeros((0, 3)))
    assert (metrics.similarity, metrics.pixel_accuracy) == (1.0, 1.0)


def test_rounding_moves_floats_to_a_neighbour_and_keeps_the_rest() -> None:
    x = np.array([0.0, 1.0, -3.5, 1e30], np.float32)
    moved = moved_by_rounding(np.tile(x, 50)).reshape(50, 4)
    assert moved.dtype == np.float32
    assert not moved[:, 0].any()
    for column, value in zip(moved.T[1:], x[1:]):
        neighbours = {np.nextafter(value, np.float32(e)) for e in (np.inf, -np.inf)}
        assert set(column) == neighbours
    indices = np.arange(4)
    assert moved_by_rounding(indices) is indices
    zeros = np.zeros(3, np.float32)
    assert moved_by_rounding(zeros) is zeros


# Classes 0 and 1 in folders; the name of an image says which brightness it has.
_LABELLED = """
from mace.python.tools.validate.labelled_images import LabelledImages

class AccuracyValidator(LabelledImages):
    images = "val"
    input = "x"
    size = (2, 3)
    ranks = (1, 2)
"""


def _image(path: Path, colour: tuple[int, int, int], size: tuple[int, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)


def _brightness(seen: list[Array]) -> RunBatch:
    """Three scores; the best is the class that the red channel says."""

    def run(inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        seen.append(inputs["x"])
        best = inputs["x"].reshape(len(inputs["x"]), -1)[:, 0].astype(int)
        return {"y": np.eye(3, dtype=np.float32)[best] + [0.1, 0.2, 0.3]}

    return run


def test_top_k_over_a_folder_for_each_class(tmp_path: Path) -> None:
    for name, red in (("a/1.png", 0), ("a/2.png", 1), ("b/1.PNG", 1), ("b/2.png", 0)):
        _image(tmp_path / "val" / name, (red, 0, 9), (6, 4))
    (tmp_path / "val" / "b" / "notes.txt").touch()
    seen: list[Array] = []
    script = _write(tmp_path, _LABELLED)
    result = run_accuracy_script(script, ("x",), _brightness(seen))
    # Of b/2.png, class 1 is the third; of a/2.png, class 0 is the third, too.
    assert result == "top-1 50.00 %, top-2 50.00 % of 4 images"
    assert [image.shape for image in seen] == [(1, 2, 3, 3)] * 4
    assert seen[1][0, 0, 0].tolist() == [1, 0, 9]


def test_top_k_over_a_list_of_labels(tmp_path: Path) -> None:
    _image(tmp_path / "val" / "one.png", (12, 3, 0), (8, 4))
    _image(tmp_path / "val" / "b" / "two.png", (14, 3, 0), (4, 8))
    (tmp_path / "labels.txt").write_text("one.png 0\n\nb/two.png 1\n")
    more = """
    labels = "labels.txt"
    colours = "BGR"
    data_format = "NCHW"
    shorter_side = 4
    mean = (0, 1, 10)
    scale = (1, 1, 0.5)
    batch = 2
    first_class = 1
"""
    seen: list[Array] = []

    def run(inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        seen.append(inputs["x"])
        best = inputs["x"][:, 2, 0, 0].astype(int)
        return {"y": np.eye(3, dtype=np.float32)[best]}

    script = _write(tmp_path, _LABELLED + more)
    result = run_accuracy_script(script, ("x",), run)
    assert result == "top-1 100.00 %, top-2 100.00 % of 2 images"
    (batch,) = seen
    assert batch.shape == (2, 3, 2, 3)
    assert batch[:, :, 1, 2].tolist() == [[0, 2, 1], [0, 2, 2]]


def _same(scores: Array, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    del inputs
    return {"y": scores}


def test_equal_scores_and_nan_are_not_right(tmp_path: Path) -> None:
    _image(tmp_path / "val" / "a" / "1.png", (0, 0, 0), (3, 2))
    script = _write(tmp_path, _LABELLED)
    for scores in ([0.5, 0.5, 0.5], [np.nan, 0, 0]):
        row = np.array([scores], np.float32)
        result = run_accuracy_script(script, ("x",), functools.partial(_same, row))
        assert result == "top-1 0.00 %, top-2 0.00 % of 1 images"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('images = "val"', 'images = "nothing"', "there is no folder .*nothing"),
        ('images = "val"', 'images = "val/a"', "has no images"),
        ('images = "val"', "", "must say images"),
        ('input = "x"', 'colours = "CMYK"', "accepted: RGB, BGR, GRAY"),
        ('input = "x"', 'input = "x"; output = "z"', "output = 'z'; the model has y"),
        ('input = "x"', 'input = "x"; first_class = 3', "class 0, but .* 0 classes"),
        ('input = "x"', 'labels = "bad.txt"', r"bad.txt:1: 'cat.png'; a line is NAME"),
        ('input = "x"', 'labels = "none.txt"', "labels: .*none.txt"),
    ],
)
def test_mistakes_in_labelled_folders_are_named(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    _image(tmp_path / "val" / "a" / "1.png", (0, 0, 0), (3, 2))
    (tmp_path / "bad.txt").write_text("cat.png\n")
    assert old in _LABELLED
    script = _write(tmp_path, _LABELLED.replace(old, new))
    with pytest.raises(AccuracyScriptError, match=message):
        run_accuracy_script(script, ("x",), _brightness([]))


def test_a_file_that_is_no_image(tmp_path: Path) -> None:
    path = tmp_path / "val" / "a" / "1.png"
    path.parent.mkdir(parents=True)
    path.write_text("no image")
    with pytest.raises(AccuracyScriptError, match=r"a/1\.png cannot be read"):
        run_accuracy_script(_write(tmp_path, _LABELLED), ("x",), _brightness([]))
