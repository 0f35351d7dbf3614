// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/packed_filter.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/base/shape.h"
#include "mace/core/model/model.h"
#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace {
namespace {

static_assert(kPackedBlock == static_cast<int64_t>(gemm::kPanelColumns));

constexpr int64_t kPadding = -1;

struct Case {
  Shape shape;
  int64_t groups;
};

// Odd sizes, one output, one weight, blocks that are full by one, and groups.
const Case kCases[] = {
    {{1, 1}, 1},        {{16, 4}, 1},       {{17, 5}, 1},
    {{33, 12}, 1},      {{5, 3, 2, 7}, 1},  {{34, 1, 1, 3}, 2},
    {{48, 3, 3, 4}, 3}, {{51, 2, 1, 8}, 3}, {{20, 3, 5, 1}, 20},
};

// What is at each place of the file: output * depth + k, or kPadding. Written
// from the words of mace.proto: the elements of each block one after the other.
// `together`: the innermost dimension, of K.
std::vector<int64_t> Naive(const Case &c, int64_t together) {
  const int64_t columns = c.shape[0] / c.groups;
  const int64_t last = c.shape.back();
  const int64_t depth = c.shape.Elements(1, c.shape.rank());
  // The last dimension as it is stored.
  const int64_t padded = together == 2 ? last + last % 2 : last;
  const int64_t stored = depth / last * padded;
  std::vector<int64_t> file;
  for (int64_t group = 0; group < c.groups; ++group) {
    for (int64_t first = 0; first < columns; first += 16) {
      for (int64_t k = 0; k < stored; k += together) {
        for (int64_t n = first; n < first + 16; ++n) {
          for (int64_t i = k; i < k + together; ++i) {
            const bool inside = n < columns && i % padded < last;
            const int64_t logical = i / padded * last + i % padded;
            file.push_back(inside ? (group * columns + n) * depth + logical
                                  : kPadding);
          }
        }
      }
    }
  }
  return file;
}

std::string Text(const Case &c) {
  return c.shape.ToString() + " in " + std::to_string(c.groups) + " groups";
}

int64_t StoredBytesOf(ConstantLayout layout, DataType type, const Case &c) {
  ConstantInfo info;
  info.dims = c.shape;
  info.groups = c.groups;
  info.layout = layout;
  info.data_type = type;
  return StoredBytes(info);
}

// `at` is where elements are, `file` what is there.
void ExpectPlaces(const PackedFilter &filter,
                  const std::vector<int64_t> &file,
                  int64_t elements) {
  ASSERT_EQ(filter.outputs() * filter.depth(), elements);
  for (int64_t output = 0; output < filter.outputs(); ++output) {
    for (int64_t k = 0; k < filter.depth(); ++k) {
      const int64_t place = filter.At(output, k);
      ASSERT_GE(place, 0);
      ASSERT_LT(place, filter.stored());
      EXPECT_EQ(file[static_cast<size_t>(place)], output * filter.depth() + k);
    }
  }
  int64_t visited = 0;
  filter.ForEach([&](int64_t output, int64_t k, int64_t place) {
    EXPECT_EQ(place, filter.At(output, k));
    EXPECT_EQ(file[static_cast<size_t>(place)], output * filter.depth() + k);
    ++visited;
  });
  EXPECT_EQ(visited, elements);
}

void ExpectLayout(ConstantLayout layout, DataType type, int64_t together) {
  for (const Case &c : kCases) {
    SCOPED_TRACE(Text(c));
    if (together == 4 && c.shape.back() % 4 != 0) continue;
    const PackedFilter filter(layout, c.shape, c.groups);
    const std::vector<int64_t> file = Naive(c, together);
    ASSERT_EQ(filter.stored(), static_cast<int64_t>(file.size()));
    EXPECT_EQ(filter.stored() * static_cast<int64_t>(DataTypeSize(type)),
              StoredBytesOf(layout, type, c));
    ExpectPlaces(filter, file, c.shape.Elements());
  }
}

TEST(PackedFilter, O16) {
  ExpectLayout(ConstantLayout::kPackedO16, DataType::kFloat32, 1);
}

TEST(PackedFilter, Pairs) {
  ExpectLayout(ConstantLayout::kPackedO16Pairs, DataType::kBfloat16, 2);
}

TEST(PackedFilter, Fours) {
  ExpectLayout(ConstantLayout::kPackedO16Fours, DataType::kInt8, 4);
}

// Each block: 16 scales, 16 offsets, and the weights.
TEST(PackedFilter, Scaled) {
  constexpr int64_t kFloat = sizeof(float);
  for (const Case &c : kCases) {
    SCOPED_TRACE(Text(c));
    const PackedFilter filter(ConstantLayout::kPackedO16Scaled, c.shape,
                              c.groups);
    const int64_t columns = c.shape[0] / c.groups;
    const int64_t block_weights = filter.depth() * 16;
    std::vector<int64_t> file;
    std::vector<int64_t> starts;  // of blocks
    for (const int64_t weight : Naive(c, 1)) {
      const auto count =
          static_cast<int64_t>(file.size() - starts.size() * 2 * 16 * kFloat);
      if (count % block_weights == 0) {
        starts.push_back(static_cast<int64_t>(file.size()));
        file.insert(file.end(), 2 * 16 * kFloat, kPadding);
      }
      file.push_back(weight);
    }
    ASSERT_EQ(filter.stored(), static_cast<int64_t>(file.size()));
    EXPECT_EQ(filter.stored(), StoredBytesOf(ConstantLayout::kPackedO16Scaled,
                                             DataType::kInt8, c));
    ExpectPlaces(filter, file, c.shape.Elements());
    const int64_t blocks = (columns + 15) / 16;  // of a group
    for (int64_t output = 0; output < filter.outputs(); ++output) {
      const int64_t n = output % columns;
      const int64_t start =
          starts[static_cast<size_t>(output / columns * blocks + n / 16)];
      EXPECT_EQ(filter.ScaleAt(output), start + n % 16 * kFloat);
      EXPECT_EQ(filter.OffsetAt(output), start + (16 + n % 16) * kFloat);
    }
  }
}

TEST(PackedFilter, NoWeights) {
  const PackedFilter no_outputs(ConstantLayout::kPackedO16, {0, 3}, 4);
  EXPECT_EQ(no_outputs.stored(), 0);
  const PackedFilter no_depth(ConstantLayout::kPackedO16Pairs, {3, 0}, 1);
  EXPECT_EQ(no_depth.stored(), 0);
  for (const PackedFilter &filter : {no_outputs, no_depth}) {
    filter.ForEach([](int64_t /*output*/, int64_t /*k*/, int64_t /*place*/) {
      ADD_FAILURE() << "it has no weights";
    });
  }
}

TEST(PackedMatrices, Places) {
  for (const Shape &shape : {Shape{1, 1}, Shape{5, 17}, Shape{2, 3, 4, 16},
                             Shape{3, 9, 33}, Shape{8, 31}}) {
    SCOPED_TRACE(shape.ToString());
    const int64_t depth = shape[shape.rank() - 2];
    const int64_t columns = shape.back();
    const int64_t matrices = shape.Elements(0, shape.rank() - 2);
    std::vector<int64_t> file;
    std::vector<int64_t> sums;
    for (int64_t matrix = 0; matrix < matrices; ++matrix) {
      for (int64_t first = 0; first < columns; first += 16) {
        for (int64_t k = 0; k < depth; k += 4) {
          for (int64_t n = first; n < first + 16; ++n) {
            for (int64_t i = k; i < k + 4; ++i) {
              file.push_back(n < columns && i < depth
                                 ? (matrix * depth + i) * columns + n
                                 : kPadding);
            }
          }
        }
        for (int64_t n = first; n < first + 16; ++n) {
          sums.push_back(n < columns ? matrix * columns + n : kPadding);
        }
      }
    }
    const PackedMatrices packed(shape);
    const auto weights = static_cast<int64_t>(file.size());
    const auto sum_bytes = static_cast<int64_t>(sums.size() * sizeof(int32_t));
    ASSERT_EQ(packed.stored(), weights + sum_bytes);
    EXPECT_EQ(packed.stored(), StoredBytesOf(ConstantLayout::kPackedN16Fours,
                                             DataType::kInt8, {shape, 1}));
    for (int64_t i = 0; i < shape.Elements(); ++i) {
      const int64_t n = i % columns;
      const int64_t k = i / columns % depth;
      const int64_t matrix = i / columns / depth;
      const int64_t place = packed.At(matrix, k, n);
      ASSERT_TRUE(place >= 0 && place < weights);
      EXPECT_EQ(file[static_cast<size_t>(place)], i);
      const int64_t sum = packed.SumAt(matrix, n) - weights;
      ASSERT_TRUE(sum >= 0 && sum < sum_bytes && sum % 4 == 0);
      EXPECT_EQ(sums[static_cast<size_t>(sum / 4)], matrix * columns + n);
    }
  }
}

}  // namespace
}  // namespace mace
