// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/join.h"

#include <algorithm>
#include <string>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/kernels/opencl/join_cl.h"
#include "mace/ops/opencl_op/move.h"

namespace mace {
namespace {

// Of one launch. GPUs of phones have room for 256 bytes of arguments.
constexpr size_t kMostInputs = 8;

const char *const kNames[kMostInputs] = {"in0", "in1", "in2", "in3",
                                         "in4", "in5", "in6", "in7"};

// An input with elements, and where it is on the axis, in units.
struct Part {
  size_t input;
  int64_t begin;
  int64_t end;
};

}  // namespace

void AddJoin(const std::vector<int64_t> &lengths,
             int64_t inner,
             OpenclPlanContext *context) {
  const GpuDims out = context->OutputDims();
  std::vector<Part> parts;
  int64_t axis = 0;
  bool whole_blocks = true;  // of channels, if these are the axis
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    whole_blocks = whole_blocks && axis % 4 == 0;
    parts.push_back({i, axis, axis + lengths[i]});
    axis += lengths[i];
  }
  const int64_t outer = out.pixels() * out.c / (axis * inner);
  const bool channels = inner == 1 && axis == out.c && outer == out.pixels();
  if ((channels || outer == 1) && context->JoinInPlace(channels)) return;
  const bool blocks = !channels || whole_blocks;
  if (!channels) {
    inner = inner / out.c * out.blocks();
  } else if (whole_blocks) {
    for (Part &part : parts) {
      part.begin /= 4;
      part.end = (part.end + 3) / 4;
    }
    axis = out.blocks();
  }
  // Without whole blocks, an input of one launch that ends within a block is
  // also one of the next launch, which writes that block.
  const int64_t unit = blocks ? 1 : 4;  // of what is written
  const int64_t total = DivideUp(axis, unit);
  int64_t done = 0;
  size_t first = 0;
  while (done < total) {
    while (parts[first].end <= done * unit) ++first;
    const size_t count = std::min(kMostInputs, parts.size() - first);
    const Part *const chosen = &parts[first];
    const bool last = first + count == parts.size();
    const int64_t next = last ? total : chosen[count - 1].end / unit;
    Launch launch(kJoinCl, "join");
    launch.Define("COUNT", static_cast<int64_t>(count));
    if (blocks) launch.Define("BLOCKS");
    DefineValues(*context->output(0), &launch);
    int64_t begins[kMostInputs];
    for (size_t i = 0; i < kMostInputs; ++i) {
      begins[i] = i < count ? chosen[i].begin : chosen[count - 1].end;
      if (i < count) launch.Input(kNames[i], chosen[i].input);
    }
    const int64_t items = outer * (next - done) * inner;
    launch.Output("output")
        .Int(items)
        .Ints(axis, inner, done, next - done)
        .Ints(begins[0], begins[1], begins[2], begins[3])
        .Ints(begins[4], begins[5], begins[6], begins[7])
        .Int(chosen[count - 1].end)
        .Items(items);
    context->Add(std::move(launch));
    done = next;
  }
}

}  // namespace mace
