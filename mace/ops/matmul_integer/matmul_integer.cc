// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A is packed in every run, in parallel with its sums, and so is B unless it is
// constant. Then every task multiplies some rows by some columns.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "mace/kernels/cpu/gemm/int8_gemm.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/matrix_batches.h"
#include "mace/ops/matmul_integer/matmul_integer_schema.h"

namespace mace {
namespace {

using gemm::kPanelColumns;
constexpr auto kColumns = static_cast<int64_t>(kPanelColumns);

size_t Align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }
int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What makes a number of that type one of int8, by exclusive or.
uint8_t Flip(DataType type) { return type == DataType::kUint8 ? 0x80 : 0; }

// Element `i` of a zero point, or its only one, as an int8 operand has it.
uint32_t ZeroAt(const Tensor *zero, int64_t i, DataType type) {
  uint8_t bits = 0;
  if (zero != nullptr) {
    bits = zero->As<uint8_t>()[zero->elements() == 1 ? 0 : i];
  }
  const int8_t flipped = static_cast<int8_t>(bits ^ Flip(type));
  return static_cast<uint32_t>(int32_t{flipped});
}

// All matrices of B in panels, and the sums of their columns.
struct PackedB {
  int8_t *panels = nullptr;
  uint32_t *sums = nullptr;
};

// The sizes of B, and of its panels.
struct LayoutOfB {
  explicit LayoutOfB(const Shape &b)
      : depth(b[b.rank() - 2]),
        columns(b.back()),
        panels(DivideUp(columns, kColumns)),
        matrices(b.Elements(0, b.rank() - 2)) {}

  size_t PanelBytes() const {
    return gemm::PanelBytes(gemm::WeightType::kI8Fours,
                            gemm::DepthInFours(static_cast<size_t>(depth)));
  }
  size_t Panels() const { return static_cast<size_t>(matrices * panels); }
  size_t Bytes() const {
    return Align(Panels() * PanelBytes()) +
           Panels() * kPanelColumns * sizeof(uint32_t);
  }
  PackedB At(void *memory) const {
    if (memory == nullptr) return PackedB();
    char *at = static_cast<char *>(memory);
    return {reinterpret_cast<int8_t *>(at),
            reinterpret_cast<uint32_t *>(at + Align(Panels() * PanelBytes()))};
  }

  int64_t depth;
  int64_t columns;
  int64_t panels;  // of a matrix
  int64_t matrices;
};

void PackB(const gemm::IntegerPacking &packing,
           const Tensor &b,
           const LayoutOfB &layout,
           const PackedB &to,
           ThreadPool *pool) {
  const uint8_t *from = b.As<uint8_t>();
  const uint8_t flip = Flip(b.data_type);
  const int64_t panels = layout.panels;
  const int64_t columns = layout.columns;
  const int64_t depth = layout.depth;
  pool->ParallelFor(
      layout.matrices * panels, RowGrain(depth * kColumns),
      [&](int64_t begin, int64_t end, int /*thread*/) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t column = i % panels * kColumns;
          packing.pack_panel(
              from + i / panels * depth * columns + column,
              static_cast<size_t>(columns), static_cast<size_t>(depth),
              static_cast<size_t>(std::min(kColumns, columns - column)), flip,
              to.panels + static_cast<size_t>(i) * layout.PanelBytes(),
              to.sums + i * kColumns);
        }
      });
}

class MatMulIntegerPlan final : public OpPlan {
 public:
  // `arithmetic` and the memory of `prepared` outlive the plan; the latter is null
  // where B is computed.
  MatMulIntegerPlan(const gemm::Arithmetic &arithmetic,
                    const PackedB &prepared,
                    const PlanContext &context)
      : arithmetic_(arithmetic),
        prepared_(prepared),
        b_(context.input(kMatMulIntegerBInput)->shape),
        outputs_(context.output(kMatMulIntegerOutputOutput)->elements()) {
    const Shape &a = context.input(kMatMulIntegerAInput)->shape;
    rows_ = a[a.rank() - 2];
    all_rows_ = a.Elements(0, a.rank() - 1);
    BroadcastMatrices(a, context.input(kMatMulIntegerBInput)->shape, &batches_);
    if (Macs() == 0) return;
    // With one B for all, the batches of A are just more rows.
    calls_ = batches_.count;
    call_rows_ = rows_;
    if (batches_.b_shared && all_rows_ == calls_ * rows_) {
      call_rows_ = all_rows_;
      calls_ = 1;
    }
    Split(context.thread_pool()->thread_count());
  }

