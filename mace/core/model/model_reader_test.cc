// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "mace/core/model/model.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::Message;
using core_test::ModelBuilder;

Result<Model> Read(const std::string &bytes) {
  // A copy of the exact size, so that the address sanitizer sees any read
  // beyond the end.
  std::unique_ptr<char[]> exact(new char[bytes.size()]);
  std::memcpy(exact.get(), bytes.data(), bytes.size());
  return ReadModel(exact.get(), bytes.size());
}

#define EXPECT_DAMAGED(bytes, text)                                        \
  do {                                                                     \
    const Result<Model> result = Read(bytes);                              \
    EXPECT_EQ(result.status().code(), MaceStatus::MACE_INVALID_ARGS);      \
    EXPECT_NE(result.status().information().find(text), std::string::npos) \
        << result.status().information();                                  \
  } while (false)

// A model with all features of the format.
ModelBuilder FullModel() {
  ModelBuilder model;
  model.Input("x", {1, -1, 2, 3}, DataType::kFloat32, DataFormat::NCHW, "in")
      .Constant("c", {1, 2, 2, 3}, std::vector<float>(12, 1.5f))
      .Constant("n", {2}, std::vector<int32_t>{2, 3})
      .Operator("add", "TestAdd", {"x", "c"}, {"t"})
      .Operator("scale", "TestAffine", {"t"}, {"y"},
                {core_test::FloatAttribute("scale", 2),
                 core_test::FloatAttribute("offset", -1)})
      .Operator("fill", "TestFill", {"n"}, {"z"},
                {core_test::FloatAttribute("value", 4)})
      .Output("y")
      .Output("z", DataFormat::NONE, "filled");
  return model;
}

