// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What crosses the border of an engine: descriptions of its inputs and outputs,
// and the copies that a run counts.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::Diamond;
using core_test::Dims;
using core_test::Floats;
using core_test::MadeEngine;
using core_test::Make;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::Ramp;
using core_test::Room;
using core_test::Scale;
using core_test::TensorOf;
using core_test::Tensors;

// y = 2 x, of four dimensions that the caller sees as NCHW.
ModelBuilder Nchw(const Dims &dims = {1, 3, 2, 2}) {
  return ModelBuilder()
      .Input("x", dims, DataType::kFloat32, DataFormat::NCHW, "image")
      .Operator("scale", "TestAffine", {"x"}, {"y"}, {Scale(2)})
      .Output("y", DataFormat::NCHW);
}

std::vector<TensorCopy> CopiesOf(const MadeEngine &made,
                                 const Tensors &inputs,
                                 Tensors outputs) {
  RunMetadata metadata;
  const MaceStatus status = made.engine->Run(inputs, &outputs, &metadata);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  return metadata.border_copies;
}

void ExpectCopy(const TensorCopy &copy,
                const std::string &tensor,
                bool is_output,
                CopyReason reason,
                int64_t bytes) {
  EXPECT_EQ(copy.tensor, tensor);
  EXPECT_EQ(copy.is_output, is_output);
  EXPECT_EQ(copy.reason, reason);
  EXPECT_EQ(copy.bytes, bytes);
  EXPECT_EQ(copy.from, CPU);
  EXPECT_EQ(copy.to, CPU);
}

TEST(EngineBorderTest, CopiesNothingThatFits) {
  const MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  EXPECT_TRUE(
      CopiesOf(made, {{"x", Floats({1, 2, 2, 3}, Ramp(12))}}, {{"s", Room(12)}})
          .empty());
}

TEST(EngineBorderTest, NamesTheReasonOfEachCopy) {
  const MadeEngine made = Make(Nchw());
  ASSERT_OK(made.status);
  const MaceTensor input = Floats({1, 3, 2, 2}, Ramp(12), DataFormat::NCHW);
  const auto format =
      CopiesOf(made, {{"x", input}}, {{"y", Room(12, DataFormat::NHWC)}});
  ASSERT_EQ(format.size(), 1u);
  ExpectCopy(format[0], "x", false, CopyReason::FORMAT, 48);

  const MaceTensor halves = TensorOf<uint16_t>({12}, std::vector<uint16_t>(12),
                                               IDataType::IDT_FLOAT16);
  const MaceTensor nhwc = Floats({1, 2, 2, 3}, Ramp(12));
  const auto type = CopiesOf(made, {{"x", nhwc}}, {{"y", halves}});
  ASSERT_EQ(type.size(), 1u);
  ExpectCopy(type[0], "y", true, CopyReason::TYPE, 48);

  const auto bytes = std::shared_ptr<char>(
      new char[64], [](const char *all) { delete[] all; });
  const std::shared_ptr<void> odd(bytes, bytes.get() + 4);
  const auto alignment =
      CopiesOf(made, {{"x", nhwc}}, {{"y", MaceTensor({12}, odd)}});
  ASSERT_EQ(alignment.size(), 1u);
  ExpectCopy(alignment[0], "y", true, CopyReason::ALIGNMENT, 48);

  const auto shared = CopiesOf(made, {{"x", nhwc}}, {{"y", nhwc}});
  ASSERT_EQ(shared.size(), 1u);
  ExpectCopy(shared[0], "y", true, CopyReason::SHARED, 48);
}

TEST(EngineBorderTest, CountsOutputsThatNoOperatorComputes) {
  MakeOptions options;
  options.outputs = {"c", "x"};
  const MadeEngine made = Make(Diamond(), options);
  ASSERT_OK(made.status);
  const auto copies = CopiesOf(made, {{"x", Floats({1, 2, 2, 3}, Ramp(12))}},
                               {{"c", Room(12)}, {"x", Room(12)}});
  ASSERT_EQ(copies.size(), 2u);
  ExpectCopy(copies[0], "c", true, CopyReason::BEFORE_RUN, 48);
  ExpectCopy(copies[1], "x", true, CopyReason::SHARED, 48);
}

// A run's copies, not those of earlier runs.
TEST(EngineBorderTest, StartsEachRunAtZero) {
  const MadeEngine made = Make(Nchw());
  ASSERT_OK(made.status);
  RunMetadata metadata;
  for (int round = 0; round < 2; ++round) {
    Tensors outputs = {{"y", Room(12, DataFormat::NCHW)}};
    ASSERT_OK(made.engine->Run(
        {{"x", Floats({1, 3, 2, 2}, Ramp(12), DataFormat::NCHW)}}, &outputs,
        &metadata));
    EXPECT_EQ(metadata.border_copies.size(), 2u);
  }
}