  size_t ScratchBytes() const { return Macs() == 0 ? 0 : Lay(nullptr).bytes; }

  void Run(RunContext *context) const {
    int32_t *c =
        context->output(kMatMulIntegerOutputOutput)->MutableAs<int32_t>();
    if (Macs() == 0) {
      std::fill_n(c, outputs_, 0);  // sums of nothing
      return;
    }
    ThreadPool *pool = context->thread_pool();
    const Tensor &a = *context->input(kMatMulIntegerAInput);
    const Tensor &b = *context->input(kMatMulIntegerBInput);
    const Scratch s = Lay(static_cast<char *>(context->scratch()));
    PackA(a, s, pool);
    if (prepared_.panels == nullptr) PackB(*arithmetic_.integers, b, b_, s.b, pool);
    const Tensor *a_zero = context->input(kMatMulIntegerAZeroPointInput);
    for (int64_t m = 0; m < all_rows_; ++m) {
      s.row_zeros[m] = ZeroAt(a_zero, m % rows_, a.data_type);
    }
    const Tensor *b_zero = context->input(kMatMulIntegerBZeroPointInput);
    const int64_t padded_columns = b_.panels * kColumns;
    for (int64_t n = 0; n < padded_columns; ++n) {
      s.column_zeros[n] = n < b_.columns ? ZeroAt(b_zero, n, b.data_type) : 0;
    }
    const uint32_t *sums =
        prepared_.panels == nullptr ? s.b.sums : prepared_.sums;
    for (int64_t i = 0; i < b_.matrices * padded_columns; ++i) {
      s.column_sums[i] = sums[i] - static_cast<uint32_t>(b_.depth) *
                                       s.column_zeros[i % padded_columns];
    }
    Multiply(s, c, pool);
  }

  int64_t Macs() const override { return outputs_ * b_.depth; }
  std::string KernelName() const override {
    return Macs() == 0 ? "none" : arithmetic_.name;
  }

 private:
  struct Scratch {
    char *a = nullptr;
    uint32_t *row_sums = nullptr;
    uint32_t *row_zeros = nullptr;
    PackedB b;  // null where it is prepared
    uint32_t *column_sums = nullptr;
    uint32_t *column_zeros = nullptr;
    size_t bytes = 0;
  };

  // Bytes of a packed row.
  size_t RowBytes() const {
    return gemm::DepthInFours(static_cast<size_t>(b_.depth)) *
           arithmetic_.integers->row_element_bytes;
  }

  // Where everything lies in the scratch memory, or how much it is.
  Scratch Lay(char *memory) const {
    Scratch s;
    const auto take = [&](size_t bytes) {
      char *at = memory == nullptr ? nullptr : memory + s.bytes;
      s.bytes += Align(bytes);
      return at;
    };
    const auto take_numbers = [&](size_t count) {
      return reinterpret_cast<uint32_t *>(take(count * sizeof(uint32_t)));
    };
    const size_t rows = static_cast<size_t>(all_rows_);
    s.a = take(rows * RowBytes());
    s.row_sums = take_numbers(rows);
    s.row_zeros = take_numbers(rows);
    if (prepared_.panels == nullptr) s.b = b_.At(take(b_.Bytes()));
    s.column_sums = take_numbers(b_.Panels() * kPanelColumns);
    s.column_zeros =
        take_numbers(static_cast<size_t>(b_.panels) * kPanelColumns);
    return s;
  }