TEST(ModelReaderTest, ReadsEveryField) {
  ModelBuilder builder;
  builder.Input("x", {1, -1, 2, 3}, DataType::kFloat16, DataFormat::NCHW, "in")
      .RawConstant("w", {32, 3, 3, 8}, DataType::kBfloat16,
                   ConstantLayout::kPackedO16, 2, 64, 9216)
      .Operator("conv", "Conv2D", {"x", "w", ""}, {"y"},
                {core_test::IntAttribute("groups", 2),
                 core_test::FloatAttribute("limit", 6),
                 core_test::StringAttribute("padding", "SAME"),
                 core_test::IntsAttribute("strides", {2, -1})})
      .Output("y", DataFormat::NHWC, "out")
      .DataSize(9280)
      .Crc32(0xdeadbeef)
      .Winograd(2);
  const Result<Model> result = Read(builder.graph());
  ASSERT_TRUE(result.ok()) << result.status().information();
  const Model &model = result.value();
  EXPECT_EQ(model.format_version, 1u);
  EXPECT_EQ(model.name, "test_model");
  EXPECT_EQ(model.producer, "model_builder");
  EXPECT_EQ(model.data_size, 9280u);
  EXPECT_EQ(model.data_crc32, 0xdeadbeefu);
  EXPECT_EQ(model.hints.winograd, 2);
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].name, "x");
  EXPECT_EQ(model.inputs[0].alias, "in");
  EXPECT_EQ(model.inputs[0].shape, Shape({1, -1, 2, 3}));
  EXPECT_EQ(model.inputs[0].data_type, DataType::kFloat16);
  EXPECT_EQ(model.inputs[0].data_format, DataFormat::NCHW);
  ASSERT_EQ(model.outputs.size(), 1u);
  EXPECT_EQ(model.outputs[0].alias, "out");
  ASSERT_EQ(model.constants.size(), 1u);
  const ConstantInfo &constant = model.constants[0];
  EXPECT_EQ(constant.dims, Shape({32, 3, 3, 8}));
  EXPECT_EQ(constant.data_type, DataType::kBfloat16);
  EXPECT_EQ(constant.layout, ConstantLayout::kPackedO16);
  EXPECT_EQ(constant.groups, 2);
  EXPECT_EQ(constant.offset, 64u);
  EXPECT_EQ(constant.size, 9216u);
  ASSERT_EQ(model.operators.size(), 1u);
  const OperatorDef &def = model.operators[0];
  EXPECT_EQ(def.type, "Conv2D");
  EXPECT_EQ(def.inputs, (std::vector<std::string>{"x", "w", ""}));
  ASSERT_EQ(def.attributes.size(), 4u);
  EXPECT_EQ(def.FindAttribute("groups")->i, 2);
  EXPECT_EQ(def.FindAttribute("limit")->f, 6);
  EXPECT_EQ(def.FindAttribute("padding")->s, "SAME");
  EXPECT_EQ(def.FindAttribute("strides")->ints, (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(def.FindAttribute("pads"), nullptr);
}

TEST(ModelReaderTest, ReadsWhatIntegersStandFor) {
  using core_test::QuantizationMessage;
  const Result<Model> result =
      Read(ModelBuilder()
               .Quantized({QuantizationMessage({0.5f}, {3})})
               .Input("x", {1, 2}, DataType::kUint8)
               .Input("plain", {1, 2}, DataType::kInt8)
               .Quantized({QuantizationMessage({0.25f, 2}, {-1, 1}, 1)})
               .RawConstant("w", {3, 2}, DataType::kInt8,
                            ConstantLayout::kPlain, 0, 0, 6)
               .Quantized({"", QuantizationMessage({4})})
               .Operator("op", "T", {"x"}, {"y", "z"})
               .Quantized({QuantizationMessage({4})})
               .Output("z")
               .graph());
  ASSERT_TRUE(result.ok()) << result.status().information();
  const Model &model = result.value();
  EXPECT_EQ(model.inputs[0].quantization, (Quantization{{0.5f}, {3}, 0}));
  EXPECT_FALSE(model.inputs[1].quantization.quantized());
  EXPECT_EQ(model.constants[0].quantization,
            (Quantization{{0.25f, 2}, {-1, 1}, 1}));
  ASSERT_EQ(model.operators[0].output_quantization.size(), 2u);
  EXPECT_FALSE(model.operators[0].output_quantization[0].quantized());
  EXPECT_EQ(model.operators[0].output_quantization[1],
            (Quantization{{4}, {}, 0}));
  EXPECT_EQ(model.outputs[0].quantization, (Quantization{{4}, {}, 0}));
}

TEST(ModelReaderTest, ReadsToWhichSubgraphOperatorsBelong) {
  const auto builder = [] {
    return ModelBuilder()
        .Input("x", {1})
        .Subgraph("front")
        .Operator("a", "T", {"x"}, {"y"})
        .Subgraph("back")
        .Operator("b", "T", {"y"}, {"z"})
        .Output("z");
  };
  const Result<Model> result = Read(builder().graph());
  ASSERT_TRUE(result.ok()) << result.status().information();
  EXPECT_EQ(result.value().subgraphs,
            (std::vector<std::string>{"front", "back"}));
  EXPECT_EQ(result.value().operators[0].subgraph, 0u);
  EXPECT_EQ(result.value().operators[1].subgraph, 1u);
  EXPECT_TRUE(CheckModelStructure(result.value(), 0) ==
              MaceStatus::MACE_SUCCESS);

  Model wrong = Read(builder().Subgraph("back").Subgraph("").graph()).value();
  wrong.operators[1].subgraph = 4;
  const std::string problems = CheckModelStructure(wrong, 0).information();
  for (const char *problem :
       {"two subgraphs are called 'back'", "a subgraph has no name",
        "belongs to subgraph 4, but there are 4"}) {
    EXPECT_NE(problems.find(problem), std::string::npos) << problems;
  }
}

TEST(ModelReaderTest, TakesPrecisionFromTheTypesOfWeightsAndArithmetic) {
  EXPECT_EQ(Read(FullModel().graph()).value().hints.precision,
            Precision::kFloat32);
  const std::pair<const char *, Precision> kCases[] = {
      {"fp32_fp32", Precision::kFloat32},  {"fp16_fp32", Precision::kFloat32},
      {"bf16_fp32", Precision::kFloat32},  {"fp16_fp16", Precision::kFloat16},
      {"bf16_bf16", Precision::kBfloat16},
  };
  for (const auto &[data_type, precision] : kCases) {
    const Result<Model> result = Read(FullModel().DataTypes(data_type).graph());
    ASSERT_TRUE(result.ok()) << data_type;
    EXPECT_EQ(result.value().hints.precision, precision) << data_type;
    // A GPU stores halves where only the weights are halves on the CPU.
    EXPECT_EQ(result.value().hints.half_storage,
              std::string(data_type) == "fp16_fp32");
  }
  const MaceStatus unknown =
      Read(FullModel().DataTypes("int4_fp16").graph()).status();
  EXPECT_EQ(unknown.code(), MaceStatus::MACE_UNSUPPORTED);
  const std::string text = unknown.information();
  EXPECT_NE(text.find("'int4_fp16'"), std::string::npos) << text;
  EXPECT_NE(text.find("bf16_bf16"), std::string::npos) << text;
}

TEST(ModelReaderTest, HandsOnTheHintsOfDevices) {
  EXPECT_EQ(Read(FullModel().graph()).value().hints.encoded, "");
  EXPECT_EQ(Read(FullModel().Opencl(true, 16, "buffer").graph())
                .value()
                .hints.encoded,
            Message().Varint(4, 1).Varint(5, 16).Bytes(8, "buffer").data());
  // Two messages, as encoders may write one.
  const DeploymentHints two =
      Read(FullModel().Winograd(2).Opencl(false, 0, "").graph()).value().hints;
  EXPECT_EQ(two.winograd, 2);
  EXPECT_NE(two.encoded.find("fp16_fp32"), std::string::npos);
  EXPECT_NE(two.encoded.find(Message().Varint(4, 0).data()), std::string::npos);
}

TEST(ModelReaderTest, WinogradIsOffUnlessAskedForAndATileSize) {
  EXPECT_EQ(Read(FullModel().graph()).value().hints.winograd, 0);
  for (uint64_t tile : {0, 2, 4}) {
    const Result<Model> result = Read(FullModel().Winograd(tile).graph());
    ASSERT_TRUE(result.ok()) << result.status().information();
    EXPECT_EQ(result.value().hints.winograd, static_cast<int>(tile));
  }
  EXPECT_DAMAGED(FullModel().Winograd(6).graph(),
                 "winograd is 6; it must be 0, 2 or 4");
}

TEST(ModelReaderTest, AcceptsNumbersPackedOrOneByOne) {
  Message info;
  info.Bytes(1, "x").Varint(2, 5).Varint(2, 7).PackedVarints(2, {9});
  const Result<Model> result =
      Read(Message().Varint(1, 1).Bytes(4, info.data()).data());
  ASSERT_TRUE(result.ok()) << result.status().information();
  EXPECT_EQ(result.value().inputs[0].shape, Shape({5, 7, 9}));
}

TEST(ModelReaderTest, SkipsFieldsItDoesNotKnow) {
  Message info;
  info.Bytes(1, "x").Varint(100, 1).Bytes(101, "new").Float(102, 1);
  Message model;
  model.Varint(1, 1).Bytes(4, info.data()).Bytes(1000, "future");
  const Result<Model> result = Read(model.data());
  ASSERT_TRUE(result.ok()) << result.status().information();
  EXPECT_EQ(result.value().inputs[0].name, "x");
}

TEST(ModelReaderTest, RefusesNewerVersions) {
  const Result<Model> result =
      Read(ModelBuilder().Version(kModelFormatVersion + 1).graph());
  EXPECT_EQ(result.status().code(), MaceStatus::MACE_UNSUPPORTED);
  EXPECT_NE(result.status().information().find("update the library"),
            std::string::npos);
}

TEST(ModelReaderTest, RefusesWhatIsNoModel) {
  EXPECT_EQ(ReadModel(nullptr, 0).status().code(),
            MaceStatus::MACE_INVALID_ARGS);
  EXPECT_DAMAGED(ModelBuilder().Version(0).graph(), "no format version");
  EXPECT_DAMAGED(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16),
                 "not a MACE model");
  EXPECT_DAMAGED(std::string(100, '\0'), "not a MACE model");
  EXPECT_DAMAGED(std::string(100, '\xff'), "not a MACE model");
}

