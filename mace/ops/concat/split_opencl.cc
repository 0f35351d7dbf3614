// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>
#include <vector>

#include "mace/ops/concat/split_cl.h"
#include "mace/ops/concat/split_schema.h"
#include "mace/ops/opencl_op/move.h"

namespace mace {
namespace {

// Of one launch: a kernel can write four images at least.
constexpr size_t kMostOutputs = 4;

const char *const kNames[kMostOutputs] = {"out0", "out1", "out2", "out3"};

// An output with elements.
struct Part {
  size_t output;
  int64_t begin;   // on the axis, in units
  int64_t length;  // likewise
  int64_t blocks;  // of the output
};

class SplitOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kElements);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override;
  bool TakesIntegers() const override { return true; }
};

MaceStatus SplitOpencl::Plan(OpenclPlanContext *context) const {
  const Shape &shape = context->input(kSplitInputInput)->shape;
  const auto axis = static_cast<size_t>(
      shape.NormalizeAxis(context->AttributesAs<SplitAttributes>().axis));
  const bool channels = axis + 1 == shape.rank();
  std::vector<Part> parts;
  int64_t begin = 0;
  bool blocks = true;
  for (size_t i = 0; i < context->output_count(); ++i) {
    if (context->output(i) == nullptr) continue;
    const int64_t length = context->output(i)->shape[axis];
    if (length > 0) {
      const GpuDims dims = context->OutputDims(i);
      parts.push_back({i, begin, length, dims.pixels() * dims.blocks()});
      blocks = blocks && (!channels || begin % 4 == 0);
    }
    begin += length;
  }
  const GpuDims in = context->InputDims(kSplitInputInput);
  int64_t length = shape[axis];
  int64_t inner = 1;
  if (!channels) {
    inner = shape.Elements(axis + 1, shape.rank()) / in.c * in.blocks();
  } else if (blocks) {
    length = in.blocks();
    for (Part &part : parts) {
      part.begin /= 4;
      part.length = (part.length + 3) / 4;
    }
  }
  for (size_t first = 0; first < parts.size(); first += kMostOutputs) {
    const size_t count = std::min(kMostOutputs, parts.size() - first);
    Launch launch(kSplitCl, "split");
    launch.Define("COUNT", static_cast<int64_t>(count));
    if (blocks) launch.Define("BLOCKS");
    DefineValues(*context->input(kSplitInputInput), &launch);
    launch.Input("input", kSplitInputInput);
    int64_t begins[kMostOutputs] = {};
    int64_t lengths[kMostOutputs] = {};
    int64_t firsts[kMostOutputs] = {};
    int64_t items = 0;
    for (size_t i = 0; i < count; ++i) {
      const Part &part = parts[first + i];
      launch.Output(kNames[i], part.output);
      begins[i] = part.begin;
      lengths[i] = part.length;
      firsts[i] = items;
      items += part.blocks;
    }
    launch.Int(items)
        .Ints2(length, inner)
        .Ints(begins[0], begins[1], begins[2], begins[3])
        .Ints(lengths[0], lengths[1], lengths[2], lengths[3])
        .Ints(firsts[0], firsts[1], firsts[2], firsts[3])
        .Items(items);
    context->Add(std::move(launch));
  }
  return MaceStatus();
}

MACE_REGISTER_OP(Split, GPU, SplitOpencl);

}  // namespace
}  // namespace mace
