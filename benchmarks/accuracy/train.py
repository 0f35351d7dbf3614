# Copyright 2026 The MACE Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains a network of networks.py, in floats and then for 8 bits.

    build/exports-venv/bin/python benchmarks/accuracy/train.py NAME IMAGES FOLDER

Reads the images that data.py wrote. Writes, with the input `image` [N, 1, 32, 32] and
the output `logits` [N, 10]:

- NAME_float.onnx, the trained network with its normalisations folded;
- NAME_unequal_float.onnx, the same function with unequal channels (unequal.py), if the
  network has channels that may be;
- NAME_qat.onnx, trained further with the roundings of fake_quantization.py, which are
  QuantizeLinear and DequantizeLinear there;
- NAME.json, written last: the accuracy of both trainings, as PyTorch computes it.

Runs with one thread, so that a seed gives the same network again on the same machine.
The program runs in the environment of `setup.sh exports`, and imports nothing from
MACE.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from pathlib import Path

import data
import fake_quantization
import numpy as np
import torch
from networks import NETWORKS
from torch import Tensor, nn
from torch.nn import functional
from unequal import with_unequal_channels

_SEED = 7
_BATCH = 64
_OPSET = 18
# Of the whole training, and of the one with roundings; ranges are kept in the last
# third.
_EPOCHS = {"transformer": 200}
_MOST_EPOCHS = 70
_ROUNDED_EPOCHS = 15
_RATE, _ROUNDED_RATE = 3e-3, 2e-4
_RATES = {"transformer": 2e-3}


def _train(network: nn.Module, epochs: int, rate: float, images: data.Images) -> None:
    rng = np.random.default_rng(_SEED)
    optimizer = torch.optim.AdamW(network.parameters(), rate, weight_decay=0.02)
    batches = len(images.digits) // _BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rate, epochs * batches, pct_start=0.1
    )
    network.train()
    for epoch in range(epochs):
        if epoch == math.ceil(epochs * 2 / 3):
            fake_quantization.keep_ranges(network)
        pixels = torch.from_numpy(data.varied(images.pixels, rng))
        digits = torch.from_numpy(images.digits)
        order = torch.from_numpy(rng.permutation(len(digits)))
        total, start = 0.0, time.monotonic()
        for chosen in order[: batches * _BATCH].split(_BATCH):
            loss = functional.cross_entropy(
                network(pixels[chosen]), digits[chosen], label_smoothing=0.05
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        seconds = time.monotonic() - start
        print(f"epoch {epoch}: loss {total / batches:.4f}, {seconds:.1f} s", flush=True)
    network.eval()


def _accuracy(network: nn.Module, pixels: Tensor, digits: Tensor) -> float:
    with torch.no_grad():
        found = torch.cat([network(part).argmax(1) for part in pixels.split(256)])
    return float((found == digits).float().mean())


def _export(network: nn.Module, path: Path) -> None:
    torch.onnx.export(
        network,
        (torch.zeros(2, 1, data.SIZE, data.SIZE),),
        str(path),
        input_names=["image"],
        output_names=["logits"],
        dynamic_shapes=({0: torch.export.Dim("N")},),
        opset_version=_OPSET,
        dynamo=True,
        external_data=False,
        verbose=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("name", choices=NETWORKS)
    parser.add_argument("images", type=Path, help="of data.py")
    parser.add_argument("folder", type=Path, help="for the results")
    parser.add_argument("--epochs", type=int, help="instead of the network's")
    args = parser.parse_args()
    torch.manual_seed(_SEED)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    held = np.load(args.images)
    images = data.Images(held["train"], held["train_digits"])
    test = torch.from_numpy(held["test"]), torch.from_numpy(held["test_digits"])
    args.folder.mkdir(parents=True, exist_ok=True)

    network = NETWORKS[args.name]()
    epochs = args.epochs or _EPOCHS.get(args.name, _MOST_EPOCHS)
    start = time.monotonic()
    _train(network, epochs, _RATES.get(args.name, _RATE), images)
    found = {"float": _accuracy(network, *test)}
    print(found, flush=True)
    plain = fake_quantization.folded(copy.deepcopy(network))
    _export(plain, args.folder / f"{args.name}_float.onnx")
    if with_unequal_channels(plain, _SEED):
        _export(plain, args.folder / f"{args.name}_unequal_float.onnx")

    rounded = fake_quantization.quantized(copy.deepcopy(network))
    _train(rounded, min(epochs, _ROUNDED_EPOCHS), _ROUNDED_RATE, images)
    found["qat"] = _accuracy(rounded, *test)
    print(found, f"{time.monotonic() - start:.0f} s", flush=True)
    fake_quantization.make_integers(rounded)
    _export(rounded, args.folder / f"{args.name}_qat.onnx")
    path = args.folder / f"{args.name}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
