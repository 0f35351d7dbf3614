// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/eltwise/eltwise.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "mace/ops/cpu_op/activation_params.h"
#include "mace/ops/cpu_op/broadcast.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/half_block.h"
#include "mace/ops/eltwise/eltwise.h"
#include "mace/ops/eltwise/wide.h"

namespace mace {

namespace {

// The modes are declared in the order of the kernels' three enumerations.
constexpr int kFirstCompare = static_cast<int>(EltwiseMode::EQUAL);
constexpr int kFirstUnary = static_cast<int>(EltwiseMode::NEG);
static_assert(static_cast<int>(EltwiseMode::FLOOR_MOD) ==
              static_cast<int>(eltwise::Binary::kFloorMod));
static_assert(static_cast<int>(EltwiseMode::GREATER_EQUAL) - kFirstCompare ==
              static_cast<int>(eltwise::Compare::kGreaterEqual));
static_assert(static_cast<int>(EltwiseMode::COS) - kFirstUnary ==
              static_cast<int>(eltwise::Unary::kCos));

struct Operands {
  const Tensor *a;
  const Tensor *b;
  Tensor *output;
};

// The loops over two operands.
class EltwisePlan final : public OpPlan {
 public:
  explicit EltwisePlan(const BroadcastPlan &loops) : loops_(loops) {}

  const BroadcastPlan &loops() const { return loops_; }

 private:
  const BroadcastPlan loops_;
};

class EltwiseOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override;
  MaceStatus Plan(PlanContext *context) override;
  MaceStatus Run(RunContext *context) const override;

 private:
  bool unary() const { return mode_ >= kFirstUnary; }
  bool compares() const { return mode_ >= kFirstCompare && !unary(); }
  const char *mode_name() const { return kEltwiseModeNames[mode_]; }

  MaceStatus RunUnary(const Tensor *input,
                      Tensor *output,
                      ThreadPool *pool) const;
  // Computes one block of results of two operands. Returns false on a division
  // by zero.
  bool RunRows(const eltwise::Rows &rows,
               const Operands &operands,
               int64_t a_offset,
               int64_t b_offset,
               int64_t offset) const;
  // Like RunRows, if the results and at least one operand have 16 bits:
  // computed in float.
  void RunHalfRows(const eltwise::Rows &rows,
                   const Operands &operands,
                   int64_t a_offset,
                   int64_t b_offset,
                   int64_t offset) const;
  // Returns `count` numbers from `offset` on in float: in place, or widened
  // into the block.
  const float *Floats(const Tensor &x,
                      int64_t offset,
                      size_t count,
                      float *block) const {
    if (x.data_type == DataType::kFloat32) return x.As<float>() + offset;
    half_.convert->widen(x.As<uint16_t>() + offset, block, count);
    return block;
  }
  void Activate(float *y, int64_t count) const {
    if (activation_.kind == activation::Kind::kNone) return;
    activations_->run(activation_, y, y, static_cast<size_t>(count));
  }

  MaceStatus CheckWide(const Operands &operands, RunContext *context) const;

