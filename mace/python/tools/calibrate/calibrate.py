# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantizes a model by samples: ranges, equalisation, biases, layers in 16 bits or in
floats.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mace.python.tools.calibrate.network import Array, Host, Network
from mace.python.tools.calibrate.samples import Noise, Samples
from mace.python.tools.config.deployment import ModelConfig
from mace.python.tools.config.vocabulary import CalibrationMethod
from mace.python.tools.convert.quantization import quantize_options
from mace.python.tools.ir import DataType, Graph
from mace.python.tools.passes.manager import PassManager
from mace.python.tools.quantize.calibration import Histogram, choose_range
from mace.python.tools.quantize.equalise import add_shadows, equalise
from mace.python.tools.quantize.insert import Plan, QuantizeOptions, insert, plan
from mace.python.tools.quantize.quantizer import Quantizer
from mace.python.tools.quantize.ranges import Range

_LOG = logging.getLogger(__name__)

# With which it is measured what a single layer costs.
_FEW_SAMPLES = 4
# SQNR that differ by less show no difference.
_ALIKE_DB = 1.0


@dataclass(frozen=True)
class Settings:
    """How a model is calibrated.

    Attributes:
        percentile: of the method PERCENTILE.
        equalise, correct_bias: try it, and keep it if outputs become better.
        least_sqnr_db: of the outputs. Below, the layers that lose most compute in 16
            bits until it is reached, or until half of the layers do. If that is not
            enough, layers stay in floats in the same way.
    """

    method: CalibrationMethod = CalibrationMethod.MSE
    percentile: float = 99.99
    equalise: bool = True
    correct_bias: bool = True
    least_sqnr_db: float = 20.0


@dataclass(frozen=True)
class Trial:
    """A way to quantize the model, what its outputs lose, and what it costs.

    Attributes:
        what: was tried, for people.
        outputs: by name.
        ms: the least time of a run on this computer.
        accuracy: what the model's accuracy scripts say, by their paths.
    """

    what: str
    outputs: Mapping[str, Noise]
    ms: float
    accuracy: Mapping[str, str]

    @property
    def sqnr_db(self) -> float:
        """Of the worst output."""
        return _least_sqnr(self.outputs)


def _least_sqnr(outputs: Mapping[str, Noise]) -> float:
    return min(noise.sqnr_db for noise in outputs.values())


@dataclass
class Calibrated:
    """A model that is ready to be quantized.

    Attributes:
        histograms: of its tensors in floats, by name.
        ranges: that were chosen.
        layers: the noise of each quantized operator alone, by the name of its result.
        costs: of operators, the least SQNR of the outputs in dB if they alone are
            quantized; empty unless some lose too much.
        trials: the model in floats, and what was tried, in this order; the last one is
            in use.
    """

    quantizer: Quantizer
    settings: Settings
    samples: int
    plan: Plan
    histograms: Mapping[str, Histogram]
    ranges: Mapping[str, Range]
    layers: Mapping[str, Noise] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)


@dataclass(frozen=True)
class _Floats:
    """The model in floats, as it is quantized.

    Attributes:
        graph: equalised or not.
        plan: what is quantized, if no layer is left in floats for what it loses.
        histograms: of its tensors.
        ranges: chosen by them.
        means: of the channels of its tensors, or None where biases stay.
    """

    graph: Graph
    plan: Plan
    histograms: Mapping[str, Histogram]
    ranges: Mapping[str, Range]
    means: Mapping[str, Array] | None = None


