// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/missing_part.h"
#include "mace/kernels/cpu/conv/dynamic_product.h"
#include "mace/kernels/cpu/gemm/dynamic_gemm.h"
#include "mace/kernels/cpu/quantize/quantize.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/recurrent_layer.h"
#include "mace/ops/recurrent/dynamic_quantize_recurrent_schema.h"

namespace mace {
namespace {

// Quantizes the states, and multiplies integers (dynamic_gemm.h).
class DynamicProduct final : public RecurrentProduct {
 public:
  void Init(QuantizedRange range,
            const gemm::Arithmetic *arithmetic,
            CpuIsa isa) {
    range_ = range;
    arithmetic_ = arithmetic;
    kernels_ = quantize::KernelsFor(isa);
  }
  conv::DynamicColumns *columns(size_t direction) {
    return &columns_[direction];
  }

  size_t ScratchBytes(const RecurrentSizes &sizes) const override {
    return Lay(sizes, nullptr).bytes;
  }
  // With one scale for all rows, they depend on each other.
  bool DividesRows() const override { return range_ == QuantizedRange::ROW; }
  // Bytes of weights compared with those of floats, and about their time.
  int64_t Rate() const override { return sizeof(float); }

  void Begin(const RecurrentStates &states) const override {
    const Rows rows = Lay(*states.sizes, states.scratch);
    const auto units = static_cast<size_t>(states.sizes->units);
    const auto range_of = [&](int64_t i) {
      return kernels_->range(static_cast<const float *>(states.rows[i]), units);
    };
    conv::RowScale whole;
    if (range_ == QuantizedRange::TENSOR) {
      quantize::Range range = {0.0f, 0.0f};
      for (int64_t i = 0; i < states.count; ++i) {
        if (states.IsAlive(i)) range = conv::Join(range, range_of(i));
      }
      whole = conv::ScaleOf(range);
    }
    const bool sums =
        columns_[states.direction].values().column_zeros != nullptr;
    for (int64_t i = 0; i < states.count; ++i) {
      uint8_t *to = rows.elements + static_cast<size_t>(i) * rows.padded;
      rows.starts[i] = to;
      const conv::RowScale scale =
          range_ == QuantizedRange::TENSOR ? whole : conv::ScaleOf(range_of(i));
      rows.scales[i] = scale.scale;
      rows.zeros[i] = conv::QuantizeRow(
          *kernels_, static_cast<const float *>(states.rows[i]), units, scale,
          to, rows.padded);
      rows.sums[i] = sums ? conv::SumOfRow(to, units) : 0;
    }
  }

  void Multiply(const RecurrentStates &states,
                size_t begin,
                size_t end) const override {
    const RecurrentSizes &s = *states.sizes;
    const Rows rows = Lay(s, states.scratch);
    gemm::Dequantization to = columns_[states.direction].values();
    to.row_scales = rows.scales;
    to.row_zeros = rows.zeros;
    to.row_sums = rows.sums;
    gemm::Block block;
    block.a = rows.starts;
    block.rows = static_cast<size_t>(states.count);
    block.depth = rows.padded;
    block.w = states.weights;
    block.w_type = gemm::WeightType::kI8Fours;
    block.columns = static_cast<size_t>(s.gates * s.units);
    block.panel_begin = begin;
    block.panel_end = end;
    block.c = states.products;
    block.c_stride = block.columns;
    block.epilogue.dequantization = &to;
    arithmetic_->run(block);
  }

 private:
  // In the scratch memory of a thread.
  struct Rows {
    uint8_t *elements = nullptr;  // [B][padded]
    const void **starts = nullptr;
    float *scales = nullptr;
    int32_t *zeros = nullptr;
    uint32_t *sums = nullptr;
    size_t padded = 0;
    size_t bytes = 0;
  };

