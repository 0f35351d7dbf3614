// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "mace/ops/opencl_op/move.h"
#include "mace/ops/strided_slice/pad_cl.h"
#include "mace/ops/strided_slice/pad_schema.h"

namespace mace {
namespace {

// Axes of the output, innermost first; those without padding are joined.
struct Axes {
  static constexpr size_t kMost = 8;
  size_t rank = 0;
  int64_t sizes[kMost];
  int64_t befores[kMost];
  int64_t inputs[kMost];

  Axes() {
    for (size_t i = 0; i < kMost; ++i) {
      sizes[i] = inputs[i] = 1;
      befores[i] = 0;
    }
  }
  void Append(int64_t before, int64_t input, int64_t size) {
    const bool bare = input == size;
    if (bare && size == 1) return;
    if (bare && rank > 0 && inputs[rank - 1] == sizes[rank - 1]) {
      sizes[rank - 1] *= size;
      inputs[rank - 1] *= size;
      return;
    }
    sizes[rank] = size;
    befores[rank] = before;
    inputs[rank] = input;
    ++rank;
  }
};

class PadOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &context) const override {
    NumberRange range = NumberRange::Of(NumberRange::Result::kElements);
    range.large = IsBeyondHalf(context.AttributesAs<PadAttributes>().value);
    return range;
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<PadAttributes>();
    const Shape &in = context->input(kPadInputInput)->shape;
    const Shape &shape = context->output(0)->shape;
    const GpuDims out = context->OutputDims();
    const bool blocks = in.back() == shape.back();
    Axes axes;
    for (size_t i = in.rank(); i-- > 0;) {
      const bool whole = blocks && i + 1 == in.rank();
      axes.Append(attributes.pads[2 * i], whole ? out.blocks() : in[i],
                  whole ? out.blocks() : shape[i]);
    }
    const int64_t rank = axes.rank > 4 ? 8 : 4;
    const int64_t *s = axes.sizes;
    const int64_t *b = axes.befores;
    const int64_t *n = axes.inputs;
    Launch launch(kPadCl, "pad");
    launch.Define("RANK", rank)
        .Define(std::string("MODE_") +
                kPadModeNames[static_cast<size_t>(attributes.mode)]);
    if (blocks) launch.Define("BLOCKS");
    DefineValues(*context->output(0), &launch);
    launch.Input("input", kPadInputInput)
        .Output("output")
        .Float(attributes.value)
        .Ints(s[0], s[1], s[2], s[3])
        .Ints(b[0], b[1], b[2], b[3])
        .Ints(n[0], n[1], n[2], n[3]);
    if (rank > 4) {
      launch.Ints(s[4], s[5], s[6], s[7])
          .Ints(b[4], b[5], b[6], b[7])
          .Ints(n[4], n[5], n[6], n[7]);
    }
    launch.Items(out.blocks(), out.w, out.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }
  bool TakesIntegers() const override { return true; }
};

MACE_REGISTER_OP(Pad, GPU, PadOpencl);

}  // namespace
}  // namespace mace