  void PackA(const Tensor &a, const Scratch &s, ThreadPool *pool) const {
    const uint8_t *from = a.As<uint8_t>();
    const uint8_t flip = Flip(a.data_type);
    pool->ParallelFor(all_rows_, RowGrain(b_.depth),
                      [&](int64_t begin, int64_t end, int /*thread*/) {
                        const auto depth = static_cast<size_t>(b_.depth);
                        const auto first = static_cast<size_t>(begin);
                        arithmetic_.integers->pack_rows(
                            from + first * depth, depth,
                            static_cast<size_t>(end - begin), depth, flip,
                            s.a + first * RowBytes(), s.row_sums + begin);
                      });
  }

  // Tasks of so many rows that they stay in L2 while the columns pass over
  // them; fewer, and fewer columns, where threads would be idle.
  void Split(int threads) {
    constexpr int64_t kRowsInCache = 256 * 1024;
    constexpr int64_t kPartsPerThread = 4;
    const auto tile = static_cast<int64_t>(arithmetic_.row_tile);
    const int64_t fit = kRowsInCache / static_cast<int64_t>(RowBytes());
    task_rows_ =
        std::max<int64_t>(1, std::min(DivideUp(call_rows_, tile), fit / tile)) *
        tile;
    task_panels_ = b_.panels;
    if (threads <= 1) return;
    // Multiply-adds that are worth handing to a thread.
    constexpr int64_t kWorthwhile = 256 * 1024;
    const int64_t wanted = threads * kPartsPerThread;
    const int64_t row_tasks = calls_ * DivideUp(call_rows_, task_rows_);
    // Pairs of panels: no kernel's tile is wider.
    const int64_t pair_work = task_rows_ * b_.depth * 2 * kColumns;
    const int64_t pairs =
        std::max({int64_t{1},
                  DivideUp(DivideUp(b_.panels, 2), DivideUp(wanted, row_tasks)),
                  DivideUp(kWorthwhile, pair_work)});
    task_panels_ = std::min(b_.panels, pairs * 2);
    const int64_t tasks = row_tasks * DivideUp(b_.panels, task_panels_);
    if (tasks >= wanted) return;
    const int64_t parts = DivideUp(wanted, tasks);
    const int64_t row_work =
        tile * b_.depth * std::min(b_.panels, task_panels_) * kColumns;
    const int64_t tiles =
        std::max({int64_t{1}, DivideUp(DivideUp(task_rows_, tile), parts),
                  DivideUp(kWorthwhile, row_work)});
    task_rows_ = std::min(task_rows_, tiles * tile);
  }

  void Multiply(const Scratch &s, int32_t *c, ThreadPool *pool) const {
    const int64_t row_tasks = DivideUp(call_rows_, task_rows_);
    const int64_t panel_tasks = DivideUp(b_.panels, task_panels_);
    const PackedB &packed = prepared_.panels == nullptr ? s.b : prepared_;
    pool->ParallelFor(
        calls_ * row_tasks * panel_tasks, 1,
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t task = begin; task < end; ++task) {
            const int64_t call = task / (row_tasks * panel_tasks);
            const int64_t row = task / panel_tasks % row_tasks * task_rows_;
            const int64_t panel = task % panel_tasks * task_panels_;
            const int64_t a_row =
                MatrixOfBatch(batches_, batches_.a_step, call) * rows_ + row;
            const int64_t b_panel =
                MatrixOfBatch(batches_, batches_.b_step, call) * b_.panels;
            gemm::Block block;
            block.packed = s.a + static_cast<size_t>(a_row) * RowBytes();
            block.row_sums = s.row_sums + a_row;
            block.row_zeros = s.row_zeros + a_row;
            block.rows =
                static_cast<size_t>(std::min(task_rows_, call_rows_ - row));
            block.depth = static_cast<size_t>(b_.depth);
            block.w =
                packed.panels + static_cast<size_t>(b_panel) * b_.PanelBytes();
            block.w_type = gemm::WeightType::kI8Fours;
            const gemm::IntegerColumns columns = {
                s.column_sums + b_panel * kColumns, s.column_zeros};
            block.epilogue.integers = &columns;
            block.columns = static_cast<size_t>(b_.columns);
            block.panel_begin = static_cast<size_t>(panel);
            block.panel_end =
                static_cast<size_t>(std::min(b_.panels, panel + task_panels_));
            block.c = c + (call * call_rows_ + row) * b_.columns;
            block.c_type = gemm::Element::kI32;
            block.c_stride = static_cast<size_t>(b_.columns);
            arithmetic_.run(block);
          }
        });
  }

  const gemm::Arithmetic &arithmetic_;
  const PackedB prepared_;
  const LayoutOfB b_;
  const int64_t outputs_;
  MatrixBatches batches_;
  int64_t rows_ = 0;       // of a matrix
  int64_t all_rows_ = 0;   // of A
  int64_t calls_ = 0;      // products to run,
  int64_t call_rows_ = 0;  // of so many rows each
  int64_t task_rows_ = 0;
  int64_t task_panels_ = 0;
};

class MatMulIntegerOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    arithmetic_ = gemm::ArithmeticFor(gemm::ArithmeticKind::kInt8, isa());
    const Tensor *b = context->constant(kMatMulIntegerBInput);
    if (b == nullptr || b->shape.rank() < 2 || b->elements() == 0) {
      return MaceStatus();  // InferShapes looks at the shape
    }
    const LayoutOfB layout(b->shape);
    const size_t bytes = layout.Bytes();
    prepared_ = layout.At(context->AllocatePrepared(bytes));
    if (prepared_.panels == nullptr) {
      return OutOfResources("operator '", name(),
                            "' (MatMulInteger): no memory for ", bytes,
                            " bytes of its constant b in the order of use");
    }
    PackB(*arithmetic_->integers, *b, layout, prepared_, context->thread_pool());
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Tensor &a_tensor = *context->input(kMatMulIntegerAInput);
    const Tensor &b_tensor = *context->input(kMatMulIntegerBInput);
    const Shape &a = a_tensor.shape;
    const Shape &b = b_tensor.shape;
    MatrixBatches batches;
    if (a.rank() < 2 || b.rank() < 2 || a.back() != b[b.rank() - 2] ||
        !BroadcastMatrices(a, b, &batches)) {
      return Invalid("cannot multiply ", a.ToString(), " by ", b.ToString(),
                     "; expected [..., M, K] and [..., K, N] with batch "
                     "dimensions that broadcast");
    }
    const int64_t rows = a[a.rank() - 2];
    MACE_RETURN_IF_ERROR(CheckZero(
        context->input(kMatMulIntegerAZeroPointInput), a_tensor, "a", rows));
    MACE_RETURN_IF_ERROR(
        CheckZero(context->input(kMatMulIntegerBZeroPointInput), b_tensor, "b",
                  b.back()));
    Shape output(batches.dims, batches.rank);
    output.Append(rows);
    output.Append(b.back());
    return SetOutput(context, kMatMulIntegerOutputOutput, output,
                     DataType::kInt32);
  }

  MaceStatus Plan(PlanContext *context) override {
    auto plan =
        std::make_unique<MatMulIntegerPlan>(*arithmetic_, prepared_, *context);
    context->RequestScratch(plan->ScratchBytes());
    context->Keep(std::move(plan));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    context->PlanAs<MatMulIntegerPlan>().Run(context);
    return MaceStatus();
  }

 private:
  MaceStatus CheckZero(const Tensor *zero,
                       const Tensor &operand,
                       const char *which,
                       int64_t length) const {
    if (zero == nullptr) return MaceStatus();
    if (zero->data_type != operand.data_type) {
      return Invalid(which, " is ", DataTypeName(operand.data_type),
                     " but its zero point is ", DataTypeName(zero->data_type));
    }
    const bool one = zero->elements() == 1 && zero->shape.rank() <= 1;
    if (one || zero->shape == Shape{length}) return MaceStatus();
    return NotSupported("the zero point of ", which, " has shape ",
                        zero->shape.ToString(), "; expected one number or [",
                        length, "]");
  }

  const gemm::Arithmetic *arithmetic_ = nullptr;
  PackedB prepared_;  // null: B is computed
};

MACE_REGISTER_OP(MatMulInteger, CPU, MatMulIntegerOp);

}  // namespace
}  // namespace mace
