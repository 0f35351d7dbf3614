// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// In float, each task uses B in place or packs its columns of B. If there are
// so many rows that these would be read too often, and with bf16 arithmetic,
// which must narrow B, all of B is packed once. A broadcast matrix is packed
// only once.

#include <algorithm>
#include <utility>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/conv/direct_run.h"
#include "mace/kernels/cpu/gemm/pack.h"
#include "mace/kernels/cpu/gemm/product.h"
#include "mace/kernels/cpu/matmul/matmul.h"
#include "mace/kernels/cpu/transpose/transpose.h"

namespace mace::matmul {
namespace {

constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }
constexpr int64_t SizeOf(gemm::Element element) {
  return static_cast<int64_t>(gemm::ElementBytes(element));
}

struct FloatKernels {
  const gemm::Arithmetic *arithmetic = nullptr;
  const gemm::FewRowsKernels *few_rows = nullptr;
  const transpose::Kernels *transpose = nullptr;

  bool narrows() const {
    return gemm::kBf16Exists && arithmetic->element == gemm::Element::kBf16;
  }
};

// Rows are often shorter than what a call of memcpy costs.
void CopyRow(const uint16_t *from, size_t count, uint16_t *to) {
  constexpr size_t kStep = 16;
  if (count < kStep) {
    for (size_t i = 0; i < count; ++i) to[i] = from[i];
    return;
  }
  for (size_t i = 0; i + kStep <= count; i += kStep) {
    __builtin_memcpy(to + i, from + i, kStep * sizeof(uint16_t));
  }
  // Overlaps the step before.
  __builtin_memcpy(to + count - kStep, from + count - kStep,
                   kStep * sizeof(uint16_t));
}

// product_ is only for floats.
gemm::ProductArgs ProductOf(const char *a, const char *b, char *c) {
  gemm::ProductArgs args;
  args.a = reinterpret_cast<const float *>(a);
  args.b = reinterpret_cast<const float *>(b);
  args.c = reinterpret_cast<float *>(c);
  return args;
}

// Items of `elements` copies each per grain, so that using another thread is
// worthwhile.
int64_t Grain(int64_t elements) {
  constexpr int64_t kWorthwhile = 16 * 1024;
  return std::max<int64_t>(1, kWorthwhile / elements);
}

class FloatPlan final : public Plan {
 public:
  // `turned`: sizes are those of the transposed product, see Turned.
  FloatPlan(const FloatKernels &kernels,
            const Sizes &sizes,
            bool turned,
            int threads);

