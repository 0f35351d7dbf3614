// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Every run packs B, and transposes A if necessary. A task multiplies some rows
// of A, in place, by some columns. If no other task reads these columns, it
// packs them itself, a group of panels at a time, which then is still in a
// cache; otherwise, all of B is packed before.

#include "mace/kernels/cpu/matmul/quantized_product.h"

#include <algorithm>
#include <string>
#include <vector>

#include "mace/core/base/aligned_memory.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/matmul/task_split.h"
#include "mace/kernels/cpu/transpose/transpose.h"

namespace mace::matmul {
namespace {

using gemm::kPanelColumns;
constexpr auto kColumns = static_cast<int64_t>(kPanelColumns);
constexpr auto kGroup = static_cast<int64_t>(gemm::kPackedPanels);

constexpr size_t Size(int64_t x) { return static_cast<size_t>(x); }

// Items of `bytes` bytes per grain, so that using another thread is worthwhile.
constexpr int64_t Grain(int64_t bytes) {
  constexpr int64_t kWorthwhile = 16 * 1024;
  return bytes >= kWorthwhile ? 1 : kWorthwhile / std::max<int64_t>(bytes, 1);
}

// Modulo 2^32, as the sums of the kernels.
int32_t Product(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) *
                              static_cast<uint32_t>(b));
}
int32_t Difference(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) -
                              static_cast<uint32_t>(b));
}

// No |float(S) * scale| reaches 2^30.
bool IsBounded(const QuantizedProduct &p) {
  const double most =
      std::min(255.0 * 255.0 * static_cast<double>(p.sizes.depth), 0x1p31);
  return most * static_cast<double>(p.scale) < 0x1p30;
}

class QuantizedPlan final : public Plan {
 public:
  QuantizedPlan(const QuantizedProduct &product,
                const gemm::Arithmetic &arithmetic,
                CpuIsa isa,
                int threads)
      : p_(product),
        s_(p_.sizes),
        arithmetic_(arithmetic),
        packing_(*gemm::QuantizedPackingFor(isa)),
        transpose_(transpose::KernelsFor(isa)->matrix8),
        panels_(static_cast<int64_t>(gemm::PanelCount(Size(s_.columns)))),
        split_(SplitTasks(s_, Size(s_.depth), arithmetic.row_tile, threads)),
        packs_in_tasks_(split_.task_rows >= split_.call_rows &&
                        s_.b_matrices == split_.calls),
        scales_(Size(panels_) * kPanelColumns, product.scale) {
    requantization_.scale = scales_.data();
    requantization_.zero = p_.zero;
    requantization_.low = p_.low;
    requantization_.high = p_.high;
    requantization_.bounded = IsBounded(p_);
  }

  std::string Name() const override {
    return std::string("pack, ") + arithmetic_.name;
  }
  size_t ScratchBytes(int threads) const override {
    return Lay(nullptr, threads).bytes;
  }
  void Run(const Args &args, ThreadPool *pool, void *memory) const override {
    const Scratch scratch =
        Lay(static_cast<char *>(memory), pool->thread_count());
    Operands operands;
    operands.a = static_cast<const uint8_t *>(args.a);
    operands.b = static_cast<const uint8_t *>(args.b);
    operands.c = static_cast<uint8_t *>(args.c);
    if (s_.transposed_a) {
      TransposeA(operands.a, scratch.a, pool);
      operands.a = scratch.a;
    }
    if (!packs_in_tasks_) PackB(operands.b, scratch, pool);
    pool->ParallelFor(
        split_.Tasks(panels_), 1, [&](int64_t begin, int64_t end, int thread) {
          const TaskMemory own = MemoryOf(scratch, thread);
          for (int64_t task = begin; task < end; ++task) {
            RunTask(PartOfTask(split_, panels_, task), operands, scratch, own);
          }
        });
  }

 private:
  // Panels of B, as kernels read them.
  struct Packed {
    int8_t *panels = nullptr;
    int32_t *bias = nullptr;  // of their columns
  };
  struct Scratch {
    uint8_t *a = nullptr;  // with rows of the depth; null unless transposed
    // Of all matrices, unless each task packs.
    Packed packed;
    int32_t *least = nullptr;  // the least weight of each group, or less
    char *threads = nullptr;   // TaskBytes() for each
    size_t bytes = 0;
  };
  struct TaskMemory {
    const void **rows = nullptr;
    int32_t *row_bias = nullptr;
    Packed packed;  // kGroup panels, if tasks pack
  };
  struct Operands {
    const uint8_t *a = nullptr;
    const uint8_t *b = nullptr;
    uint8_t *c = nullptr;
  };

