# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the normal form out of sections that passed every check."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mace.python.tools.config import deployment as normal
from mace.python.tools.config.sections import (
    ParsedDeployment,
    ParsedModel,
    ParsedSection,
)


def normalise(
    source: Path, parsed: ParsedDeployment, warnings: tuple[str, ...]
) -> normal.Deployment:
    """The normal form of a file without problems."""
    builder = _Builder(source)
    return normal.Deployment(
        source=source,
        library_name=parsed.values["library_name"],
        target_abis=tuple(parsed.values["target_abis"]),
        target_socs=tuple(dict.fromkeys(parsed.values["target_socs"] or ())),
        model_graph_format=parsed.values["model_graph_format"],
        model_data_format=parsed.values["model_data_format"],
        models=tuple(builder.model(model) for model in parsed.models),
        warnings=warnings,
        given=tuple(_given(parsed)),
    )


def _given(parsed: ParsedDeployment) -> Iterator[normal.GivenKey]:
    yield from _given_in(normal.Level.FILE, parsed)
    for model in parsed.models:
        yield from _given_in(normal.Level.MODEL, model, model.name)
        micro = model.get("micro")
        if micro is not None:
            yield from _given_in(normal.Level.MICRO, micro, model.name)
        for index, subgraph in enumerate(model.subgraphs):
            yield from _given_in(normal.Level.SUBGRAPH, subgraph, model.name, index)


def _given_in(
    level: normal.Level,
    section: ParsedSection,
    model: str = "",
    subgraph: int | None = None,
) -> Iterator[normal.GivenKey]:
    for key in section.node.entries:
        yield normal.GivenKey(
            level=level,
            key=key,
            # Sections below this one are given key by key.
            value=section.get(key),
            path=section.path(key),
            origin=section.place(key).origin,
            model=model,
            subgraph=subgraph,
        )


