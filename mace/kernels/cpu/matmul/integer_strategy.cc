// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Every run packs A and computes its row sums, in parallel, and also packs B
// unless it is a packed constant. Then every task multiplies some rows by some
// columns.

#include <algorithm>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/gemm/int8_gemm.h"
#include "mace/kernels/cpu/matmul/matmul.h"
#include "mace/kernels/cpu/matmul/task_split.h"

namespace mace::matmul {
namespace {

using gemm::kPanelColumns;
constexpr auto kColumns = static_cast<int64_t>(kPanelColumns);

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows of `bytes` bytes per grain, so that using another thread is worthwhile.
constexpr int64_t RowGrain(int64_t bytes) {
  constexpr int64_t kWorthwhile = 16 * 1024;
  return bytes >= kWorthwhile ? 1 : kWorthwhile / std::max<int64_t>(bytes, 1);
}

// The value that converts a number to int8 by exclusive or.
uint8_t Flip(bool is_unsigned) { return is_unsigned ? 0x80 : 0; }

// Element `i` of a zero point, or its only element, for an int8 operand.
uint32_t ZeroAt(const Integers &integers, int64_t i) {
  uint8_t bits = 0;
  if (integers.zeros != nullptr) {
    bits = integers.zeros[integers.zero_count == 1 ? 0 : i];
  }
  const auto flipped = static_cast<int8_t>(bits ^ Flip(integers.is_unsigned));
  return static_cast<uint32_t>(int32_t{flipped});
}

// All matrices of B in panels, and the sums of their columns.
struct PackedB {
  const int8_t *panels = nullptr;
  const uint32_t *sums = nullptr;
};

// B in layout PACKED_N16_FOURS: the panels of all matrices, then the sums of
// their columns.
struct LayoutOfB {
  LayoutOfB(int64_t matrix_count, int64_t matrix_depth, int64_t matrix_columns)
      : depth(matrix_depth),
        columns(matrix_columns),
        panels(DivideUp(columns, kColumns)),
        matrices(matrix_count) {}

  size_t PanelBytes() const {
    return gemm::PanelBytes(gemm::WeightType::kI8Fours,
                            gemm::DepthInFours(static_cast<size_t>(depth)));
  }
  size_t Panels() const { return static_cast<size_t>(matrices * panels); }
  size_t SumsOffset() const { return Panels() * PanelBytes(); }
  size_t Bytes() const {
    return SumsOffset() + Panels() * kPanelColumns * sizeof(uint32_t);
  }
  PackedB At(const void *memory) const {
    const char *at = static_cast<const char *>(memory);
    return {reinterpret_cast<const int8_t *>(at),
            reinterpret_cast<const uint32_t *>(at + SumsOffset())};
  }

  int64_t depth;
  int64_t columns;
  int64_t panels;  // of a matrix
  int64_t matrices;
};

void PackB(const gemm::IntegerPacking &packing,
           const void *b,
           bool is_unsigned,
           const LayoutOfB &layout,
           void *memory,
           ThreadPool *pool) {
  const auto *from = static_cast<const uint8_t *>(b);
  auto *to = static_cast<int8_t *>(memory);
  auto *sums = reinterpret_cast<uint32_t *>(to + layout.SumsOffset());
  const uint8_t flip = Flip(is_unsigned);
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
              to + static_cast<size_t>(i) * layout.PanelBytes(),
              sums + i * kColumns);
        }
      });
}

class IntegerPlan final : public Plan {
 public:
  // `arithmetic` and the memory of `constant` must outlive the plan; `constant`
  // is null if B is not a packed constant.
  IntegerPlan(const gemm::Arithmetic &arithmetic,
              const PackedB &constant,
              const Sizes &sizes,
              int threads)
      : arithmetic_(arithmetic),
        constant_(constant),
        b_(sizes.b_matrices, sizes.depth, sizes.columns),
        batches_(sizes.batches),
        rows_(sizes.rows),
        all_rows_(sizes.a_matrices * sizes.rows),
        split_(SplitTasks(sizes, RowBytes(), arithmetic.row_tile, threads)) {}

  std::string Name() const override { return arithmetic_.name; }
  size_t ScratchBytes(int /*threads*/) const override {
    return Lay(nullptr).bytes;
  }
  void Run(const Args &args, ThreadPool *pool, void *memory) const override {
    const Scratch s = Lay(static_cast<char *>(memory));
    PackA(args, s, pool);
    if (s.b != nullptr) {
      PackB(*arithmetic_.integers, args.b, args.b_integers.is_unsigned, b_, s.b,
            pool);
    }
    const PackedB packed = s.b != nullptr ? b_.At(s.b) : constant_;
    for (int64_t m = 0; m < all_rows_; ++m) {
      s.row_zeros[m] = ZeroAt(args.a_integers, m % rows_);
    }
    const int64_t padded_columns = b_.panels * kColumns;
    for (int64_t n = 0; n < padded_columns; ++n) {
      s.column_zeros[n] = n < b_.columns ? ZeroAt(args.b_integers, n) : 0;
    }
    for (int64_t i = 0; i < b_.matrices * padded_columns; ++i) {
      s.column_sums[i] =
          packed.sums[i] -
          static_cast<uint32_t>(b_.depth) * s.column_zeros[i % padded_columns];
    }
    Multiply(s, packed, static_cast<int32_t *>(args.c), pool);
  }