  size_t PanelBytes() const {
    return gemm::PanelBytes(gemm::WeightType::kI8Fours,
                            gemm::DepthInFours(Size(s_.depth)));
  }
  // Of the panels of a matrix that are packed together.
  int64_t Groups() const { return (panels_ + kGroup - 1) / kGroup; }

  // What follows the panels of a task.
  size_t PointerBytes() const {
    return AlignUp(Size(split_.task_rows) * sizeof(void *));
  }
  size_t RowBiasBytes() const {
    return AlignUp(Size(split_.task_rows) * sizeof(int32_t));
  }
  static constexpr size_t BiasBytes(size_t panels) {
    return panels * kPanelColumns * sizeof(int32_t);
  }
  size_t TaskBytes() const {
    const size_t panels = packs_in_tasks_ ? gemm::kPackedPanels : 0;
    return PointerBytes() + RowBiasBytes() + BiasBytes(panels) +
           panels * PanelBytes();
  }

  // Computes the addresses in the scratch memory, and its size.
  Scratch Lay(char *memory, int threads) const {
    Scratch s;
    const auto take = [&](size_t bytes) {
      char *at = memory == nullptr ? nullptr : memory + s.bytes;
      s.bytes += AlignUp(bytes);
      return at;
    };
    if (s_.transposed_a) {
      s.a = reinterpret_cast<uint8_t *>(
          take(Size(s_.a_matrices * s_.rows * s_.depth)));
    }
    if (!packs_in_tasks_) {
      const size_t panels = Size(s_.b_matrices * panels_);
      s.packed.panels = reinterpret_cast<int8_t *>(take(panels * PanelBytes()));
      s.packed.bias = reinterpret_cast<int32_t *>(take(BiasBytes(panels)));
      s.least = reinterpret_cast<int32_t *>(
          take(Size(s_.b_matrices * Groups()) * sizeof(int32_t)));
    }
    s.threads = take(static_cast<size_t>(threads) * TaskBytes());
    return s;
  }
  TaskMemory MemoryOf(const Scratch &scratch, int thread) const {
    char *at = scratch.threads + static_cast<size_t>(thread) * TaskBytes();
    TaskMemory own;
    own.rows = reinterpret_cast<const void **>(at);
    at += PointerBytes();
    own.row_bias = reinterpret_cast<int32_t *>(at);
    if (!packs_in_tasks_) return own;
    at += RowBiasBytes();
    own.packed.bias = reinterpret_cast<int32_t *>(at);
    at += BiasBytes(gemm::kPackedPanels);
    own.packed.panels = reinterpret_cast<int8_t *>(at);
    return own;
  }

  void TransposeA(const uint8_t *from, uint8_t *to, ThreadPool *pool) const {
    const int64_t size = s_.rows * s_.depth;
    pool->ParallelFor(s_.a_matrices, Grain(size),
                      [&](int64_t begin, int64_t end, int /*thread*/) {
                        for (int64_t i = begin; i < end; ++i) {
                          transpose_(from + i * size, Size(s_.rows),
                                     to + i * size, Size(s_.depth),
                                     Size(s_.depth), Size(s_.rows));
                        }
                      });
  }

