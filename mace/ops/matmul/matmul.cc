// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Both operands are computed; a product with a constant is FullyConnected.
// In float, tasks use B where it lies or pack their columns of it. Where there
// are so many rows that these would be passed over too often, and for bf16
// arithmetic, which narrows B meanwhile, B is packed as a whole, once per
// matrix that it really has.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/conv/direct_run.h"
#include "mace/kernels/cpu/gemm/pack.h"
#include "mace/kernels/cpu/gemm/product.h"
#include "mace/kernels/cpu/transpose/transpose.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/matrix_batches.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/matmul/matmul_schema.h"

namespace mace {
namespace {

size_t Align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

// What attributes, the instruction set and the deployment decide.
struct MatMulSettings {
  MatMulAttributes attributes;
  const gemm::Arithmetic *float32 = nullptr;
  const gemm::FewRowsKernels *few_rows = nullptr;
  const gemm::Arithmetic *bf16 = nullptr;  // null: float32
  transpose::Matrix transpose = nullptr;
};

class MatMulPlan final : public OpPlan {
 public:
  // `settings` belong to the operator, which outlives the plan.
  MatMulPlan(const MatMulSettings *settings, const PlanContext &context);

  size_t ScratchBytes(int threads) const {
    if (macs_ == 0) return 0;
    return a_bytes_ +
           (product_.kind == gemm::ProductPlan::Kind::kNone
                ? packed_bytes_ + conv::DirectScratchBytes(direct_, threads)
                : product_.scratch_bytes * static_cast<size_t>(threads));
  }

  void Run(RunContext *context) const {
    const float *a = context->input(kMatMulAInput)->As<float>();
    const float *b = context->input(kMatMulBInput)->As<float>();
    float *c = context->output(kMatMulOutputOutput)->MutableAs<float>();
    if (macs_ == 0) {
      std::fill_n(c, outputs_, 0.0f);  // sums of nothing
      return;
    }
    char *scratch = static_cast<char *>(context->scratch());
    float *a_rows = reinterpret_cast<float *>(scratch);
    scratch += a_bytes_;
    ThreadPool *pool = context->thread_pool();
    const bool in_tasks = product_.kind != gemm::ProductPlan::Kind::kNone;
    if (in_tasks && !settings_.attributes.transpose_a) {
      RunTasks({a, b, c}, 0, calls_, scratch, pool);
      return;
    }
    int64_t packed_matrix = -1;
    for (int64_t call = 0; call < calls_; ++call) {
      const float *a_matrix = a + AMatrix(call);
      if (settings_.attributes.transpose_a) {
        Transpose(a_matrix, a_rows, pool);
        a_matrix = a_rows;
      }
      if (in_tasks) {
        RunTasks({a_matrix, b, c}, call, call + 1, scratch, pool);
        continue;
      }
      const int64_t b_matrix = MatrixOfBatch(batches_, batches_.b_step, call);
      if (b_matrix != packed_matrix) {
        Pack(b + b_matrix * depth_ * columns_, scratch, pool);
        packed_matrix = b_matrix;
      }
      conv::Args args;
      args.input = a_matrix;
      args.weights = scratch;
      args.output = c + call * rows_ * columns_;
      args.output_stride = static_cast<size_t>(columns_);
      conv::RunDirect(direct_, args, nullptr, pool, scratch + packed_bytes_);
    }
  }

  int64_t Macs() const override { return macs_; }
  std::string KernelName() const override {
    if (macs_ == 0) return "none";
    switch (product_.kind) {
      case gemm::ProductPlan::Kind::kFewRows:
        return "few rows";
      case gemm::ProductPlan::Kind::kPacks:
        return "gemm that packs";
      case gemm::ProductPlan::Kind::kNone:
        break;
    }
    return "pack, " + conv::DirectName(direct_);
  }

