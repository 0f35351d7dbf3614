// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Activations in 16 bits: where the engine inserts conversions.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"

namespace mace {
namespace core_test {
namespace {

ModelBuilder HalfModel() {
  ModelBuilder model;
  model.DataTypes("fp16_fp16");
  return model;
}

// The types of the operators in execution order, from their descriptions.
std::vector<std::string> Types(const MaceEngine &engine) {
  std::vector<std::string> types;
  std::string text = engine.Explain();
  for (size_t line = text.find('\n'); line + 1 < text.size();
       line = text.find('\n', line + 1)) {
    const size_t begin = text.find(' ', line) + 1;
    std::string type = text.substr(begin, text.find(' ', begin) - begin);
    const size_t end = text.find('\n', line + 1);
    const bool half =
        text.substr(line, end - line).find("float16[") != std::string::npos;
    types.push_back(type + (half ? "/16" : ""));
  }
  return types;
}

using Names = std::vector<std::string>;

std::vector<float> RunOnce(const MadeEngine &made,
                           const std::vector<float> &x,
                           const std::string &output) {
  const auto count = static_cast<int64_t>(x.size());
  Tensors outputs = {{output, Room(count)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({1, count}, x)}}, &outputs);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  return Values(outputs.at(output));
}

TEST(EngineHalfTest, ConvertsAtInputsAndOutputsOnly) {
  MadeEngine made = Make(HalfModel()
                             .Input("x", {1, 3})
                             .Operator("a", "TestHalf", {"x"}, {"a"})
                             .Operator("b", "TestMove", {"a"}, {"b"})
                             .Operator("c", "TestHalf", {"b", "a"}, {"c"})
                             .Output("c"));
  ASSERT_OK(made.status);
  EXPECT_EQ(Types(*made.engine), (Names{"Cast/16", "TestHalf/16", "TestMove/16",
                                        "TestHalf/16", "Cast"}));
  EXPECT_EQ(RunOnce(made, {1, 2, 2049}, "c"),
            (std::vector<float>{6, 12, 12288}));
}

TEST(EngineHalfTest, AllReadersShareAConversion) {
  MadeEngine made =
      Make(HalfModel()
               .Input("x", {1, 2})
               .Operator("a", "TestHalf", {"x"}, {"a"})
               .Operator("b", "TestAffine", {"a"}, {"b"}, {Scale(3)})
               .Operator("c", "TestAffine", {"a"}, {"c"}, {Scale(5)})
               .Operator("d", "TestAdd", {"b", "c"}, {"d"})
               .Operator("e", "TestHalf", {"d", "x"}, {"e"})
               .Output("e"));
  ASSERT_OK(made.status);
  EXPECT_EQ(Types(*made.engine),
            (Names{"Cast/16", "TestHalf/16", "Cast", "TestAffine", "TestAffine",
                   "TestAdd", "Cast/16", "TestHalf/16", "Cast"}));
  EXPECT_EQ(RunOnce(made, {1, 3}, "e"), (std::vector<float>{33, 99}));
}

// An operator with follows_inputs stays in float32 unless all its inputs are
// float16.
TEST(EngineHalfTest, FollowersNeedAllInputs) {
  MadeEngine made = Make(HalfModel()
                             .Input("x", {1, 2})
                             .Operator("a", "TestHalf", {"x"}, {"a"})
                             .Operator("b", "TestMove", {"a", "x"}, {"b"})
                             .Operator("c", "TestMove", {"x"}, {"c"})
                             .Operator("d", "TestAdd", {"b", "c"}, {"d"})
                             .Output("d"));
  ASSERT_OK(made.status);
  EXPECT_EQ(Types(*made.engine), (Names{"Cast/16", "TestHalf/16", "Cast",
                                        "TestMove", "TestMove", "TestAdd"}));
  EXPECT_EQ(RunOnce(made, {1, 3}, "d"), (std::vector<float>{3, 9}));
}

// A float32 constant does not matter if the signature accepts it, as for the
// second input.
TEST(EngineHalfTest, FollowersMayTakeConstantsInFloat) {
  MadeEngine made = Make(HalfModel()
                             .Input("x", {1, 2})
                             .Constant("k", {1, 2}, Ramp(2, 0))
                             .Operator("a", "TestHalf", {"x"}, {"a"})
                             .Operator("b", "TestMove", {"a", "k"}, {"b"})
                             .Operator("c", "TestMove", {"b", "b", "k"}, {"c"})
                             .Output("c"));
  ASSERT_OK(made.status);
  EXPECT_EQ(Types(*made.engine), (Names{"Cast/16", "TestHalf/16", "TestMove/16",
                                        "Cast", "TestMove"}));
  EXPECT_EQ(RunOnce(made, {1, 3}, "c"), (std::vector<float>{2, 6}));
}

// Also in the middle of the graph: outputs have the model's names, and are
// float32 unless another type is requested.
TEST(EngineHalfTest, OutputsKeepNameAndType) {
  MakeOptions options;
  options.outputs = {"a", "c"};
  MadeEngine made = Make(HalfModel()
                             .Input("x", {1, 2})
                             .Operator("a", "TestHalf", {"x"}, {"a"})
                             .Operator("c", "TestHalf", {"a"}, {"c"})
                             .Output("c"),
                         options);
  ASSERT_OK(made.status);
  Tensors outputs = {
      {"a", MaceTensor({2},
                       std::shared_ptr<float>(new float[2],
                                              [](float *p) { delete[] p; }),
                       DataFormat::NHWC, IDataType::IDT_NOT_SET)},
      {"c", Room(2)}};
  ASSERT_OK(made.engine->Run({{"x", Floats({1, 2}, {1, -3})}}, &outputs));
  EXPECT_EQ(Values(outputs.at("a")), (std::vector<float>{2, -6}));
  EXPECT_EQ(Values(outputs.at("c")), (std::vector<float>{4, -12}));
}

TEST(EngineHalfTest, ConvertsToBfloat16WhereTheModelAsksForIt) {
  MadeEngine made = Make(ModelBuilder()
                             .DataTypes("bf16_bf16")
                             .Input("x", {1, 3})
                             .Operator("a", "TestHalf", {"x"}, {"a"})
                             .Operator("b", "TestMove", {"a"}, {"b"})
                             .Output("b"));
  ASSERT_OK(made.status);
  EXPECT_NE(made.engine->Explain().find(" bfloat16["), std::string::npos);
  // The output is not rounded by the operator that makes it.
  EXPECT_EQ(Types(*made.engine),
            (Names{"Cast/16", "TestHalf/16", "Cast", "TestMove"}));
  EXPECT_EQ(RunOnce(made, {1, 257, 70000}, "b"),
            (std::vector<float>{2, 512, 140288}));
}

// An operator that converts float32 itself gets the tensor without a Cast.
TEST(EngineHalfTest, PutsNoConversionWhereFloatsAreTaken) {
  MadeEngine made = Make(HalfModel()
                             .Input("x", {1, 2})
                             .Operator("a", "TestNarrow", {"x", "x"}, {"a"})
                             .Operator("b", "TestNarrow", {"a"}, {"b"})
                             .Output("b"));
  ASSERT_OK(made.status);
  EXPECT_EQ(Types(*made.engine),
            (Names{"Cast/16", "TestNarrow/16", "TestNarrow/16", "Cast"}));
  made = Make(HalfModel()
                  .Input("x", {1, 2})
                  .Operator("a", "TestNarrow", {"x"}, {"a"})
                  .Output("a"));
  ASSERT_OK(made.status);
  EXPECT_EQ(Types(*made.engine), (Names{"TestNarrow/16", "Cast"}));
  EXPECT_EQ(RunOnce(made, {1, 3}, "a"), (std::vector<float>{2, 6}));
}

TEST(EngineHalfTest, FindsInfinityOfFloat16) {
  MakeOptions options;
  ASSERT_OK(options.config.SetOutOfRangeCheck(true));
  MadeEngine made = Make(HalfModel()
                             .Input("x", {1, 2})
                             .Operator("a", "TestHalf", {"x"}, {"a"})
                             .Output("a"),
                         options);
  ASSERT_OK(made.status);
  Tensors outputs = {{"a", Room(2)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({1, 2}, {1, 40000})}}, &outputs);
  EXPECT_CODE(status, MACE_RUNTIME_ERROR);
  EXPECT_MENTIONS(status, "'a' (TestHalf)");
}

}  // namespace
}  // namespace core_test
}  // namespace mace