  int mode_ = 0;
  bool wide_ = false;
  activation::Params activation_;
  const eltwise::Kernels *kernels_ = nullptr;
  const activation::Kernels *activations_ = nullptr;
  HalfActivations half_;
};

MaceStatus EltwiseOp::InitOp(InitContext *context) {
  const auto &attributes = context->AttributesAs<EltwiseAttributes>();
  mode_ = static_cast<int>(attributes.mode);
  wide_ = attributes.wide && !compares();
  activation_ = ActivationParams(attributes);
  kernels_ = eltwise::KernelsFor(isa());
  activations_ = activation::KernelsFor(isa());
  half_ = HalfActivations::Of(context->hints(), isa());
  return MaceStatus();
}

MaceStatus EltwiseOp::Plan(PlanContext *context) {
  const Tensor *output = context->output(0);
  // With 16-bit activations, constants are float32.
  const auto replaceable = [output](const Tensor *x) {
    return x->data_type == output->data_type &&
           x->elements() == output->elements();
  };
  const Tensor *a = context->input(kEltwiseAInput);
  if (replaceable(a)) context->AllowInPlace(0, kEltwiseAInput);
  if (unary()) return MaceStatus();
  const Tensor *b = context->input(kEltwiseBInput);
  if (replaceable(b)) context->AllowInPlace(0, kEltwiseBInput);
  context->Keep(std::make_unique<EltwisePlan>(
      PlanBroadcast(a->shape, b->shape, output->shape)));
  return MaceStatus();
}

MaceStatus EltwiseOp::RunUnary(const Tensor *input,
                               Tensor *output,
                               ThreadPool *pool) const {
  const auto op = static_cast<eltwise::Unary>(mode_ - kFirstUnary);
  if (input->data_type == DataType::kInt32) {
    const int32_t *x = input->As<int32_t>();
    auto *y = output->MutableAs<int32_t>();
    pool->ParallelFor(input->elements(), kElementGrain,
                      [=](int64_t begin, int64_t end, int /*thread*/) {
                        eltwise::UnaryInt(op, x + begin, y + begin,
                                          static_cast<size_t>(end - begin));
                      });
    return MaceStatus();
  }
  if (IsHalf(input->data_type)) {
    const uint16_t *from = input->As<uint16_t>();
    uint16_t *to = output->MutableAs<uint16_t>();
    pool->ParallelFor(
        input->elements(), kElementGrain,
        [&](int64_t begin, int64_t end, int /*thread*/) {
          ForHalfBlocks(*half_.convert, from + begin, to + begin, end - begin,
                        [&](int64_t /*at*/, float *block, size_t n) {
                          kernels_->unary(op, block, block, n);
                          Activate(block, static_cast<int64_t>(n));
                        });
        });
    return MaceStatus();
  }
  const float *x = input->As<float>();
  float *y = output->MutableAs<float>();
  pool->ParallelFor(input->elements(), kElementGrain,
                    [&](int64_t begin, int64_t end, int /*thread*/) {
                      kernels_->unary(op, x + begin, y + begin,
                                      static_cast<size_t>(end - begin));
                      Activate(y + begin, end - begin);
                    });
  return MaceStatus();
}

void EltwiseOp::RunHalfRows(const eltwise::Rows &rows,
                            const Operands &operands,
                            int64_t a_offset,
                            int64_t b_offset,
                            int64_t offset) const {
  alignas(64) float a_block[kHalfBlock];
  alignas(64) float b_block[kHalfBlock];
  alignas(64) float results[kHalfBlock];
  const auto binary = static_cast<eltwise::Binary>(mode_);
  using Index = ptrdiff_t;
  constexpr Index kBlock = kHalfBlock;
  const auto columns = static_cast<Index>(rows.columns);
  auto a_at = static_cast<Index>(a_offset);
  auto b_at = static_cast<Index>(b_offset);
  auto *output = operands.output->MutableAs<uint16_t>() + offset;
  // Short rows share a block, if the rows of both operands fit one, too.
  const bool fit = columns <= kBlock && rows.a_row_stride <= columns &&
                   rows.b_row_stride <= columns;
  const size_t most = fit ? static_cast<size_t>(kBlock / columns) : 1;
  eltwise::Rows block = rows;
  for (size_t row = 0; row < rows.rows; row += block.rows) {
    block.rows = std::min(most, rows.rows - row);
    const auto count = static_cast<Index>(block.rows);
    for (Index at = 0; at < columns; at += kBlock) {
      const Index left = std::min(kBlock, columns - at);
      block.columns = static_cast<size_t>(left);
      // Elements from the block's first one to its last.
      const Index a_reach =
          (count - 1) * rows.a_row_stride + (rows.a_scalar ? 1 : left);
      const Index b_reach =
          (count - 1) * rows.b_row_stride + (rows.b_scalar ? 1 : left);
      const float *x = Floats(*operands.a, a_at + (rows.a_scalar ? 0 : at),
                              static_cast<size_t>(a_reach), a_block);
      const float *y = Floats(*operands.b, b_at + (rows.b_scalar ? 0 : at),
                              static_cast<size_t>(b_reach), b_block);
      kernels_->binary(binary, block, x, y, results);
      Activate(results, count * left);
      half_.convert->narrow(results, output + at,
                            static_cast<size_t>(count * left));
    }
    a_at += count * rows.a_row_stride;
    b_at += count * rows.b_row_stride;
    output += count * columns;
  }
}

bool EltwiseOp::RunRows(const eltwise::Rows &rows,
                        const Operands &operands,
                        int64_t a_offset,
                        int64_t b_offset,
                        int64_t offset) const {
  const Tensor *a = operands.a;
  const Tensor *b = operands.b;
  Tensor *output = operands.output;
  const auto compare = static_cast<eltwise::Compare>(mode_ - kFirstCompare);
  const auto binary = static_cast<eltwise::Binary>(mode_);
  if (a->data_type == DataType::kInt32) {
    const int32_t *x = a->As<int32_t>() + a_offset;
    const int32_t *y = b->As<int32_t>() + b_offset;
    if (compares()) {
      eltwise::CompareInt(compare, rows, x, y,
                          output->MutableAs<uint8_t>() + offset);
      return true;
    }
    return eltwise::BinaryInt(binary, rows, x, y,
                              output->MutableAs<int32_t>() + offset);
  }
  if (IsHalf(output->data_type)) {
    RunHalfRows(rows, operands, a_offset, b_offset, offset);
    return true;
  }
  const float *x = a->As<float>() + a_offset;
  const float *y = b->As<float>() + b_offset;
  if (compares()) {
    kernels_->compare(compare, rows, x, y,
                      output->MutableAs<uint8_t>() + offset);
    return true;
  }
  float *out = output->MutableAs<float>() + offset;
  kernels_->binary(binary, rows, x, y, out);
  Activate(out, static_cast<int64_t>(rows.rows * rows.columns));
  return true;
}

// Before the results are computed, which may take the place of an operand.
MaceStatus EltwiseOp::CheckWide(const Operands &operands,
                                RunContext *context) const {
  const int32_t *a = operands.a->As<int32_t>();
  ThreadPool *pool = context->thread_pool();
  std::atomic<bool> exceeds{false};
  const auto note = [&](bool exceeds_here) {
    if (exceeds_here) exceeds.store(true, std::memory_order_relaxed);
  };
  if (unary()) {
    const auto op = static_cast<eltwise::Unary>(mode_ - kFirstUnary);
    pool->ParallelFor(
        operands.a->elements(), kElementGrain,
        [&](int64_t begin, int64_t end, int /*thread*/) {
          note(Exceeds(op, a + begin, static_cast<size_t>(end - begin)));
        });
  } else {
    const int32_t *b = operands.b->As<int32_t>();
    const auto op = static_cast<eltwise::Binary>(mode_);
    ForBroadcastRows(
        context->PlanAs<EltwisePlan>().loops(), operands.output->elements(),
        pool, [&](const eltwise::Rows &rows, const BroadcastOffsets &at) {
          note(Exceeds(op, rows, a + at.a, b + at.b));
        });
  }
  if (!exceeds.load()) return MaceStatus();
  return ExceedsInt32("mode ", mode_name(), ": ");
}

MaceStatus EltwiseOp::Run(RunContext *context) const {
  const Tensor *a = context->input(kEltwiseAInput);
  Tensor *output = context->output(0);
  ThreadPool *pool = context->thread_pool();
  if (output->elements() == 0) return MaceStatus();
  const Operands operands = {a, unary() ? a : context->input(kEltwiseBInput),
                             output};
  if (wide_ && output->data_type == DataType::kInt32) {
    MACE_RETURN_IF_ERROR(CheckWide(operands, context));
  }
  if (unary()) return RunUnary(a, output, pool);
  const BroadcastPlan &loops = context->PlanAs<EltwisePlan>().loops();
  std::atomic<bool> divided_by_zero{false};
  ForBroadcastRows(loops, output->elements(), pool,
                   [&](const eltwise::Rows &rows, const BroadcastOffsets &at) {
                     if (!RunRows(rows, operands, at.a, at.b, at.output)) {
                       divided_by_zero.store(true, std::memory_order_relaxed);
                     }
                   });
  if (divided_by_zero.load()) {
    return Invalid("mode ", mode_name(), " divides an int32 by zero");
  }
  return MaceStatus();
}

}  // namespace

MACE_REGISTER_OP(Eltwise, CPU, EltwiseOp);

}  // namespace mace