 private:
  void MakePlan(int64_t call_rows, int threads) {
    if (settings_.bf16 == nullptr) {
      product_ = gemm::PlanProduct(
          {static_cast<size_t>(call_rows), static_cast<size_t>(depth_),
           static_cast<size_t>(columns_), settings_.attributes.transpose_b},
          {settings_.float32, settings_.few_rows, settings_.transpose}, calls_,
          threads);
      if (product_.kind != gemm::ProductPlan::Kind::kNone) return;
    }
    conv::DirectRequest request;
    request.shape = conv::MatrixShape(static_cast<ptrdiff_t>(call_rows),
                                      static_cast<ptrdiff_t>(depth_),
                                      static_cast<ptrdiff_t>(columns_));
    request.w_type = settings_.bf16 != nullptr ? gemm::WeightType::kBf16Pairs
                                               : gemm::WeightType::kF32;
    request.arithmetic =
        settings_.bf16 != nullptr ? settings_.bf16 : settings_.float32;
    request.threads = threads;
    direct_ = conv::PlanDirect(request);
    packed_bytes_ = PackedBytes();
  }

  // Where the matrix of A for a call begins.
  int64_t AMatrix(int64_t call) const {
    return MatrixOfBatch(batches_, batches_.a_step, call) * rows_ * depth_;
  }

  // Calls [begin, end) of product_; `whole` are the tensors from their start,
  // but A is the matrix of the only call where it was transposed.
  void RunTasks(const gemm::ProductArgs &whole,
                int64_t begin,
                int64_t end,
                char *scratch,
                ThreadPool *pool) const {
    const int64_t tasks = static_cast<int64_t>(product_.tasks);
    pool->ParallelFor(
        (end - begin) * tasks, 1, [&](int64_t first, int64_t last, int thread) {
          char *own =
              scratch + static_cast<size_t>(thread) * product_.scratch_bytes;
          for (int64_t item = first; item < last; ++item) {
            const int64_t call = begin + item / tasks;
            gemm::ProductArgs args;
            args.a = whole.a +
                     (settings_.attributes.transpose_a ? 0 : AMatrix(call));
            args.b = whole.b + MatrixOfBatch(batches_, batches_.b_step, call) *
                                   depth_ * columns_;
            args.c = whole.c + call * rows_ * columns_;
            gemm::RunProductTask(product_, args,
                                 static_cast<size_t>(item % tasks), own);
          }
        });
  }

  size_t PackedBytes() const {
    const size_t depth = static_cast<size_t>(depth_);
    const size_t columns = static_cast<size_t>(columns_);
    return Align(settings_.bf16 != nullptr
                     ? gemm::PackedPairNumbers(depth, columns) *
                           sizeof(uint16_t)
                     : gemm::PackedFloats(depth, columns) * sizeof(float));
  }

  void Pack(const float *b, void *packed, ThreadPool *pool) const {
    gemm::PackArgs args;
    args.b = b;
    args.depth = static_cast<size_t>(depth_);
    args.columns = static_cast<size_t>(columns_);
    args.depth_stride = settings_.attributes.transpose_b ? 1 : args.columns;
    args.column_stride = settings_.attributes.transpose_b ? args.depth : 1;
    args.transpose = settings_.transpose;
    const int64_t panels = static_cast<int64_t>(gemm::PanelCount(args.columns));
    pool->ParallelFor(
        panels, Grain(depth_ * 16), [&](int64_t begin, int64_t end, int) {
          const size_t first = static_cast<size_t>(begin);
          const size_t last = static_cast<size_t>(end);
          if (settings_.bf16 != nullptr) {
            gemm::PackPanelsInPairs(args, *settings_.bf16, first, last,
                                    static_cast<uint16_t *>(packed));
          } else {
            gemm::PackPanels(args, first, last, static_cast<float *>(packed));
          }
        });
  }

  // [K, M] to [M, K].
  void Transpose(const float *from, float *to, ThreadPool *pool) const {
    // Cache lines of what is read.
    constexpr int64_t kRows = 16;
    const int64_t blocks = (rows_ + kRows - 1) / kRows;
    pool->ParallelFor(
        blocks, Grain(depth_ * kRows), [&](int64_t begin, int64_t end, int) {
          const int64_t first = begin * kRows;
          const int64_t count = std::min(rows_, end * kRows) - first;
          settings_.transpose(from + first, static_cast<size_t>(rows_),
                              to + first * depth_, static_cast<size_t>(depth_),
                              static_cast<size_t>(depth_),
                              static_cast<size_t>(count));
        });
  }

