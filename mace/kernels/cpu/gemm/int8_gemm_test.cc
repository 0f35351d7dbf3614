// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/int8_gemm.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::gemm {
namespace {

constexpr uint8_t kSigned = 0;
constexpr uint8_t kUnsigned = 0x80;
constexpr int32_t kGuard = 0x5a5a5a5a;

struct Operand {
  std::vector<uint8_t> bytes;
  uint8_t flip;
  int64_t At(size_t i) const {
    return flip == kUnsigned ? static_cast<int64_t>(bytes[i])
                             : static_cast<int8_t>(bytes[i]);
  }
};

struct Product {
  size_t rows;
  size_t depth;
  size_t columns;
  Operand a;
  Operand b;
  std::vector<int32_t> a_zeros;  // one a row
  std::vector<int32_t> b_zeros;  // one a column
};

// A zero point of the packed, signed, numbers.
uint32_t Packed(int32_t zero, uint8_t flip) {
  return static_cast<uint32_t>(zero) - flip;
}

// As an operator does it, in one block for each of the column ranges.
std::vector<int32_t> Run(const Product &p,
                         CpuIsa isa,
                         size_t stretch_panels,
                         size_t gap) {
  const Arithmetic &arithmetic = *ArithmeticFor(ArithmeticKind::kInt8, isa);
  const IntegerPacking &k = *arithmetic.integers;
  const size_t panels = PanelCount(p.columns);
  const size_t padded = DepthInFours(p.depth);
  const size_t panel_bytes = PanelBytes(WeightType::kI8Fours, padded);
  std::vector<uint8_t> rows(p.rows * padded * k.row_element_bytes + 64);
  std::vector<uint32_t> row_sums(p.rows);
  std::vector<uint32_t> row_zeros(p.rows);
  k.pack_rows(p.a.bytes.data(), p.depth, p.rows, p.depth, p.a.flip, rows.data(),
              row_sums.data());
  for (size_t m = 0; m < p.rows; ++m) {
    row_zeros[m] = Packed(p.a_zeros[m], p.a.flip);
  }
  // Exactly as large as declared, for the sanitizer.
  std::vector<int8_t> packed(panels * panel_bytes);
  std::vector<uint32_t> sums(panels * kPanelColumns);
  std::vector<uint32_t> zeros(panels * kPanelColumns);
  for (size_t panel = 0; panel < panels; ++panel) {
    const size_t first = panel * kPanelColumns;
    const size_t count = std::min(kPanelColumns, p.columns - first);
    k.pack_panel(p.b.bytes.data() + first, p.columns, p.depth, count, p.b.flip,
                 packed.data() + panel * panel_bytes, sums.data() + first);
    for (size_t n = first; n < first + count; ++n) {
      zeros[n] = Packed(p.b_zeros[n], p.b.flip);
      sums[n] -= static_cast<uint32_t>(p.depth) * zeros[n];
    }
  }
  const size_t stride = p.columns + gap;
  std::vector<int32_t> c(p.rows * stride, kGuard);
  Block block;
  block.packed = rows.data();
  block.row_sums = row_sums.data();
  block.row_zeros = row_zeros.data();
  block.rows = p.rows;
  block.depth = p.depth;
  block.w = packed.data();
  block.w_type = WeightType::kI8Fours;
  const IntegerColumns columns = {sums.data(), zeros.data()};
  block.epilogue.integers = &columns;
  block.columns = p.columns;
  block.c = c.data();
  block.c_type = Element::kI32;
  block.c_stride = stride;
  for (size_t begin = 0; begin < panels; begin += stretch_panels) {
    block.panel_begin = begin;
    block.panel_end = std::min(panels, begin + stretch_panels);
    arithmetic.run(block);
  }
  return c;
}

// [rows][columns]
std::vector<int64_t> Reference(const Product &p) {
  std::vector<int64_t> sums(p.rows * p.columns);
  for (size_t m = 0; m < p.rows; ++m) {
    for (size_t n = 0; n < p.columns; ++n) {
      int64_t sum = 0;
      for (size_t k = 0; k < p.depth; ++k) {
        sum += (p.a.At(m * p.depth + k) - p.a_zeros[m]) *
               (p.b.At(k * p.columns + n) - p.b_zeros[n]);
      }
      sums[m * p.columns + n] = sum;
    }
  }
  return sums;
}

void Check(const Product &p) {
  const std::vector<int64_t> want = Reference(p);
  for (CpuIsa isa : RunnableIsasAndExtensions()) {
    for (size_t stretch : {size_t{1}, size_t{3}, size_t{100}}) {
      for (size_t gap : {size_t{0}, size_t{5}}) {
        SCOPED_TRACE(::testing::Message()
                     << CpuIsaName(isa) << " " << p.rows << "x" << p.depth
                     << "x" << p.columns << " flips " << int{p.a.flip} << " "
                     << int{p.b.flip} << " by " << stretch << " panels");
        const std::vector<int32_t> c = Run(p, isa, stretch, gap);
        for (size_t m = 0; m < p.rows; ++m) {
          for (size_t n = 0; n < p.columns; ++n) {
            ASSERT_EQ(c[m * (p.columns + gap) + n], want[m * p.columns + n])
                << "row " << m << ", column " << n;
          }
          for (size_t n = 0; n < gap; ++n) {
            ASSERT_EQ(c[m * (p.columns + gap) + p.columns + n], kGuard);
          }
        }
      }
    }
  }
}

int32_t RandomNumber(Random *random, uint8_t flip) {
  return static_cast<int32_t>(flip == kUnsigned ? random->Int(0, 255)
                                                : random->Int(-128, 127));
}

Product RandomProduct(Random *random,
                      size_t rows,
                      size_t depth,
                      size_t columns,
                      uint8_t a_flip,
                      uint8_t b_flip) {
  Product p = {rows, depth, columns, {{}, a_flip}, {{}, b_flip}, {}, {}};
  for (size_t i = 0; i < rows * depth; ++i) {
    p.a.bytes.push_back(static_cast<uint8_t>(random->Int(0, 255)));
  }
  for (size_t i = 0; i < depth * columns; ++i) {
    p.b.bytes.push_back(static_cast<uint8_t>(random->Int(0, 255)));
  }
  for (size_t m = 0; m < rows; ++m) {
    p.a_zeros.push_back(RandomNumber(random, a_flip));
  }
  for (size_t n = 0; n < columns; ++n) {
    p.b_zeros.push_back(RandomNumber(random, b_flip));
  }
  return p;
}

TEST(Int8Gemm, AgreesWithIntegerSums) {
  Random random(1);
  for (size_t rows : {1, 2, 3, 5, 7, 13, 27}) {
    for (size_t columns : {1, 4, 15, 16, 17, 31, 33, 63, 80}) {
      for (size_t depth : {1, 3, 4, 6, 37}) {
        const auto flips = random.Int(0, 3);
        Check(RandomProduct(&random, rows, depth, columns,
                            (flips & 1) != 0 ? kUnsigned : kSigned,
                            (flips & 2) != 0 ? kUnsigned : kSigned));
      }
    }
  }
}

// What overflows 16 bits where a kernel sums products in so many.
TEST(Int8Gemm, ExtremeNumbers) {
  Random random(2);
  for (uint8_t a_flip : {kSigned, kUnsigned}) {
    for (uint8_t b_flip : {kSigned, kUnsigned}) {
      for (int a : {0, 127, 128, 255}) {
        for (int b : {0, 127, 128, 255}) {
          Product p = RandomProduct(&random, 14, 1030, 35, a_flip, b_flip);
          p.a.bytes.assign(p.a.bytes.size(), static_cast<uint8_t>(a));
          p.b.bytes.assign(p.b.bytes.size(), static_cast<uint8_t>(b));
          Check(p);
        }
      }
    }
  }
}

}  // namespace
}  // namespace mace::gemm
