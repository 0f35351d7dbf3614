// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/testing/model_builder.h"

namespace mace {
namespace {

using core_test::ModelBuilder;

MaceStatus Structure(const ModelBuilder &builder) {
  const Result<Model> model =
      ReadModel(builder.graph().data(), builder.graph().size());
  if (!model.ok()) return model.status();
  return CheckModelStructure(model.value(), builder.weights().size());
}

MaceStatus Operators(const ModelBuilder &builder) {
  const std::string graph = builder.graph();
  const Result<Model> model = ReadModel(graph.data(), graph.size());
  if (!model.ok()) return model.status();
  MACE_RETURN_IF_ERROR(
      CheckModelStructure(model.value(), builder.weights().size()));
  return CheckOperators(model.value());
}

#define EXPECT_STATUS(status, expected, text)                     \
  do {                                                            \
    const MaceStatus result = (status);                           \
    EXPECT_EQ(result.code(), MaceStatus::expected);               \
    EXPECT_NE(result.information().find(text), std::string::npos) \
        << result.information();                                  \
  } while (false)

TEST(CheckModelStructureTest, TensorsAreProducedOnceAndBeforeTheyAreRead) {
  EXPECT_STATUS(Structure(ModelBuilder().Input("x", {1}).Input("x", {1})),
                MACE_INVALID_ARGS, "'x' is produced twice");
  EXPECT_STATUS(Structure(ModelBuilder()
                              .Input("x", {1})
                              .Operator("a", "T", {"x"}, {"y"})
                              .Operator("b", "T", {"x"}, {"y"})),
                MACE_INVALID_ARGS, "'y' is produced twice");
  EXPECT_STATUS(Structure(ModelBuilder()
                              .Input("x", {1})
                              .Operator("b", "T", {"y"}, {"z"})
                              .Operator("a", "T", {"x"}, {"y"})),
                MACE_INVALID_ARGS, "operator 'b' (T) reads 'y'");
  EXPECT_STATUS(Structure(ModelBuilder().Operator("a", "T", {"y"}, {"y"})),
                MACE_INVALID_ARGS, "reads 'y'");
  EXPECT_STATUS(Structure(ModelBuilder()
                              .Input("x", {1})
                              .Operator("a", "T", {"x"}, {"y"})
                              .Operator("a", "T", {"x"}, {"z"})),
                MACE_INVALID_ARGS, "two operators are called 'a'");
  EXPECT_STATUS(Structure(ModelBuilder().Input("x", {1}).Output("y")),
                MACE_INVALID_ARGS, "output 'y'");
}

TEST(CheckModelStructureTest, AllProblemsComeAtOnce) {
  const MaceStatus status = Structure(ModelBuilder()
                                          .Input("x", {1})
                                          .Input("x", {1})
                                          .Operator("a", "T", {"u"}, {"v"})
                                          .Output("w"));
  for (const char *text : {"'x'", "'u'", "'w'", "3 rule(s)"}) {
    EXPECT_NE(status.information().find(text), std::string::npos) << text;
  }
}

MaceStatus OneConstant(const std::vector<int64_t> &dims,
                       DataType type,
                       ConstantLayout layout,
                       uint64_t groups,
                       uint64_t offset,
                       uint64_t size) {
  ModelBuilder builder;
  builder.Constant("pad", {256}, std::vector<float>(256));
  builder.RawConstant("c", dims, type, layout, groups, offset, size);
  return Structure(builder);
}

TEST(CheckModelStructureTest, TheLargestShapeSuitsTheShape) {
  const auto with = [](const core_test::Dims &largest) {
    return Structure(
        ModelBuilder().LargestShape(largest).Input("x", {2, -1, -1}));
  };
  EXPECT_TRUE(with({2, 5, 0}) == MaceStatus::MACE_SUCCESS);
  EXPECT_STATUS(with({2, 5}), MACE_INVALID_ARGS,
                "input 'x' has the largest shape [2, 5], which does not match "
                "its shape [2, -1, -1]");
  EXPECT_STATUS(with({3, 5, 1}), MACE_INVALID_ARGS, "does not match");
  EXPECT_STATUS(with({2, int64_t{1} << 40, int64_t{1} << 40}),
                MACE_INVALID_ARGS, "does not match");
}

TEST(CheckModelStructureTest, ConstantsLieInTheData) {
  const auto plain = ConstantLayout::kPlain;
  EXPECT_STATUS(OneConstant({16}, DataType::kFloat32, plain, 0, 64, 64),
                MACE_SUCCESS, "");
  EXPECT_STATUS(OneConstant({16}, DataType::kFloat32, plain, 0, 32, 64),
                MACE_INVALID_ARGS, "multiple of 64");
  EXPECT_STATUS(OneConstant({16}, DataType::kFloat32, plain, 0, 64, 63),
                MACE_INVALID_ARGS, "takes 64 bytes, the file has 63");
  EXPECT_STATUS(OneConstant({16}, DataType::kFloat32, plain, 0, 1024, 64),
                MACE_INVALID_ARGS, "outside");
  EXPECT_STATUS(
      OneConstant({16}, DataType::kFloat32, plain, 0, UINT64_MAX - 63, 64),
      MACE_INVALID_ARGS, "outside");
  EXPECT_STATUS(
      OneConstant({INT64_MAX, INT64_MAX}, DataType::kFloat32, plain, 0, 0, 0),
      MACE_INVALID_ARGS, "too large");
  EXPECT_STATUS(OneConstant({4}, DataType::kUnknown, plain, 0, 0, 16),
                MACE_INVALID_ARGS, "no element type");
  EXPECT_STATUS(OneConstant({0}, DataType::kFloat32, plain, 0, 0, 0),
                MACE_SUCCESS, "");
}

MaceStatus QuantizedInput(const std::vector<float> &scales,
                          const std::vector<int64_t> &zero_points,
                          int64_t axis,
                          DataType type = DataType::kUint8,
                          const std::vector<int64_t> &dims = {1, -1, 3, 2},
                          DataFormat format = DataFormat::NHWC) {
  return Structure(ModelBuilder()
                       .Quantized({core_test::QuantizationMessage(
                           scales, zero_points, axis)})
                       .Input("x", dims, type, format));
}

TEST(CheckModelStructureTest, QuantizationFitsTheValue) {
  EXPECT_STATUS(QuantizedInput({0.5f}, {255}, 0), MACE_SUCCESS, "");
  EXPECT_STATUS(QuantizedInput({0.5f, 1}, {}, 3), MACE_SUCCESS, "");
  // Any number is possible for an unknown dimension.
  EXPECT_STATUS(QuantizedInput({0.5f, 1}, {}, 1), MACE_SUCCESS, "");
  EXPECT_STATUS(QuantizedInput({0.5f}, {}, 0, DataType::kFloat32),
                MACE_INVALID_ARGS, "input 'x': it is float32; quantized");
  EXPECT_STATUS(QuantizedInput({}, {1}, 0), MACE_INVALID_ARGS, "no scale");
  EXPECT_STATUS(QuantizedInput({0}, {}, 0), MACE_INVALID_ARGS,
                "scale 0 is not finite and above 0");
  EXPECT_STATUS(QuantizedInput({1, NAN}, {}, 3), MACE_INVALID_ARGS,
                "scale nan is not");
  EXPECT_STATUS(QuantizedInput({1, 2}, {1}, 3), MACE_INVALID_ARGS,
                "2 scale(s) but 1 zero point(s)");
  EXPECT_STATUS(QuantizedInput({1}, {256}, 0), MACE_INVALID_ARGS,
                "zero point 256 does not fit into uint8");
  EXPECT_STATUS(QuantizedInput({1}, {-1}, 0), MACE_INVALID_ARGS,
                "zero point -1 does not fit into uint8");
  EXPECT_STATUS(QuantizedInput({1}, {}, 2), MACE_INVALID_ARGS,
                "axis 2 for one scale");
  EXPECT_STATUS(QuantizedInput({1, 2}, {}, 4), MACE_INVALID_ARGS,
                "scales for axis 4 of");
  EXPECT_STATUS(QuantizedInput({1, 2}, {}, 2), MACE_INVALID_ARGS,
                "2 scales for axis 2 of [1, -1, 3, 2]");
}

TEST(CheckModelStructureTest, TheAxisIsThatInsideTheModel) {
  EXPECT_STATUS(QuantizedInput({1, 2}, {}, 3, DataType::kInt8, {1, 2, 5, 5},
                               DataFormat::NCHW),
                MACE_SUCCESS, "");
  EXPECT_STATUS(QuantizedInput({1, 2}, {}, 1, DataType::kInt8, {1, 2, 5, 5},
                               DataFormat::NCHW),
                MACE_INVALID_ARGS, "2 scales for axis 1 of [1, 5, 5, 2]");
}

TEST(CheckModelStructureTest, QuantizationOfAllValuesIsChecked) {
  using core_test::QuantizationMessage;
  const std::string half = QuantizationMessage({0.5f});
  ModelBuilder builder;
  builder.Constant("pad", {256}, std::vector<float>(256));
  builder.Input("x", {1}, DataType::kInt8)
      .Quantized({half})
      .RawConstant("float", {4}, DataType::kFloat32, ConstantLayout::kPlain, 0,
                   0, 16)
      .Quantized({half})
      .RawConstant("packed", {16, 1}, DataType::kInt8,
                   ConstantLayout::kPackedO16Scaled, 1, 0, 144)
      .Quantized({half, half})
      .Operator("a", "T", {"x"}, {"y"})
      .Quantized({half})
      .Operator("b", "T", {"x"}, {"z"})
      .Quantized({QuantizationMessage({2})})
      .Output("z")
      .Quantized({half})
      .Output("x")
      .State("x", "z");
  const MaceStatus status = Structure(builder);
  for (const char *text :
       {"constant 'float': it is float32", "constant 'packed': it is packed",
        "'a' (T) has 1 output(s), but quantizations for 2",
        "output 'z' declares the quantization scale 2, but its tensor has "
        "scale 0.5",
        "output 'x' declares the quantization scale 0.5, but its tensor has "
        "none",
        "state 'x' has the quantization none, but 'z', its next value, has "
        "scale 0.5"}) {
    EXPECT_NE(status.information().find(text), std::string::npos)
        << text << " in " << status.information();
  }
}

TEST(CheckModelStructureTest, PackedConstantsArePaddedByGroup) {
  const auto packed = ConstantLayout::kPackedO16;
  // 2 groups of 3 channels, each padded to 16, times depth 4.
  EXPECT_STATUS(
      OneConstant({6, 1, 2, 2}, DataType::kFloat16, packed, 2, 0, 256),
      MACE_SUCCESS, "");
  EXPECT_STATUS(OneConstant({17, 4}, DataType::kFloat16, packed, 0, 0, 256),
                MACE_SUCCESS, "");
  EXPECT_STATUS(OneConstant({6, 4}, DataType::kFloat16, packed, 4, 0, 256),
                MACE_INVALID_ARGS, "cannot be packed");
  EXPECT_STATUS(OneConstant({6, 2, 2}, DataType::kFloat16, packed, 1, 0, 256),
                MACE_INVALID_ARGS, "cannot be packed");
}

TEST(CheckModelStructureTest, PairsAreOfBfloat16AndOfEvenChannels) {
  const auto pairs = ConstantLayout::kPackedO16Pairs;
  const auto bf16 = DataType::kBfloat16;
  // Three channels of two pixels are stored as four each, times 16 columns of 2
  // bytes.
  EXPECT_STATUS(OneConstant({5, 1, 2, 3}, bf16, pairs, 1, 0, 256), MACE_SUCCESS,
                "");
  EXPECT_STATUS(OneConstant({5, 8}, bf16, pairs, 1, 0, 256), MACE_SUCCESS, "");
  EXPECT_STATUS(OneConstant({5, 1, 2, 3}, bf16, pairs, 1, 0, 192),
                MACE_INVALID_ARGS, "takes 256 bytes");
  EXPECT_STATUS(OneConstant({5, 8}, DataType::kFloat16, pairs, 1, 0, 256),
                MACE_INVALID_ARGS, "layout 2 cannot store float16");
}

TEST(CheckModelStructureTest, ScalesComeWithInt8) {
  const auto scaled = ConstantLayout::kPackedO16Scaled;
  const auto int8 = DataType::kInt8;
  // 2 groups of 17 channels are 2 x 2 blocks, each of 16 scales, 16 offsets and
  // 16 columns of 6.
  EXPECT_STATUS(OneConstant({34, 1, 2, 3}, int8, scaled, 2, 0, 896),
                MACE_SUCCESS, "");
  EXPECT_STATUS(OneConstant({5, 8}, int8, scaled, 1, 0, 256), MACE_SUCCESS, "");
  EXPECT_STATUS(OneConstant({5, 8}, int8, scaled, 1, 0, 128), MACE_INVALID_ARGS,
                "takes 256 bytes");
  EXPECT_STATUS(OneConstant({5, 8, 1}, int8, scaled, 1, 0, 192),
                MACE_INVALID_ARGS, "cannot be packed");
  EXPECT_STATUS(OneConstant({1 << 30, 1 << 30}, int8, scaled, 1, 0, 0),
                MACE_INVALID_ARGS, "too large");
  for (DataType type : {DataType::kFloat32, DataType::kUint8}) {
    EXPECT_STATUS(OneConstant({5, 8}, type, scaled, 1, 0, 192),
                  MACE_INVALID_ARGS, "layout 3 cannot store");
  }
  EXPECT_STATUS(
      OneConstant({5, 8}, int8, ConstantLayout::kPackedO16, 1, 0, 128),
      MACE_INVALID_ARGS, "layout 1 cannot store int8");
}

TEST(CheckModelStructureTest, FoursAreOfMatricesOfBytes) {
  const auto fours = ConstantLayout::kPackedN16Fours;
  // 2 matrices of two blocks of 16 columns, each with 8 rows and a sum of 4
  // bytes.
  for (DataType type : {DataType::kInt8, DataType::kUint8}) {
    EXPECT_STATUS(OneConstant({2, 5, 17}, type, fours, 0, 0, 768), MACE_SUCCESS,
                  "");
  }
  const auto int8 = DataType::kInt8;
  EXPECT_STATUS(OneConstant({4, 16}, int8, fours, 0, 0, 64), MACE_INVALID_ARGS,
                "takes 128 bytes");
  EXPECT_STATUS(OneConstant({64}, int8, fours, 0, 0, 64), MACE_INVALID_ARGS,
                "cannot be packed");
  EXPECT_STATUS(OneConstant({1 << 30, 0, 16}, int8, fours, 0, 0, 0),
                MACE_INVALID_ARGS, "cannot be packed");
  EXPECT_STATUS(OneConstant({1 << 30, 1 << 30}, int8, fours, 0, 0, 0),
                MACE_INVALID_ARGS, "too large");
  EXPECT_STATUS(OneConstant({4, 16}, DataType::kInt32, fours, 0, 0, 128),
                MACE_INVALID_ARGS, "layout 4 cannot store int32");
}

TEST(CheckModelStructureTest, FiltersInFoursHaveFoursOfChannels) {
  const auto fours = ConstantLayout::kPackedO16Fours;
  const auto int8 = DataType::kInt8;
  // 2 groups of a block of 16 outputs each.
  EXPECT_STATUS(OneConstant({6, 3, 1, 8}, int8, fours, 2, 0, 768), MACE_SUCCESS,
                "");
  EXPECT_STATUS(OneConstant({17, 4}, int8, fours, 1, 0, 128), MACE_SUCCESS, "");
  EXPECT_STATUS(OneConstant({17, 4}, int8, fours, 1, 0, 64), MACE_INVALID_ARGS,
                "takes 128 bytes");
  EXPECT_STATUS(OneConstant({5, 2, 2, 6}, int8, fours, 1, 0, 384),
                MACE_INVALID_ARGS, "cannot be packed");
  EXPECT_STATUS(OneConstant({5, 8}, DataType::kUint8, fours, 1, 0, 128),
                MACE_INVALID_ARGS, "layout 5 cannot store uint8");
}

TEST(CheckModelStructureTest, TheDataHasTheSizeTheModelSays) {
  EXPECT_STATUS(Structure(ModelBuilder().DataSize(100)), MACE_INVALID_ARGS,
                "100 bytes, but was given 0");
}

TEST(CheckOperatorsTest, NamesWhatALibraryWasBuiltWithout) {
  const MaceStatus status =
      Operators(ModelBuilder()
                    .Input("x", {1})
                    .Operator("a", "TestMissing", {"x"}, {"y"})
                    .Operator("b", "TestAffine", {"y"}, {"z"})
                    .Operator("c", "TestLeftOut", {"z"}, {"w"})
                    .Operator("d", "TestMissing", {"w"}, {"v"}));
  EXPECT_EQ(status.code(), MaceStatus::MACE_UNSUPPORTED);
  for (const char *text :
       {"1 operator problem(s)",
        "built without the operator(s) TestLeftOut,TestMissing;",
        "tools/build-standalone-lib.sh -models=",
        "-ops=TestLeftOut,TestMissing"}) {
    EXPECT_NE(status.information().find(text), std::string::npos)
        << text << " in " << status.information();
  }
}

TEST(CheckOperatorsTest, UnsupportedOperatorsAreListedAllAtOnce) {
  const MaceStatus status =
      Operators(ModelBuilder()
                    .Input("x", {1})
                    .Operator("a", "TestAffin", {"x"}, {"y"})
                    .Operator("b", "TestGpuOnly", {"y"}, {"z"})
                    .Operator("c", "TestAffine", {"y"}, {"w"},
                              {core_test::IntAttribute("novel", 1)}));
  EXPECT_EQ(status.code(), MaceStatus::MACE_UNSUPPORTED);
  for (const char *text :
       {"3 operator problem(s)", "operator 'a' (TestAffin)",
        "the nearest are 'TestAffine'", "no such operator for CPU",
        "operator 'b' (TestGpuOnly)", "it runs on GPU",
        "does not know attribute 'novel'"}) {
    EXPECT_NE(status.information().find(text), std::string::npos)
        << text << " in " << status.information();
  }
}

TEST(CheckOperatorsTest, PortsFitTheSchema) {
  const auto one = [](const std::string &type,
                      const std::vector<std::string> &inputs,
                      const std::vector<std::string> &outputs) {
    return Operators(ModelBuilder()
                         .Input("x", {1})
                         .Constant("c", {1}, std::vector<float>{1})
                         .Constant("i", {1}, std::vector<int32_t>{1})
                         .RawConstant("p", {1, 1}, DataType::kFloat32,
                                      ConstantLayout::kPackedO16, 1, 0, 64)
                         .Constant("room", {16}, std::vector<float>(16))
                         .Operator("op", type, inputs, outputs));
  };
  EXPECT_STATUS(one("TestAdd", {"x", "c"}, {"y"}), MACE_SUCCESS, "");
  EXPECT_STATUS(one("TestAdd", {"x"}, {"y"}), MACE_INVALID_ARGS,
                "lacks its input 'y'");
  EXPECT_STATUS(one("TestAdd", {"", "x"}, {"y"}), MACE_INVALID_ARGS,
                "lacks its input 'x'");
  EXPECT_STATUS(one("TestAdd", {"x", "x", "x"}, {"y"}), MACE_INVALID_ARGS,
                "at most 2");
  EXPECT_STATUS(one("TestAdd", {"x", "c"}, {}), MACE_INVALID_ARGS,
                "lacks its output 'output'");
  EXPECT_STATUS(one("TestAdd", {"x", "c"}, {""}), MACE_INVALID_ARGS,
                "lacks its output");
  EXPECT_STATUS(one("TestSplit", {"x"}, {"a", "b", "d"}), MACE_SUCCESS, "");
  EXPECT_STATUS(one("TestAdd", {"x", "i"}, {"y"}), MACE_INVALID_ARGS,
                "constant 'i' is int32");
  EXPECT_STATUS(one("TestAdd", {"x", "p"}, {"y"}), MACE_INVALID_ARGS,
                "'p' is packed");
  EXPECT_STATUS(one("TestPacked", {"x", "p"}, {"y"}), MACE_SUCCESS, "");
  EXPECT_STATUS(one("TestPacked", {"x", "c"}, {"y"}), MACE_INVALID_ARGS,
                "'c' is plain");
  EXPECT_STATUS(one("TestPacked", {"x", "x"}, {"y"}), MACE_INVALID_ARGS,
                "must be a constant");
}

TEST(CheckOperatorsTest, AttributesHaveTheirKind) {
  const auto with = [](const std::vector<std::string> &attributes) {
    return Operators(ModelBuilder().Input("x", {1}).Operator(
        "op", "TestAffine", {"x"}, {"y"}, attributes));
  };
  EXPECT_STATUS(with({core_test::FloatAttribute("scale", 1)}), MACE_SUCCESS,
                "");
  EXPECT_STATUS(with({core_test::IntAttribute("scale", 1)}), MACE_INVALID_ARGS,
                "is of kind int, not float");
  EXPECT_STATUS(with({core_test::FloatAttribute("scale", 1),
                      core_test::FloatAttribute("scale", 2)}),
                MACE_INVALID_ARGS, "set twice");
}

TEST(CheckOperatorsTest, AHopelessModelDoesNotFillTheScreen) {
  ModelBuilder builder;
  builder.Input("x", {1});
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    builder.Operator("op" + number, "Fancy", {"x"}, {"y" + number});
  }
  const std::string text = Operators(builder).information();
  EXPECT_NE(text.find("1000 operator problem(s)"), std::string::npos);
  EXPECT_NE(text.find("and 960 more"), std::string::npos);
}

}  // namespace
}  // namespace mace
