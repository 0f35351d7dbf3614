// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mace/ops/testing/indexing.h"
#include "mace/ops/testing/op_runner.h"

namespace mace {
namespace {

using op_test::ExpectError;
using op_test::ExpectValue;
using op_test::Flat;
using op_test::ForEachIndex;
using op_test::Index;
using op_test::OpCase;
using op_test::Random;
using op_test::Value;

// Every number of axes and of batch dimensions.
TEST(GatherNdTest, PicksSlices) {
  Random random(19);
  const Shape shape = {3, 5, 2, 7};
  const Value params = random.Floats(shape);
  const std::vector<float> v = params.floats();
  for (size_t batch = 0; batch <= 2; ++batch) {
    for (size_t axes = 0; batch + axes <= shape.rank(); ++axes) {
      for (const int64_t count : {0, 1, 200}) {
        Shape picked(shape.begin(), batch);
        picked.Append(count);
        Shape index_shape = picked;
        index_shape.Append(static_cast<int64_t>(axes));
        // Valid along every axis: the shortest one has length 2.
        const Value indices = random.Ints(index_shape, -2, 1);
        const std::vector<int32_t> at = indices.ints();
        Shape output = picked;
        for (size_t i = batch + axes; i < shape.rank(); ++i) {
          output.Append(shape[i]);
        }
        std::vector<float> expected;
        ForEachIndex(output, [&](const Index &index) {
          const Index own(index.begin(), index.begin() + picked.rank());
          const auto row = static_cast<size_t>(Flat(picked, own));
          Index from(shape.rank(), 0);
          for (size_t i = 0; i < batch; ++i) from[i] = index[i];
          for (size_t i = 0; i < axes; ++i) {
            const int32_t p = at[row * axes + i];
            from[batch + i] = p < 0 ? p + shape[batch + i] : p;
          }
          for (size_t i = batch + axes; i < shape.rank(); ++i) {
            from[i] = index[picked.rank() + i - batch - axes];
          }
          expected.push_back(v[static_cast<size_t>(Flat(shape, from))]);
        });
        SCOPED_TRACE(testing::Message() << batch << " " << axes);
        ExpectValue(OpCase("GatherNd")
                        .Input(params)
                        .Input(indices)
                        .Int("batch_dims", static_cast<int64_t>(batch)),
                    Value::Floats(output, expected));
      }
    }
  }
}

TEST(GatherNdTest, OtherTypes) {
  const Value indices = Value::Ints({2, 2}, {0, -1, 1, 0});
  ExpectValue(OpCase("GatherNd")
                  .Input(Value::Ints({2, 3}, {10, 11, 12, 13, 14, INT32_MIN}))
                  .Input(indices),
              Value::Ints({2}, {12, 13}));
  for (const DataType type : {DataType::kUint8, DataType::kInt8}) {
    const int32_t low = op_test::LeastByte(type);
    const Value params = Value::Bytes(
        type, {2, 3}, {low, low + 1, low + 2, low + 3, low + 4, low + 255});
    ExpectValue(OpCase("GatherNd").Input(params).Input(indices),
                Value::Bytes(type, {2}, {low + 2, low + 3}));
    ExpectValue(
        OpCase("GatherNd").Input(params).Input(Value::Ints({1, 1}, {1})),
        Value::Bytes(type, {1, 3}, {low + 3, low + 4, low + 255}));
  }
}

TEST(GatherNdTest, IndexOutOfRangeIsAnErrorOfTheRun) {
  for (const int32_t index : {3, -4, INT32_MIN, INT32_MAX}) {
    ExpectError(OpCase("GatherNd")
                    .Input(Value::Floats({3}, {1, 2, 3}))
                    .Input(Value::Ints({2, 1}, {0, index})),
                MaceStatus::MACE_INVALID_ARGS,
                "index " + std::to_string(index));
  }
}

TEST(GatherNdTest, Errors) {
  const Value x = Value::Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectError(OpCase("GatherNd").Input(x).Input(Value::Ints({}, {0})),
              MaceStatus::MACE_INVALID_ARGS, "do not fit params");
  ExpectError(OpCase("GatherNd").Input(x).Input(Value::Ints({3}, {0, 0, 0})),
              MaceStatus::MACE_INVALID_ARGS,
              "indices of shape [3] do not fit params of shape [2, 3]");
  ExpectError(OpCase("GatherNd")
                  .Input(x)
                  .Input(Value::Ints({3, 1}, {0, 0, 0}))
                  .Int("batch_dims", 1),
              MaceStatus::MACE_INVALID_ARGS, "with 1 batch dimensions");
  ExpectError(OpCase("GatherNd")
                  .Input(x)
                  .Input(Value::Ints({3, 1}, {0, 0, 0}))
                  .Int("batch_dims", -1),
              MaceStatus::MACE_INVALID_ARGS, "batch_dims");
}

}  // namespace
}  // namespace mace