  // Items of `elements` copies each that are worth handing to a thread.
  static int64_t Grain(int64_t elements) {
    constexpr int64_t kWorthwhile = 16 * 1024;
    return std::max<int64_t>(1, kWorthwhile / elements);
  }

  const MatMulSettings &settings_;
  MatrixBatches batches_;
  int64_t rows_ = 0;
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  int64_t outputs_ = 0;
  int64_t macs_ = 0;
  int64_t calls_ = 0;          // products to run
  gemm::ProductPlan product_;  // or, where it is none:
  conv::DirectPlan direct_;
  size_t packed_bytes_ = 0;
  size_t a_bytes_ = 0;
};

MatMulPlan::MatMulPlan(const MatMulSettings *settings,
                       const PlanContext &context)
    : settings_(*settings) {
  const Shape &a = context.input(kMatMulAInput)->shape;
  const Shape &b = context.input(kMatMulBInput)->shape;
  const Shape &output = context.output(kMatMulOutputOutput)->shape;
  BroadcastMatrices(a, b, &batches_);
  const bool ta = settings_.attributes.transpose_a;
  rows_ = output[output.rank() - 2];
  depth_ = a[a.rank() - (ta ? 2 : 1)];
  columns_ = output.back();
  outputs_ = output.Elements();
  macs_ = outputs_ * depth_;
  if (macs_ == 0) return;
  // With one B for all, the batches of an untransposed A are just more rows.
  calls_ = batches_.count;
  int64_t call_rows = rows_;
  const bool dense = a.Elements(0, a.rank() - 2) == calls_;
  if (batches_.b_shared && !ta && dense) {
    call_rows *= calls_;
    calls_ = 1;
  }
  if (ta) a_bytes_ = Align(static_cast<size_t>(rows_ * depth_) * sizeof(float));
  MakePlan(call_rows, context.thread_pool()->thread_count());
}

class MatMulOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_RETURN_IF_ERROR(settings_.attributes.Parse(context->def()));
    settings_.float32 =
        gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, isa());
    settings_.few_rows = gemm::FewRowsKernelsFor(isa());
    settings_.transpose = transpose::KernelsFor(isa())->matrix32;
    if (context->hints().precision == Precision::kBfloat16) {
      settings_.bf16 = gemm::ArithmeticFor(gemm::ArithmeticKind::kBf16, isa());
    }
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Shape &a = context->input(kMatMulAInput)->shape;
    const Shape &b = context->input(kMatMulBInput)->shape;
    if (a.rank() < 2 || b.rank() < 2) return Mismatch(a, b);
    const bool ta = settings_.attributes.transpose_a;
    const bool tb = settings_.attributes.transpose_b;
    MatrixBatches batches;
    if (a[a.rank() - (ta ? 2 : 1)] != b[b.rank() - (tb ? 1 : 2)] ||
        !BroadcastMatrices(a, b, &batches)) {
      return Mismatch(a, b);
    }
    Shape output(batches.dims, batches.rank);
    output.Append(a[a.rank() - (ta ? 1 : 2)]);
    output.Append(b[b.rank() - (tb ? 2 : 1)]);
    return SetOutput(context, kMatMulOutputOutput, output, DataType::kFloat32);
  }

  MaceStatus Plan(PlanContext *context) override {
    auto plan = std::make_unique<MatMulPlan>(&settings_, *context);
    context->RequestScratch(
        plan->ScratchBytes(context->thread_pool()->thread_count()));
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<MatMulPlan>().Run(context);
    return MaceStatus();
  }

 private:
  MaceStatus Mismatch(const Shape &a, const Shape &b) const {
    return Invalid(
        "cannot multiply ", a.ToString(),
        settings_.attributes.transpose_a ? " transposed" : "", " by ",
        b.ToString(), settings_.attributes.transpose_b ? " transposed" : "",
        "; expected [..., M, K] and [..., K, N] with batch dimensions that "
        "broadcast");
  }

  MatMulSettings settings_;
};

MACE_REGISTER_OP(MatMul, CPU, MatMulOp);

}  // namespace
}  // namespace mace
