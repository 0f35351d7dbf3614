# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs models.

    import mace

    model = mace.load("model.onnx")
    probability = model(image)

What is listed in `__all__` is loaded when it is first used: the converter, which is
part of this package, does without the engine, and the engine without the converter.
See docs/user/python.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mace.python.runtime import (
        AcceleratorOptions,
        BoundModel,
        Copy,
        EngineError,
        MaceError,
        Model,
        OperatorInfo,
        OperatorTime,
        Pipeline,
        Profile,
        RunOptions,
        TensorInfo,
        TextModel,
        UsageError,
        convert,
        inspect,
        load,
        load_pipeline,
        load_text,
        quantize,
    )

__version__: str

__all__ = [
    "AcceleratorOptions",
    "BoundModel",
    "Copy",
    "EngineError",
    "MaceError",
    "Model",
    "OperatorInfo",
    "OperatorTime",
    "Pipeline",
    "Profile",
    "RunOptions",
    "TensorInfo",
    "TextModel",
    "UsageError",
    "__version__",
    "convert",
    "inspect",
    "load",
    "load_pipeline",
    "load_text",
    "quantize",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from mace.python.installation import VERSION

        value: Any = VERSION
    elif name in __all__:
        from mace.python import runtime

        value = getattr(runtime, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