class Calibration:
    """Calibrates one model.

    Args:
        place: where it runs.
        graph: in floats, before it is quantized.
    """

    def __init__(
        self,
        place: Host,
        model: ModelConfig,
        graph: Graph,
        samples: Samples,
        settings: Settings,
    ) -> None:
        self._place = place
        self._model = model
        self._graph = graph
        self._samples = samples
        self._settings = settings
        self._options = quantize_options(model)
        network = place.network(model, graph)
        self._outputs = [v.name for v in graph.outputs if v.dtype.is_float]
        nothing = {name: Noise() for name in self._outputs}
        self._trials = [self._measure("in floats", nothing, network)]
        self._costs: Mapping[str, float] = {}
        # The outputs of all samples; they are small next to inner tensors.
        self._expected = [
            tensors for _, tensors in samples.tensors(network, self._outputs)
        ]

    def run(self) -> Calibrated:
        """Finds the best way to quantize the model.

        Raises:
            MaceError: the model cannot be run, or a tensor is not finite.
        """
        floats, is_equal = self._best_floats()
        found = floats.plan
        layers = self._layer_noise(floats)
        best = self._trials[-1]
        options = self._options
        if best.sqnr_db < self._settings.least_sqnr_db:
            makers = {v.name: op.name for op in floats.graph.ops for v in op.outputs}
            options = self._for_layers(floats, [makers[name] for name in layers])
            found = plan(floats.graph, options)
        quantizer = Quantizer(
            self._model.name,
            floats.ranges,
            "the samples",
            options,
            equalise if is_equal else None,
            floats.means,
        )
        return Calibrated(
            quantizer,
            self._settings,
            len(self._expected),
            found,
            floats.histograms,
            floats.ranges,
            layers,
            self._costs,
            self._trials,
        )

    def _best_floats(self) -> tuple[_Floats, bool]:
        """The model with what makes its outputs better, and whether it is equalised."""
        plain = self._without_zeros()
        best = self._try("ranges of tensors", plain)
        chosen, is_equal = plain, False
        if self._settings.equalise:
            graph = self._graph.copy()
            if equalise(graph):
                equal = self._measured(graph)
                trial = self._try("equalised channels", equal)
                if trial.sqnr_db > best.sqnr_db:
                    chosen, best, is_equal = equal, trial, True
        if self._settings.correct_bias:
            means = {n: h.means for n, h in chosen.histograms.items()}
            corrected = replace(chosen, means=means)
            trial = self._try("corrected biases", corrected)
            if trial.sqnr_db > best.sqnr_db:
                chosen, best = corrected, trial
        self._use(best)
        return chosen, is_equal

    def _without_zeros(self) -> _Floats:
        """The model; what has no range stays in floats."""
        floats = self._measured(self._graph)
        zero = [n for n, h in floats.histograms.items() if h.low >= 0 >= h.high]
        if not zero:
            return floats
        reasons = {
            op.name: f"{value.name} is 0 for all samples"
            for op in self._graph.ops
            for value in (*op.inputs, *op.outputs)
            if value is not None and value.name in zero
        }
        _LOG.warning(
            "%s: samples do not show the range of %s, which is always 0; take others",
            self._model.name,
            ", ".join(zero),
        )
        self._options = replace(self._options, in_floats=reasons)
        return self._measured(self._graph)

    def _measured(self, graph: Graph) -> _Floats:
        found = plan(graph, self._options)
        network = self._place.network(self._model, graph)
        histograms = self._samples.histograms(network, found.tensors)
        how = self._settings
        ranges = {
            name: choose_range(histogram, how.method, how.percentile)
            for name, histogram in histograms.items()
        }
        return _Floats(graph, found, histograms, ranges)

    def _try(
        self, what: str, floats: _Floats, options: QuantizeOptions | None = None
    ) -> Trial:
        found = floats.plan if options is None else plan(floats.graph, options)
        network = self._quantized(floats, found.quantized, options or self._options)
        trial = self._measure(what, self._output_noise(network), network)
        self._trials.append(trial)
        return trial

    def _measure(
        self, what: str, outputs: Mapping[str, Noise], network: Network
    ) -> Trial:
        """The trial with its time and accuracy."""
        ms, accuracy = self._samples.least_ms(network), network.accuracy()
        trial = Trial(what, outputs, ms, accuracy)
        noise = "" if math.isinf(trial.sqnr_db) else f"SQNR {trial.sqnr_db:.2f} dB, "
        said = "".join(f", {text}" for text in accuracy.values())
        _LOG.info("%s: %s: %s%.3f ms%s", self._model.name, what, noise, ms, said)
        return trial

    def _quantized(
        self, floats: _Floats, chosen: Collection[str], options: QuantizeOptions
    ) -> Network:
        """The model with these operators quantized."""
        graph = floats.graph.copy()

        def quantize(graph: Graph) -> int:
            return insert(graph, floats.ranges, options, chosen, floats.means)

        PassManager(quantize=quantize).run(graph)
        return self._place.network(self._model, graph)

    def _output_noise(
        self, network: Network, most: int | None = None
    ) -> dict[str, Noise]:
        """What the outputs of a quantized model lose.

        Args:
            most: samples; None: all.
        """
        noise = {name: Noise() for name in self._outputs}
        found = self._samples.tensors(network, self._outputs)
        for expected, (_, tensors) in zip(self._expected[:most], found):
            for name in self._outputs:
                noise[name].add(expected[name], tensors[name])
        return noise

    def _layer_noise(self, floats: _Floats) -> dict[str, Noise]:
        graph = floats.graph.copy()
        shadows = add_shadows(
            graph, floats.ranges, self._options, floats.plan, floats.means
        )
        network = self._place.network(self._model, graph)
        return self._samples.shadow_noise(network, shadows)

    def _for_layers(self, floats: _Floats, names: Sequence[str]) -> QuantizeOptions:
        """Has as few layers as reach the wanted SQNR compute in 16 bits; or in floats,
        if that is not enough.

        Args:
            names: of the operators that can be chosen.
        """
        costs = {}
        for name in names:
            network = self._quantized(floats, [name], self._options)
            costs[name] = _least_sqnr(self._output_noise(network, _FEW_SAMPLES))
        self._costs = costs
        worst = sorted(names, key=lambda name: costs[name])
        options, best = self._options, self._trials[-1]
        wanted = self._settings.least_sqnr_db
        if options.dtype is not DataType.INT16:
            wide, trial = self._fewest("in_16_bits", floats, worst, options, best)
            if trial.sqnr_db > best.sqnr_db + _ALIKE_DB:
                options, best = wide, trial
        if best.sqnr_db < wanted:
            options, best = self._fewest("in_floats", floats, worst, options, best)
        if best.sqnr_db < wanted:
            _LOG.warning(
                "%s: outputs reach %.1f dB with up to half of the layers in 16 bits or "
                "in floats, calibration.min_sqnr asks for %.1f",
                self._model.name,
                best.sqnr_db,
                wanted,
            )
        self._use(best)
        return options

    def _fewest(
        self,
        where: str,
        floats: _Floats,
        worst: Sequence[str],
        before: QuantizeOptions,
        start: Trial,
    ) -> tuple[QuantizeOptions, Trial]:
        """Moves as few layers as reach the wanted SQNR; if half of them do not, as few
        as come close to the best.

        Args:
            where: to, a field of QuantizeOptions.
            worst: names of layers, the first ones are moved.
            start: what is reached if none is.
        """

        def options(count: int) -> QuantizeOptions:
            width = "" if self._options.dtype is DataType.INT16 else " of 8 bits"
            reasons = {
                name: f"alone in integers{width} it makes the SQNR of an output "
                f"{self._costs[name]:.1f} dB"
                for name in worst[:count]
            }
            moved = {**reasons, **getattr(before, where)}
            if where == "in_floats":
                return replace(before, in_floats=moved)
            return replace(before, in_16_bits=moved)

        tried: dict[int, Trial] = {0: start}

        def reaches(count: int) -> bool:
            if count not in tried:
                what = f"{count} layers {where.replace('_', ' ')}"
                tried[count] = self._try(what, floats, options(count))
            return tried[count].sqnr_db >= self._settings.least_sqnr_db

        most = -(-len(worst) // 2)
        low, high = 0, min(1, most)
        while high < most and not reaches(high):
            low, high = high, min(2 * high, most)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        if not reaches(high):
            best = max(trial.sqnr_db for trial in tried.values())
            high = min(n for n, t in tried.items() if t.sqnr_db >= best - _ALIKE_DB)
        return options(high), tried[high]

    def _use(self, trial: Trial) -> None:
        """Makes a trial the last one."""
        self._trials.remove(trial)
        self._trials.append(trial)