  std::string Name() const override {
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
  size_t ScratchBytes(int threads) const override {
    return a_bytes_ +
           (InTasks()
                ? product_.scratch_bytes * static_cast<size_t>(threads)
                : packed_bytes_ + conv::DirectScratchBytes(direct_, threads));
  }
  void Run(const Args &args, ThreadPool *pool, void *memory) const override;

 private:
  bool PreparesRows() const {
    return sizes_.transposed_a || a_depth_ != sizes_.depth;
  }
  bool InTasks() const {
    return product_.kind != gemm::ProductPlan::Kind::kNone;
  }
  void MakePlan(int threads);

  // The offset of the matrix of A for a call.
  int64_t AMatrix(int64_t call) const {
    return MatrixOfBatch(sizes_.batches, sizes_.batches.a_step, call) *
           sizes_.rows * sizes_.depth;
  }

  // Runs calls [begin, end) of product_. `whole` has pointers to the start of
  // the tensors; but if A was transposed, to the matrix of the only call.
  void RunTasks(const gemm::ProductArgs &whole,
                int64_t begin,
                int64_t end,
                char *scratch,
                ThreadPool *pool) const;
  void Pack(const char *b, void *packed, ThreadPool *pool) const;
  // Writes a matrix of A to `to` with rows of a_depth_ elements: transposes it
  // if necessary.
  void PrepareRows(const char *from, char *to, ThreadPool *pool) const;

  const FloatKernels kernels_;
  const Sizes sizes_;
  const bool turned_;
  const int64_t a_size_;  // bytes of an element of A
  int64_t a_depth_;  // elements of its rows: even if the caller's are bf16, as
                     // the products read pairs
  int64_t calls_ = 0;          // products to run
  int64_t call_rows_ = 0;      // of A, in each
  gemm::ProductPlan product_;  // or, where it is none:
  conv::DirectPlan direct_;
  size_t packed_bytes_ = 0;
  size_t a_bytes_ = 0;
};

FloatPlan::FloatPlan(const FloatKernels &kernels,
                     const Sizes &sizes,
                     bool turned,
                     int threads)
    : kernels_(kernels),
      sizes_(sizes),
      turned_(turned),
      a_size_(SizeOf(sizes.a_type)),
      a_depth_(sizes.depth) {
  // If all batches use one B, the batches of an untransposed A are additional
  // rows.
  calls_ = sizes.batches.count;
  call_rows_ = sizes.rows;
  if (sizes.batches.b_shared && !sizes.transposed_a &&
      sizes.a_matrices == calls_) {
    call_rows_ *= calls_;
    calls_ = 1;
  }
  if (kernels.narrows() && sizes.a_type != gemm::Element::kF32) {
    a_depth_ = (sizes.depth + 1) / 2 * 2;
  }
  if (PreparesRows()) a_bytes_ = AlignUp(Size(call_rows_ * a_depth_ * a_size_));
  MakePlan(threads);
}

void FloatPlan::MakePlan(int threads) {
  const size_t depth = Size(sizes_.depth);
  const size_t columns = Size(sizes_.columns);
  const bool narrows = kernels_.narrows();
  if (!narrows) {
    product_ = gemm::PlanProduct(
        {Size(call_rows_), depth, columns, sizes_.transposed_b},
        {kernels_.arithmetic, kernels_.few_rows, kernels_.transpose->matrix32},
        calls_, threads);
    if (InTasks()) return;
  }
  conv::DirectRequest request;
  request.shape = conv::MatrixShape(static_cast<ptrdiff_t>(call_rows_),
                                    static_cast<ptrdiff_t>(a_depth_),
                                    static_cast<ptrdiff_t>(sizes_.columns));
  request.w_type =
      narrows ? gemm::WeightType::kBf16Pairs : gemm::WeightType::kF32;
  request.arithmetic = kernels_.arithmetic;
  request.image = sizes_.a_type;
  request.results = sizes_.c_type;
  request.threads = threads;
  direct_ = conv::PlanDirect(request);
  packed_bytes_ = AlignUp(
      narrows ? gemm::PackedPairNumbers(depth, columns) * sizeof(uint16_t)
              : gemm::PackedFloats(depth, columns) * sizeof(float));
}

void FloatPlan::Run(const Args &args, ThreadPool *pool, void *memory) const {
  const auto *a = static_cast<const char *>(turned_ ? args.b : args.a);
  const auto *b = static_cast<const char *>(turned_ ? args.a : args.b);
  auto *c = static_cast<char *>(args.c);
  char *scratch = static_cast<char *>(memory);
  char *a_rows = scratch;
  scratch += a_bytes_;
  const bool in_tasks = InTasks();
  if (in_tasks && !sizes_.transposed_a) {
    RunTasks(ProductOf(a, b, c), 0, calls_, scratch, pool);
    return;
  }
  int64_t packed_matrix = -1;
  for (int64_t call = 0; call < calls_; ++call) {
    const char *a_matrix = a + AMatrix(call) * a_size_;
    if (PreparesRows()) {
      PrepareRows(a_matrix, a_rows, pool);
      a_matrix = a_rows;
    }
    if (in_tasks) {
      RunTasks(ProductOf(a_matrix, b, c), call, call + 1, scratch, pool);
      continue;
    }
    const int64_t b_matrix =
        MatrixOfBatch(sizes_.batches, sizes_.batches.b_step, call);
    if (b_matrix != packed_matrix) {
      Pack(b + b_matrix * sizes_.depth * sizes_.columns * SizeOf(sizes_.b_type),
           scratch, pool);
      packed_matrix = b_matrix;
    }
    conv::Args own;
    own.input = a_matrix;
    own.weights = scratch;
    own.output =
        c + call * sizes_.rows * sizes_.columns * SizeOf(sizes_.c_type);
    own.output_stride = Size(sizes_.columns);
    conv::RunDirect(direct_, own, nullptr, pool, scratch + packed_bytes_);
  }
}

void FloatPlan::RunTasks(const gemm::ProductArgs &whole,
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
          args.a = whole.a + (sizes_.transposed_a ? 0 : AMatrix(call));
          args.b = whole.b +
                   MatrixOfBatch(sizes_.batches, sizes_.batches.b_step, call) *
                       sizes_.depth * sizes_.columns;
          args.c = whole.c + call * sizes_.rows * sizes_.columns;
          gemm::RunProductTask(product_, args, Size(item % tasks), own);
        }
      });
}

