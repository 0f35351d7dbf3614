// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/memory/border.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "mace/core/base/half.h"

namespace mace {
namespace {

using Order = BorderCopy::Order;

TEST(BorderTest, MapsShapes) {
  EXPECT_EQ(NchwToNhwc({2, 3, 4, 5}), Shape({2, 4, 5, 3}));
  EXPECT_EQ(NhwcToNchw({2, 4, 5, 3}), Shape({2, 3, 4, 5}));
  EXPECT_EQ(NchwToNhwc({2, 3, 4}), Shape({2, 3, 4}));
}

TEST(BorderTest, ConvertsAmongFloatsOnly) {
  for (DataType a :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    for (DataType b :
         {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
      EXPECT_TRUE(CanConvert(a, b));
    }
    EXPECT_FALSE(CanConvert(a, DataType::kInt32));
    EXPECT_FALSE(CanConvert(DataType::kUint8, a));
  }
  EXPECT_TRUE(CanConvert(DataType::kInt32, DataType::kInt32));
  EXPECT_FALSE(CanConvert(DataType::kUnknown, DataType::kUnknown));
}

// Index in NCHW of the element at `index` of an NHWC tensor.
int64_t NchwIndex(const Shape &nhwc, int64_t index) {
  const int64_t c = index % nhwc[3];
  const int64_t pixel = index / nhwc[3] % (nhwc[1] * nhwc[2]);
  const int64_t n = index / (nhwc[1] * nhwc[2] * nhwc[3]);
  return (n * nhwc[3] + c) * nhwc[1] * nhwc[2] + pixel;
}

class BorderCopyTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { pool_ = ThreadPool::CreateUnbound(GetParam()); }
  std::unique_ptr<ThreadPool> pool_;
};

// Every element size, around the edges of a tile.
template <typename T>
void MovesDimensions(DataType type, ThreadPool *pool) {
  for (const Shape &shape :
       {Shape{1, 1, 1, 1}, Shape{2, 5, 7, 3}, Shape{1, 33, 31, 33},
        Shape{3, 4, 8, 64}, Shape{1, 1, 65, 1}, Shape{2, 0, 3, 4}}) {
    SCOPED_TRACE(shape.ToString());
    const int64_t count = shape.Elements();
    std::vector<T> nhwc(count + 1);
    std::vector<T> nchw(count + 1, T(99));
    for (int64_t i = 0; i < count; ++i) nhwc[i] = static_cast<T>(i * 7 + 1);
    CopyAtBorder(
        {nhwc.data(), type, nchw.data(), type, shape, Order::kNhwcToNchw},
        pool);
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(nchw[NchwIndex(shape, i)], nhwc[i]) << i;
    }
    EXPECT_EQ(nchw[count], T(99));
    std::vector<T> back(count + 1);
    CopyAtBorder(
        {nchw.data(), type, back.data(), type, shape, Order::kNchwToNhwc},
        pool);
    EXPECT_EQ(std::vector<T>(back.begin(), back.end() - 1),
              std::vector<T>(nhwc.begin(), nhwc.end() - 1));
  }
}

TEST_P(BorderCopyTest, MovesDimensionsOfEveryElementSize) {
  MovesDimensions<uint8_t>(DataType::kUint8, pool_.get());
  MovesDimensions<uint16_t>(DataType::kFloat16, pool_.get());
  MovesDimensions<int32_t>(DataType::kInt32, pool_.get());
  MovesDimensions<int64_t>(DataType::kInt64, pool_.get());
}

// This would take weeks if the loops ran over the dimensions that are not 0.
TEST_P(BorderCopyTest, CopiesNothingOfAnEmptyTensorAtOnce) {
  constexpr int64_t kMany = int64_t{1} << 50;
  float nothing = 7;
  for (const Shape &shape : {Shape{kMany, 3, 1, 0}, Shape{kMany, 0, 5, 3},
                             Shape{0, 3, 1, kMany}, Shape{3, kMany, 1, 0}}) {
    for (Order order : {Order::kSame, Order::kNchwToNhwc, Order::kNhwcToNchw}) {
      CopyAtBorder({&nothing, DataType::kFloat32, &nothing, DataType::kFloat32,
                    shape, order},
                   pool_.get());
    }
  }
  EXPECT_EQ(nothing, 7);
}

TEST_P(BorderCopyTest, ConvertsWhileItMoves) {
  const Shape shape{1, 9, 9, 5};
  const int64_t count = shape.Elements();
  std::vector<uint16_t> half(count);
  std::vector<uint16_t> brain(count);
  for (int64_t i = 0; i < count; ++i) {
    half[i] = FloatToHalf(static_cast<float>(i) - 200);
  }
  CopyAtBorder({half.data(), DataType::kFloat16, brain.data(),
                DataType::kBfloat16, shape, Order::kNhwcToNchw},
               pool_.get());
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_EQ(brain[NchwIndex(shape, i)],
              FloatToBfloat16(static_cast<float>(i) - 200));
  }
}

TEST_P(BorderCopyTest, CopiesInOrderBeyondOneGrain) {
  const Shape shape{100003};
  std::vector<float> from(shape.Elements());
  std::mt19937 random(3);
  for (float &value : from) value = static_cast<float>(random() % 2048);
  std::vector<uint16_t> to(from.size());
  CopyAtBorder({from.data(), DataType::kFloat32, to.data(), DataType::kFloat16,
                shape, Order::kSame},
               pool_.get());
  for (size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(HalfToFloat(to[i]), from[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, BorderCopyTest, ::testing::Values(1, 3));

}  // namespace
}  // namespace mace