TEST(EngineBorderTest, DescribesInputsAndOutputs) {
  const MadeEngine made = Make(Nchw());
  ASSERT_OK(made.status);
  Tensors inputs;
  Tensors outputs = {{"left over", Room(1)}};
  ASSERT_OK(made.engine->Describe(&inputs, &outputs));
  ASSERT_EQ(inputs.size(), 1u);
  ASSERT_EQ(outputs.size(), 1u);
  for (const MaceTensor &tensor : {inputs["x"], outputs["y"]}) {
    EXPECT_EQ(tensor.shape(), (Dims{1, 3, 2, 2}));
    EXPECT_EQ(tensor.data_format(), DataFormat::NCHW);
    EXPECT_EQ(tensor.data_type(), IDataType::IDT_FLOAT);
    EXPECT_EQ(tensor.raw_data(), nullptr);
  }
  // An alias is a name of the input, too.
  const MadeEngine open = Make(Nchw({1, 3, -1, -1}));
  ASSERT_OK(open.status);
  inputs = {{"image", MaceTensor({1, 3, 4, 5}, nullptr, DataFormat::NCHW)}};
  ASSERT_OK(open.engine->Describe(&inputs, &outputs));
  EXPECT_EQ(inputs.size(), 1u);
  EXPECT_EQ(outputs["y"].shape(), (Dims{1, 3, 4, 5}));
}

TEST(EngineBorderTest, RunsKeepToFixedDimensions) {
  const MadeEngine made = Make(Nchw({1, 3, -1, 2}));
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(36)}};
  const auto run = [&](const Dims &dims, DataFormat format) {
    const Tensors inputs = {{"x", Floats(dims, Ramp(36), format)}};
    return made.engine->Run(inputs, &outputs);
  };
  ASSERT_OK(run({1, 3, 6, 2}, DataFormat::NCHW));
  ASSERT_OK(run({1, 6, 2, 3}, DataFormat::NHWC));
  MaceStatus status = run({1, 3, 4, 3}, DataFormat::NCHW);
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status,
                  "input 'x' has the shape [1, 3, 4, 3]: dimension 3 is 3, but "
                  "the model was converted for 2 ([1, 3, -1, 2]); to let each "
                  "run decide it, give -1");
  status = run({1, 9, 2, 2}, DataFormat::NHWC);
  EXPECT_MENTIONS(status,
                  "dimension 3 is 2, but the model was converted for 3 "
                  "([1, -1, 2, 3])");
}

TEST(EngineBorderTest, DescribesOpenAndLimitedShapes) {
  const auto model = [] {
    return ModelBuilder()
        .Operator("scale", "TestAffine", {"x"}, {"y"}, {Scale(2)})
        .Output("y");
  };
  const MadeEngine open = Make(model().Input("x", {-1, 4}));
  ASSERT_OK(open.status);
  Tensors inputs;
  Tensors outputs;
  ASSERT_OK(open.engine->Describe(&inputs, nullptr));
  EXPECT_EQ(inputs["x"].shape(), (Dims{-1, 4}));
  MaceStatus status = open.engine->Describe(&inputs, &outputs);
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "[-1, 4]");
  inputs["x"] = MaceTensor({3, 4}, nullptr);
  ASSERT_OK(open.engine->Describe(&inputs, &outputs));
  EXPECT_EQ(outputs["y"].shape(), (Dims{3, 4}));

  const MadeEngine limited =
      Make(model().LargestShape({9, 4}).Input("x", {-1, 4}));
  ASSERT_OK(limited.status);
  inputs.clear();
  ASSERT_OK(limited.engine->Describe(&inputs, &outputs));
  EXPECT_EQ(outputs["y"].shape(), (Dims{9, 4}));

  status = limited.engine->Describe(nullptr, &outputs);
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  inputs = {{"other", MaceTensor({3, 4}, nullptr)}};
  EXPECT_MENTIONS(limited.engine->Describe(&inputs, &outputs), "'other'");
}

TEST(EngineBorderTest, DescribesTypes) {
  MakeOptions options;
  options.outputs = {"i"};
  const MadeEngine made = Make(ModelBuilder()
                                   .Input("i", {2}, DataType::kInt32)
                                   .Output("i", DataFormat::NONE),
                               options);
  ASSERT_OK(made.status);
  Tensors inputs;
  Tensors outputs;
  ASSERT_OK(made.engine->Describe(&inputs, &outputs));
  EXPECT_EQ(inputs["i"].data_type(), IDataType::IDT_INT32);
  EXPECT_EQ(outputs["i"].data_type(), IDataType::IDT_INT32);
  EXPECT_EQ(outputs["i"].data_format(), DataFormat::NONE);
  // What has no elements can't be run.
  EXPECT_CODE(made.engine->Run(inputs, &outputs), MACE_INVALID_ARGS);
}

}  // namespace
}  // namespace mace