class _Builder:
    def __init__(self, source: Path) -> None:
        folder = Path(os.path.abspath(source)).parent
        self._search_dirs = (Path.cwd(), folder)

    def _file(
        self,
        section: ParsedSection,
        key: str,
        location: str | None,
        sha256_key: str | None = None,
        index: int | None = None,
    ) -> normal.FileRef | None:
        if location is None:
            return None
        path = section.path(key)
        if index is not None and not path.endswith("]"):
            path += f"[{index}]"
        return normal.FileRef(
            location=location,
            key=path,
            sha256=section.get(sha256_key) if sha256_key else None,
            sha256_key=section.path(sha256_key) if sha256_key else None,
            search_dirs=self._search_dirs,
        )

    def _files(self, section: ParsedSection, key: str) -> list[normal.FileRef | None]:
        return [
            self._file(section, key, location, index=index)
            for index, location in enumerate(section.get(key) or ())
        ]

    def model(self, parsed: ParsedModel) -> normal.ModelConfig:
        values = parsed.values
        first = parsed.subgraphs[0]
        runtime = values["runtime"] or first.values["runtime"]
        data_type = values["data_type"] or normal.DataType.FP16_FP32
        model_file = self._file(
            parsed,
            "model_file_path",
            values["model_file_path"],
            "model_sha256_checksum",
        )
        assert model_file is not None
        micro = parsed.get("micro")
        return normal.ModelConfig(
            name=parsed.name,
            platform=values["platform"],
            model_file=model_file,
            weight_file=self._file(
                parsed,
                "weight_file_path",
                values["weight_file_path"],
                "weight_sha256_checksum",
            ),
            subgraphs=tuple(
                self._subgraph(parsed, index, runtime, data_type)
                for index in range(len(parsed.subgraphs))
            ),
            runtime=runtime,
            data_type=data_type,
            winograd=values["winograd"],
            limit_opencl_kernel_time=values["limit_opencl_kernel_time"],
            opencl_queue_window_size=values["opencl_queue_window_size"],
            cl_mem_type=values["cl_mem_type"],
            obfuscate=values["obfuscate"],
            quantize=self._quantize(parsed),
            graph_optimize_options=tuple(values["graph_optimize_options"] or ()),
            caffe_docker=normal.CaffeDocker(
                image_tag=values["docker_image_tag"],
                dockerfile=self._file(
                    parsed,
                    "dockerfile_path",
                    values["dockerfile_path"],
                    "dockerfile_sha256_checksum",
                ),
            ),
            nnlib_graph_mode=values["nnlib_graph_mode"],
            dsp_mode=values["dsp_mode"],
            accelerator_api=values["accelerator_api"],
            apu_version_with_no_device=values["apu_version_with_no_device"],
            micro_backend=micro.get("backend") if micro else None,
        )

    def _quantize(self, parsed: ParsedModel) -> normal.QuantizeConfig:
        values = parsed.values
        return normal.QuantizeConfig(
            enabled=values["quantize"],
            range_file=self._file(
                parsed, "quantize_range_file", values["quantize_range_file"]
            ),
            large_weights=values["quantize_large_weights"],
            schema=values["quantize_schema"],
            change_concat_ranges=values["change_concat_ranges"],
        )

    def _subgraph(
        self,
        model: ParsedModel,
        index: int,
        runtime: normal.Runtime,
        data_type: normal.DataType,
    ) -> normal.SubgraphConfig:
        parsed = model.subgraphs[index]
        values = parsed.values
        name = model.name
        if len(model.subgraphs) > 1:
            name = f"{model.name}_{index}"
        winograd = values["winograd"]
        if winograd is None:
            winograd = model.values["winograd"]
        return normal.SubgraphConfig(
            name=values["name"] or name,
            inputs=self._inputs(parsed),
            outputs=self._outputs(parsed),
            runtime=values["runtime"] or runtime,
            data_type=values["data_type"] or data_type,
            winograd=winograd,
            check_tensors=tuple(
                normal.CheckTensor(tensor, tuple(shape))
                for tensor, shape in zip(
                    values["check_tensors"] or (), values["check_shapes"] or ()
                )
            ),
            validation_threshold=dict(values["validation_threshold"] or {}),
            accuracy_validation_scripts=tuple(
                file
                for file in self._files(parsed, "accuracy_validation_script")
                if file is not None
            ),
            backend=values["backend"],
            order=values["order"],
        )

    def _inputs(self, parsed: ParsedSection) -> tuple[normal.InputInfo, ...]:
        tensors = self._border(parsed, "input")
        ranges = _per_tensor(parsed.values["input_ranges"], len(tensors))
        return tuple(
            normal.InputInfo(**tensor, range=range_)
            for tensor, range_ in zip(tensors, ranges)
        )

    def _outputs(self, parsed: ParsedSection) -> tuple[normal.OutputInfo, ...]:
        return tuple(
            normal.OutputInfo(**tensor) for tensor in self._border(parsed, "output")
        )

    def _border(self, parsed: ParsedSection, side: str) -> list[dict[str, Any]]:
        """Fields of `BorderTensor`, of each tensor of a side."""
        values = parsed.values
        names = values[f"{side}_tensors"]
        columns = {
            "data_type": values[f"{side}_data_types"],
            "data_format": values[f"{side}_data_formats"],
            "alias": values[f"{side}_aliases"],
            "validation_data": self._files(parsed, f"validation_{side}s_data"),
        }
        each = {key: _per_tensor(column, len(names)) for key, column in columns.items()}
        return [
            {
                "name": name,
                "shape": tuple(shape),
                **{key: column[i] for key, column in each.items()},
            }
            for i, (name, shape) in enumerate(zip(names, values[f"{side}_shapes"]))
        ]


def _per_tensor(values: Sequence[Any] | None, count: int) -> list[Any]:
    """One value per tensor: none given, one for all, or one for each."""
    if not values:
        return [None] * count
    if len(values) == 1:
        return list(values) * count
    return list(values)