  void PackB(const uint8_t *b, const Scratch &s, ThreadPool *pool) const {
    const int64_t groups = Groups();
    pool->ParallelFor(
        s_.b_matrices * groups, Grain(s_.depth * kColumns * kGroup),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t matrix = i / groups;
            const int64_t first = i % groups * kGroup;
            s.least[i] = Pack(b + matrix * s_.depth * s_.columns, first,
                              std::min(panels_, first + kGroup),
                              PanelsAt(s.packed, matrix * panels_ + first));
          }
        });
  }
  Packed PanelsAt(const Packed &packed, int64_t panel) const {
    return {packed.panels + Size(panel) * PanelBytes(),
            packed.bias + panel * kColumns};
  }

  // Panels [begin, end) of a matrix; returns the least weight, or less.
  int32_t Pack(const uint8_t *matrix,
               int64_t begin,
               int64_t end,
               const Packed &to) const {
    const int64_t column = begin * kColumns;
    gemm::QuantizedPanels panels;
    panels.depth = Size(s_.depth);
    panels.columns = Size(std::min(end * kColumns, s_.columns) - column);
    panels.depth_stride = s_.transposed_b ? 1 : Size(s_.columns);
    panels.column_stride = s_.transposed_b ? Size(s_.depth) : 1;
    panels.from = matrix + column * static_cast<int64_t>(panels.column_stride);
    panels.flip = p_.b_flip;
    panels.to = to.panels;
    const int64_t count = (end - begin) * kColumns;
    if (p_.a_zero == 0) {
      std::fill_n(to.bias, count, 0);
      return packing_.pack(panels);
    }
    panels.sums = to.bias;
    const int32_t least = packing_.pack(panels);
    const int32_t zeros =
        Product(Product(static_cast<int32_t>(s_.depth), p_.a_zero), p_.b_zero);
    for (int64_t n = 0; n < count; ++n) {
      to.bias[n] = Difference(zeros, Product(p_.a_zero, to.bias[n]));
    }
    return least;
  }

  void RunTask(const TaskPart &part,
               const Operands &operands,
               const Scratch &s,
               const TaskMemory &own) const {
    const int64_t a_row =
        MatrixOfBatch(s_.batches, s_.batches.a_step, part.call) * s_.rows +
        part.row;
    const int64_t b_matrix =
        MatrixOfBatch(s_.batches, s_.batches.b_step, part.call);
    gemm::Block block;
    PrepareRows(operands.a + a_row * s_.depth, part.rows, own, &block);
    uint8_t *c =
        operands.c + (part.call * split_.call_rows + part.row) * s_.columns;
    if (!packs_in_tasks_) {
      const int32_t *least = s.least + b_matrix * Groups();
      block.panel_begin = Size(part.panel_begin);
      block.panel_end = Size(part.panel_end);
      block.columns = Size(s_.columns);
      block.c = c;
      Multiply(
          PanelsAt(s.packed, b_matrix * panels_),
          *std::min_element(least + part.panel_begin / kGroup,
                            least + (part.panel_end + kGroup - 1) / kGroup),
          &block);
      return;
    }
    const uint8_t *b = operands.b + b_matrix * s_.depth * s_.columns;
    for (int64_t begin = part.panel_begin; begin < part.panel_end;
         begin += kGroup) {
      const int64_t end = std::min(part.panel_end, begin + kGroup);
      const int32_t least = Pack(b, begin, end, own.packed);
      block.panel_end = Size(end - begin);
      block.columns =
          Size(std::min(end * kColumns, s_.columns) - begin * kColumns);
      block.c = c + begin * kColumns;
      Multiply(own.packed, least, &block);
    }
  }

  void PrepareRows(const uint8_t *first,
                   int64_t rows,
                   const TaskMemory &own,
                   gemm::Block *block) const {
    for (int64_t m = 0; m < rows; ++m) own.rows[m] = first + m * s_.depth;
    block->a = own.rows;
    block->rows = Size(rows);
    block->depth = Size(s_.depth);
    if (p_.b_zero == 0) return;
    packing_.sum_rows(first, Size(s_.depth), Size(rows), Size(s_.depth),
                      own.row_bias);
    for (int64_t m = 0; m < rows; ++m) {
      own.row_bias[m] = Product(-p_.b_zero, own.row_bias[m]);
    }
    block->row_bias = own.row_bias;
  }

  // `packed` begins with panel 0 of the block.
  void Multiply(const Packed &packed, int32_t least, gemm::Block *block) const {
    gemm::Requantization to = requantization_;
    to.bias = packed.bias;
    to.least_weight = least;
    block->w = packed.panels;
    block->w_type = gemm::WeightType::kI8Fours;
    block->c_type = gemm::Element::kI8;
    block->c_stride = Size(s_.columns);
    block->epilogue.requantization = &to;
    arithmetic_.run(*block);
  }

  const QuantizedProduct p_;
  const Sizes &s_;  // those of p_
  const gemm::Arithmetic &arithmetic_;
  const gemm::QuantizedPacking &packing_;
  const transpose::Matrix transpose_;
  const int64_t panels_;  // of a matrix
  const TaskSplit split_;
  const bool packs_in_tasks_;
  const std::vector<float> scales_;  // of whole panels
  gemm::Requantization requantization_;
};

}  // namespace

std::unique_ptr<Plan> MakeQuantizedPlan(const QuantizedProduct &product,
                                        const gemm::Arithmetic *arithmetic,
                                        CpuIsa isa,
                                        int threads) {
  return std::make_unique<QuantizedPlan>(product, *arithmetic, isa, threads);
}

}  // namespace mace::matmul
