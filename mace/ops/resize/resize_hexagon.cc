// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/core/model/quantized_checks.h"
#include "mace/ops/cpu_op/quantized_formulas.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/tables.h"
#include "mace/ops/resize/resize.h"

namespace mace {
namespace {

class HexagonResizeOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<ResizeAttributes>();
    const bool nearest = attributes.mode == ResizeMode::NEAREST;
    if (!nearest &&
        (attributes.mode != ResizeMode::LINEAR || attributes.antialias)) {
      return Unsupported(
          "it has no modes but NEAREST and LINEAR without antialias");
    }
    const HexagonNumbers from = context->InputNumbers(kResizeInputInput);
    const HexagonNumbers to = context->OutputNumbers();
    return nearest ? PlanNearest(context) : PlanLinear(from, to, context);
  }

 private:
  static ResizeTaps TapsOf(size_t axis, const HexagonPlanContext &context) {
    const auto &attributes = context.AttributesAs<ResizeAttributes>();
    return PlanResizeAxis(
        attributes,
        ResizeAxisOf(attributes, context.input(kResizeInputInput)->shape,
                     context.output(0)->shape, axis));
  }

  // Constants for the rows (0) or the columns (1).
  template <typename T>
  static uint32_t AddConstant(size_t axis,
                              std::vector<T> values,
                              HexagonPlanContext *context) {
    const size_t bytes = values.size() * sizeof(T);
    const std::string name =
        MakeString(axis == 0 ? "rows " : "columns ",
                   context->input(kResizeInputInput)->shape.ToString(), " to ",
                   context->output(0)->shape.ToString());
    return context->Constant(
        name, static_cast<int64_t>(bytes),
        [moved = std::move(values), bytes](uint8_t *memory) {
          std::memcpy(memory, moved.data(), bytes);
        });
  }

  // How far two neighbours along an axis are apart.
  static int32_t StepOf(size_t axis, const HexagonPlanContext &context) {
    return axis == 0 ? 1 : context.PixelBytes(kResizeInputInput);
  }

  static uint32_t AddPositions(size_t axis, HexagonPlanContext *context) {
    std::vector<int32_t> positions = TapsOf(axis, *context).first;
    for (int32_t &at : positions) at *= StepOf(axis, *context);
    return AddConstant(axis, std::move(positions), context);
  }

  static uint32_t AddTaps(size_t axis, HexagonPlanContext *context) {
    constexpr int32_t kOne = 1 << hexagon::kResizeBits;
    const ResizeTaps taps = TapsOf(axis, *context);
    const auto count = static_cast<size_t>(taps.taps);
    const std::vector<int32_t> weights =
        IntegerWeights(taps.weights, count, kOne);
    const int32_t step = StepOf(axis, *context);
    std::vector<hexagon::ResizeTap> made;
    for (size_t i = 0; i < taps.first.size(); ++i) {
      const int32_t first = taps.first[i] * step;
      const int32_t *w = weights.data() + i * count;
      // A position that does not count is one inside.
      made.push_back(count == 1
                         ? hexagon::ResizeTap{first, first, kOne, 0}
                         : hexagon::ResizeTap{first, first + step, w[0], w[1]});
    }
    return AddConstant(axis, std::move(made), context);
  }

  static MaceStatus PlanNearest(HexagonPlanContext *context) {
    hexagon::ResizeNearestParameters resize = {};
    resize.input = context->Input(kResizeInputInput);
    resize.output = context->Output(0);
    resize.rows = AddPositions(0, context);
    resize.columns = AddPositions(1, context);
    context->Add(resize);
    return MaceStatus();
  }

  static MaceStatus PlanLinear(const HexagonNumbers &from,
                               const HexagonNumbers &to,
                               HexagonPlanContext *context) {
    hexagon::ResizeLinearParameters resize = {};
    resize.multiplier = from.scale / to.scale;
    resize.multiplier /= static_cast<float>(1 << (2 * hexagon::kResizeBits));
    MACE_RETURN_IF_ERROR(CheckHexagonMultiplier(resize.multiplier));
    resize.input = context->Input(kResizeInputInput);
    resize.output = context->Output(0);
    resize.rows = AddTaps(0, context);
    resize.columns = AddTaps(1, context);
    context->Add(resize);
    return MaceStatus();
  }
};

MACE_REGISTER_QUANTIZED_OP(Resize, HEXAGON, HexagonResizeOp);

}  // namespace
}  // namespace mace