TEST(ModelReaderTest, RefusesASizeThatNoModelHas) {
  const char byte = 8;
  for (const size_t size :
       {size_t{0x80000000u}, SIZE_MAX - SIZE_MAX / 4, SIZE_MAX}) {
    const MaceStatus status = ReadModel(&byte, size).status();
    EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
    EXPECT_NE(status.information().find("size of the graph"), std::string::npos)
        << status.information();
  }
}

TEST(ModelReaderTest, RefusesValuesOutsideTheFormat) {
  const auto with_input = [](const Message &info) {
    return Message().Varint(1, 1).Bytes(4, info.data()).data();
  };
  EXPECT_DAMAGED(with_input(Message().Varint(3, 10)), "element type 10");
  EXPECT_DAMAGED(with_input(Message().Varint(4, 3)), "data format 3");
  EXPECT_DAMAGED(with_input(Message().Varint(2, uint64_t(-2))), "-2");
  EXPECT_DAMAGED(
      with_input(Message().PackedVarints(2, std::vector<uint64_t>(9, 1))),
      "more than 8 dimensions");
  EXPECT_DAMAGED(with_input(Message().Varint(1, 7)), "wire type");
  const auto with_constant = [](const Message &constant) {
    return Message().Varint(1, 1).Bytes(7, constant.data()).data();
  };
  EXPECT_DAMAGED(with_constant(Message().Varint(2, uint64_t(-1))), "-1");
  EXPECT_DAMAGED(with_constant(Message().Varint(4, 6)), "layout 6");
  const Message attribute = Message().Bytes(1, "a");
  const Message def = Message().Bytes(5, attribute.data());
  EXPECT_DAMAGED(Message().Varint(1, 1).Bytes(6, def.data()).data(),
                 "attribute 'a' has no value");
}