void FloatPlan::Pack(const char *b, void *packed, ThreadPool *pool) const {
  gemm::PackArgs args;
  args.b = b;
  args.b_type = sizes_.b_type;
  args.depth = Size(sizes_.depth);
  args.columns = Size(sizes_.columns);
  args.depth_stride = sizes_.transposed_b ? 1 : args.columns;
  args.column_stride = sizes_.transposed_b ? args.depth : 1;
  args.transpose = kernels_.transpose->matrix32;
  const int64_t panels = static_cast<int64_t>(gemm::PanelCount(args.columns));
  pool->ParallelFor(
      panels, Grain(sizes_.depth * 16), [&](int64_t begin, int64_t end, int) {
        const size_t first = Size(begin);
        const size_t last = Size(end);
        if (kernels_.narrows()) {
          gemm::PackPanelsInPairs(args, *kernels_.arithmetic, first, last,
                                  static_cast<uint16_t *>(packed));
        } else {
          gemm::PackPanels(args, first, last, static_cast<float *>(packed));
        }
      });
}

void FloatPlan::PrepareRows(const char *from,
                            char *to,
                            ThreadPool *pool) const {
  // Whole cache lines of the input, if it is transposed.
  constexpr int64_t kRows = 16;
  const transpose::Matrix transpose =
      !gemm::kBf16Exists || a_size_ == sizeof(float)
          ? kernels_.transpose->matrix32
          : kernels_.transpose->matrix16;
  const int64_t rows = call_rows_;
  const int64_t depth = sizes_.depth;
  pool->ParallelFor(
      (rows + kRows - 1) / kRows, Grain(depth * kRows),
      [&](int64_t begin, int64_t end, int) {
        const int64_t first = begin * kRows;
        const int64_t count = std::min(rows, end * kRows) - first;
        char *own = to + first * a_depth_ * a_size_;
        if (sizes_.transposed_a) {
          transpose(from + first * a_size_, Size(rows), own, Size(a_depth_),
                    Size(depth), Size(count));
        }
        if (!gemm::kBf16Exists || a_depth_ == depth) return;
        auto *row = reinterpret_cast<uint16_t *>(own);
        const auto *source =
            reinterpret_cast<const uint16_t *>(from) + first * depth;
        for (int64_t i = 0; i < count; ++i, row += a_depth_, source += depth) {
          if (!sizes_.transposed_a) CopyRow(source, Size(depth), row);
          row[depth] = 0;
        }
      });
}

// C^T = B^T A^T, where C and B have one column.
Sizes Turned(const Sizes &sizes) {
  Sizes turned = sizes;
  MatrixBatches &batches = turned.batches;
  for (size_t i = 0; i < batches.rank; ++i) {
    std::swap(batches.a_step[i], batches.b_step[i]);
  }
  batches.b_shared = sizes.a_matrices == 1;
  std::swap(turned.rows, turned.columns);
  turned.transposed_b = true;
  std::swap(turned.a_matrices, turned.b_matrices);
  std::swap(turned.a_type, turned.b_type);
  return turned;
}

class Float final : public Strategy {
 public:
  Float(const gemm::Arithmetic *arithmetic, CpuIsa isa)
      : kernels_{arithmetic, gemm::FewRowsKernelsFor(isa),
                 transpose::KernelsFor(isa)} {}

  std::unique_ptr<Plan> MakePlan(const Sizes &sizes,
                                 int threads) const override {
    // A product with one column is that of the column, as a row, with the rows
    // of A, which are used in place.
    const bool turned = sizes.columns == 1 && sizes.rows > 1 &&
                        !sizes.transposed_a && !kernels_.narrows();
    return std::make_unique<FloatPlan>(kernels_, turned ? Turned(sizes) : sizes,
                                       turned, threads);
  }

 private:
  const FloatKernels kernels_;
};

}  // namespace

std::unique_ptr<Strategy> MakeFloat(const gemm::Arithmetic *arithmetic,
                                    CpuIsa isa) {
  return std::make_unique<Float>(arithmetic, isa);
}

}  // namespace mace::matmul