 private:
  struct Scratch {
    char *a = nullptr;
    uint32_t *row_sums = nullptr;
    uint32_t *row_zeros = nullptr;
    char *b = nullptr;  // stays null if B is a packed constant
    uint32_t *column_sums = nullptr;
    uint32_t *column_zeros = nullptr;
    size_t bytes = 0;
  };

  // Bytes of a packed row.
  size_t RowBytes() const {
    return gemm::DepthInFours(static_cast<size_t>(b_.depth)) *
           arithmetic_.integers->row_element_bytes;
  }

  // Computes the addresses in the scratch memory, and its size.
  Scratch Lay(char *memory) const {
    Scratch s;
    const auto take = [&](size_t bytes) {
      char *at = memory == nullptr ? nullptr : memory + s.bytes;
      s.bytes += AlignUp(bytes);
      return at;
    };
    const auto take_numbers = [&](size_t count) {
      return reinterpret_cast<uint32_t *>(take(count * sizeof(uint32_t)));
    };
    const size_t rows = static_cast<size_t>(all_rows_);
    s.a = take(rows * RowBytes());
    s.row_sums = take_numbers(rows);
    s.row_zeros = take_numbers(rows);
    if (constant_.panels == nullptr) s.b = take(b_.Bytes());
    s.column_sums = take_numbers(b_.Panels() * kPanelColumns);
    s.column_zeros =
        take_numbers(static_cast<size_t>(b_.panels) * kPanelColumns);
    return s;
  }

  void PackA(const Args &args, const Scratch &s, ThreadPool *pool) const {
    const auto *from = static_cast<const uint8_t *>(args.a);
    const uint8_t flip = Flip(args.a_integers.is_unsigned);
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

  void Multiply(const Scratch &s,
                const PackedB &packed,
                int32_t *c,
                ThreadPool *pool) const {
    pool->ParallelFor(
        split_.Tasks(b_.panels), 1,
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t task = begin; task < end; ++task) {
            const TaskPart part = PartOfTask(split_, b_.panels, task);
            const int64_t a_row =
                MatrixOfBatch(batches_, batches_.a_step, part.call) * rows_ +
                part.row;
            const int64_t b_panel =
                MatrixOfBatch(batches_, batches_.b_step, part.call) * b_.panels;
            gemm::Block block;
            block.packed = s.a + static_cast<size_t>(a_row) * RowBytes();
            block.row_sums = s.row_sums + a_row;
            block.row_zeros = s.row_zeros + a_row;
            block.rows = static_cast<size_t>(part.rows);
            block.depth = static_cast<size_t>(b_.depth);
            block.w =
                packed.panels + static_cast<size_t>(b_panel) * b_.PanelBytes();
            block.w_type = gemm::WeightType::kI8Fours;
            const gemm::IntegerColumns columns = {
                s.column_sums + b_panel * kColumns, s.column_zeros};
            block.epilogue.integers = &columns;
            block.columns = static_cast<size_t>(b_.columns);
            block.panel_begin = static_cast<size_t>(part.panel_begin);
            block.panel_end = static_cast<size_t>(part.panel_end);
            block.c =
                c + (part.call * split_.call_rows + part.row) * b_.columns;
            block.c_type = gemm::Element::kI32;
            block.c_stride = static_cast<size_t>(b_.columns);
            arithmetic_.run(block);
          }
        });
  }

  const gemm::Arithmetic &arithmetic_;
  const PackedB constant_;
  const LayoutOfB b_;
  const MatrixBatches batches_;
  const int64_t rows_;      // of a matrix
  const int64_t all_rows_;  // of A
  const TaskSplit split_;
};

class Integer final : public Strategy {
 public:
  explicit Integer(const gemm::Arithmetic *arithmetic)
      : arithmetic_(*arithmetic) {}

  void UsePacked(const Shape &b, const void *packed) override {
    constant_ =
        LayoutOfB(b.Elements(0, b.rank() - 2), b[b.rank() - 2], b.back())
            .At(packed);
  }
  std::unique_ptr<Plan> MakePlan(const Sizes &sizes,
                                 int threads) const override {
    return std::make_unique<IntegerPlan>(arithmetic_, constant_, sizes,
                                         threads);
  }

 private:
  const gemm::Arithmetic &arithmetic_;
  PackedB constant_;  // null: B is packed in each run
};

}  // namespace

std::unique_ptr<Strategy> MakeInteger(const gemm::Arithmetic *arithmetic) {
  return std::make_unique<Integer>(arithmetic);
}

}  // namespace mace::matmul