// --- Damaged files: nothing may crash. ---

// Loads the bytes into an engine and runs it.
void Try(const std::string &graph, const std::string &weights) {
  std::unique_ptr<char[]> exact(new char[graph.size()]);
  std::memcpy(exact.get(), graph.data(), graph.size());
  const size_t size = (weights.size() + 64) / 64 * 64;
  std::unique_ptr<void, void (*)(void *)> aligned(std::aligned_alloc(64, size),
                                                  std::free);
  std::memcpy(aligned.get(), weights.data(), weights.size());
  std::shared_ptr<MaceEngine> engine;
  MaceEngineConfig config;
  config.SetCPUThreadPolicy(1, AFFINITY_NONE);
  const MaceStatus status = CreateMaceEngineFromProto(
      reinterpret_cast<const unsigned char *>(exact.get()), graph.size(),
      static_cast<const unsigned char *>(aligned.get()), weights.size(), {}, {},
      config, &engine);
  EXPECT_EQ(status == MaceStatus::MACE_SUCCESS, engine != nullptr);
  if (status != MaceStatus::MACE_SUCCESS) {
    EXPECT_GT(status.information().size(), 20u);
  }
}

TEST(DamagedModelTest, TheModelItselfIsGood) {
  const ModelBuilder model = FullModel();
  const Result<Model> result = Read(model.graph());
  ASSERT_TRUE(result.ok());
  const MaceStatus status =
      CheckModelStructure(result.value(), model.weights().size());
  EXPECT_TRUE(IsOk(status)) << status.information();
}

TEST(DamagedModelTest, EveryTruncationIsRefusedOrRead) {
  const std::string graph = FullModel().graph();
  for (size_t size = 0; size < graph.size(); ++size) {
    Try(graph.substr(0, size), FullModel().weights());
  }
}

TEST(DamagedModelTest, EveryByteChangedIsRefusedOrRead) {
  const ModelBuilder model = FullModel();
  const std::string graph = model.graph();
  for (size_t i = 0; i < graph.size(); ++i) {
    for (int change : {0x01, 0x02, 0x80, 0xff}) {
      std::string damaged = graph;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      Try(damaged, model.weights());
    }
  }
}

TEST(DamagedModelTest, RandomDamageIsRefusedOrRead) {
  constexpr uint32_t kSeed = 7;
  std::printf("seed %u\n", kSeed);
  std::mt19937 random(kSeed);
  const ModelBuilder model = FullModel();
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = model.graph();
    const int count = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < count; ++i) {
      const size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = static_cast<char>(random());
          break;
        case 1:
          damaged.erase(at, random() % 8);
          break;
        default:
          damaged.insert(
              at, damaged.substr(random() % damaged.size(), random() % 32));
      }
      if (damaged.empty()) damaged = "x";
    }
    Try(damaged, model.weights());
  }
}

}  // namespace
}  // namespace mace
