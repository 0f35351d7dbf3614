// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "mace/ops/cpu_op/broadcast.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/eltwise/bitwise_schema.h"

namespace mace {
namespace {

// The loops over two operands.
class BitwisePlan final : public OpPlan {
 public:
  explicit BitwisePlan(const BroadcastPlan &loops) : loops_(loops) {}

  const BroadcastPlan &loops() const { return loops_; }

 private:
  const BroadcastPlan loops_;
};

uint32_t Compute(BitwiseMode mode, uint32_t a, uint32_t b) {
  switch (mode) {
    case BitwiseMode::AND:
      return a & b;
    case BitwiseMode::OR:
      return a | b;
    case BitwiseMode::XOR:
      return a ^ b;
    case BitwiseMode::SHIFT_LEFT:
      return b > 31 ? 0 : a << b;
    case BitwiseMode::SHIFT_RIGHT:
      return static_cast<uint32_t>(static_cast<int32_t>(a) >>
                                   (b > 31 ? 31 : b));
    default:
      return ~a;
  }
}

// The mode is a constant in each copy, so that the compiler vectorises it.
template <BitwiseMode kMode>
void RunRows(const eltwise::Rows &rows,
             const uint32_t *a,
             const uint32_t *b,
             uint32_t *y) {
  const size_t a_step = rows.a_scalar ? 0 : 1;
  const size_t b_step = rows.b_scalar ? 0 : 1;
  for (size_t r = 0; r < rows.rows; ++r) {
    for (size_t i = 0; i < rows.columns; ++i) {
      y[i] = Compute(kMode, a[i * a_step], b[i * b_step]);
    }
    a += rows.a_row_stride;
    b += rows.b_row_stride;
    y += rows.columns;
  }
}

using RowsFunction = void (*)(const eltwise::Rows &,
                              const uint32_t *,
                              const uint32_t *,
                              uint32_t *);
// Indexed by the mode.
constexpr RowsFunction kRows[] = {
    &RunRows<BitwiseMode::AND>,         &RunRows<BitwiseMode::OR>,
    &RunRows<BitwiseMode::XOR>,         &RunRows<BitwiseMode::SHIFT_LEFT>,
    &RunRows<BitwiseMode::SHIFT_RIGHT>, &RunRows<BitwiseMode::NOT>,
};
static_assert(static_cast<int>(BitwiseMode::NOT) == 5);

// Whether a bit leaves int32 on the left.
bool ShiftExceeds(const eltwise::Rows &rows,
                  const uint32_t *a,
                  const uint32_t *b) {
  const size_t a_step = rows.a_scalar ? 0 : 1;
  const size_t b_step = rows.b_scalar ? 0 : 1;
  bool exceeds = false;
  for (size_t r = 0; r < rows.rows; ++r) {
    for (size_t i = 0; i < rows.columns; ++i) {
      const int64_t x = static_cast<int32_t>(a[i * a_step]);
      const uint32_t bits = b[i * b_step];
      const int64_t moved = x * (int64_t{1} << std::min(bits, uint32_t{32}));
      exceeds |= moved != static_cast<int32_t>(moved);
    }
    a += rows.a_row_stride;
    b += rows.b_row_stride;
  }
  return exceeds;
}

class BitwiseOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    const auto &attributes = context->AttributesAs<BitwiseAttributes>();
    run_ = kRows[static_cast<int>(attributes.mode)];
    checks_ = attributes.wide && attributes.mode == BitwiseMode::SHIFT_LEFT;
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor *output = context->output(0);
    const Tensor *a = context->input(kBitwiseAInput);
    const Tensor *b = context->input(kBitwiseBInput);
    if (a->elements() == output->elements()) {
      context->AllowInPlace(0, kBitwiseAInput);
    }
    if (b == nullptr) {
      b = a;
    } else if (b->elements() == output->elements()) {
      context->AllowInPlace(0, kBitwiseBInput);
    }
    context->Keep(std::make_unique<BitwisePlan>(
        PlanBroadcast(a->shape, b->shape, output->shape)));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    Tensor *output = context->output(0);
    const Tensor *second = context->input(kBitwiseBInput);
    const auto *a = context->input(kBitwiseAInput)->As<uint32_t>();
    const auto *b = second == nullptr ? a : second->As<uint32_t>();
    auto *y = output->MutableAs<uint32_t>();
    const BroadcastPlan &loops = context->PlanAs<BitwisePlan>().loops();
    if (checks_) {
      // Before they are computed, perhaps in place.
      std::atomic<bool> exceeds{false};
      ForBroadcastRows(
          loops, output->elements(), context->thread_pool(),
          [&](const eltwise::Rows &rows, const BroadcastOffsets &at) {
            if (ShiftExceeds(rows, a + at.a, b + at.b)) {
              exceeds.store(true, std::memory_order_relaxed);
            }
          });
      if (exceeds.load()) return ExceedsInt32();
    }
    ForBroadcastRows(
        loops, output->elements(), context->thread_pool(),
        [=](const eltwise::Rows &rows, const BroadcastOffsets &at) {
          run_(rows, a + at.a, b + at.b, y + at.output);
        });
    return MaceStatus();
  }

 private:
  RowsFunction run_ = nullptr;
  bool checks_ = false;
};

MACE_REGISTER_OP(Bitwise, CPU, BitwiseOp);

}  // namespace
}  // namespace mace