  static Rows Lay(const RecurrentSizes &s, void *memory) {
    Rows rows;
    char *const base = static_cast<char *>(memory);
    const auto count = static_cast<size_t>(s.batch);
    const auto take = [&](size_t size) {
      char *at = base == nullptr ? nullptr : base + rows.bytes;
      rows.bytes += AlignUp(count * size);
      return at;
    };
    rows.padded = gemm::DepthInFours(static_cast<size_t>(s.units));
    rows.elements = reinterpret_cast<uint8_t *>(take(rows.padded));
    rows.starts = reinterpret_cast<const void **>(take(sizeof(const void *)));
    rows.scales = reinterpret_cast<float *>(take(sizeof(float)));
    rows.zeros = reinterpret_cast<int32_t *>(take(sizeof(int32_t)));
    rows.sums = reinterpret_cast<uint32_t *>(take(sizeof(uint32_t)));
    return rows;
  }

  QuantizedRange range_ = QuantizedRange::ROW;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  const quantize::Kernels *kernels_ = nullptr;
  conv::DynamicColumns columns_[2];  // of each direction
};

constexpr RecurrentPorts kPorts = {
    kDynamicQuantizeRecurrentInputInput,
    kDynamicQuantizeRecurrentWeightsInput,
    kDynamicQuantizeRecurrentReverseWeightsInput,
    kDynamicQuantizeRecurrentParamsInput,
    kDynamicQuantizeRecurrentInitialHiddenInput,
    kDynamicQuantizeRecurrentInitialMemoryInput,
    kDynamicQuantizeRecurrentLengthsInput,
};

class DynamicQuantizeRecurrentOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes =
        context->AttributesAs<DynamicQuantizeRecurrentAttributes>();
    layer_.Init(attributes, isa());
    const gemm::Arithmetic *arithmetic =
        gemm::ArithmeticFor(gemm::ArithmeticKind::kDynamic, isa());
    if (arithmetic == nullptr) {
      return NotSupported(kBuiltWithout,
                          "the kernels for products that each run quantizes",
                          kBuildForThisModel);
    }
    product_.Init(attributes.range, arithmetic, isa());
    MACE_RETURN_IF_ERROR(
        InitColumns(context, 0, kDynamicQuantizeRecurrentWeightsInput));
    if (!context->has_input(kDynamicQuantizeRecurrentReverseWeightsInput)) {
      return MaceStatus();
    }
    return InitColumns(context, 1,
                       kDynamicQuantizeRecurrentReverseWeightsInput);
  }

  MaceStatus Plan(PlanContext *context) override {
    const Shape &weights = context->input(kPorts.weights)->shape;
    PlanRecurrent(layer_, product_, kPorts, weights[0], weights[1] / weights[0],
                  context);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const std::string problem = RunRecurrent(kPorts, context);
    return problem.empty() ? MaceStatus() : Invalid(problem);
  }

 private:
  // Of a direction. Constants of other shapes than the operator's are refused
  // later, by the shape function.
  MaceStatus InitColumns(InitContext *context, size_t direction, size_t port) {
    const Tensor &weights = *context->constant(port);
    if (!IsPacked(weights.layout)) {
      return Invalid("the weights are not packed; convert the model again");
    }
    if (weights.shape.rank() != 2) return MaceStatus();
    conv::DynamicColumns::Constants constants;
    constants.packed = weights.As<int8_t>();
    constants.depth = static_cast<size_t>(weights.shape[0]);
    constants.columns = static_cast<size_t>(weights.shape[1]);
    const auto part = [&](const Tensor *all, auto *numbers) {
      if (all == nullptr) return true;
      using T =
          std::remove_const_t<std::remove_pointer_t<decltype(numbers->data)>>;
      const auto end =
          static_cast<int64_t>((direction + 1) * constants.columns);
      if (all->elements() < end) return false;
      numbers->data = all->As<T>() + direction * constants.columns;
      numbers->count = constants.columns;
      return true;
    };
    if (!part(context->constant(kDynamicQuantizeRecurrentWeightScalesInput),
              &constants.scales) ||
        !part(context->constant(kDynamicQuantizeRecurrentWeightZeroPointsInput),
              &constants.zeros)) {
      return MaceStatus();
    }
    product_.columns(direction)->Init(constants, isa());
    return MaceStatus();
  }

  RecurrentLayer layer_;
  DynamicProduct product_;
};

MACE_REGISTER_OP(DynamicQuantizeRecurrent, CPU, DynamicQuantizeRecurrentOp);

}  // namespace
}  // namespace mace
