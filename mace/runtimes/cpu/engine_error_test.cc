// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::Diamond;
using core_test::DiamondResult;
using core_test::Floats;
using core_test::MadeEngine;
using core_test::Make;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::Ramp;
using core_test::Room;
using core_test::Scale;
using core_test::StringAttribute;
using core_test::TensorOf;
using core_test::Tensors;
using core_test::Values;

TEST(EngineErrorTest, NamesMissingAndUnknownInputsTogether) {
  MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  Tensors outputs = {{"s", Room(12)}};
  const MaceStatus status =
      made.engine->Run({{"X", Floats({1, 2, 2, 3}, Ramp(12))}}, &outputs);
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "'X' is not an input; the nearest are 'x'");
  EXPECT_MENTIONS(status, "'x' is missing");
}

TEST(EngineErrorTest, NamesWrongOutputs) {
  MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  const Tensors inputs = {{"x", Floats({1, 2, 2, 3}, Ramp(12))}};
  Tensors outputs = {{"softmax", Room(12)}};
  const MaceStatus status = made.engine->Run(inputs, &outputs);
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "'softmax'");
  EXPECT_MENTIONS(status, "'s'");
  EXPECT_CODE(made.engine->Run(inputs, nullptr), MACE_INVALID_ARGS);
  Tensors none;
  EXPECT_CODE(made.engine->Run(inputs, &none), MACE_INVALID_ARGS);
}

TEST(EngineErrorTest, ChecksShapesBuffersAndTypes) {
  MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  const auto run = [&made](const MaceTensor &x, const MaceTensor &s) {
    Tensors outputs = {{"s", s}};
    return made.engine->Run({{"x", x}}, &outputs);
  };
  const MaceTensor good = Floats({1, 2, 2, 3}, Ramp(12));
  ASSERT_OK(run(good, Room(12)));
  EXPECT_MENTIONS(run(Floats({12}, Ramp(12)), Room(12)), "4 dimensions");
  EXPECT_MENTIONS(run(Floats({1, 2, 2, -3}, Ramp(12)), Room(12)), "negative");
  EXPECT_MENTIONS(run(MaceTensor({1, 2, 2, 3}, nullptr), Room(12)), "buffer");
  EXPECT_MENTIONS(run(MaceTensor(), Room(12)), "dimensions");
  EXPECT_MENTIONS(run(good, Room(11)), "12 elements");
  EXPECT_MENTIONS(run(good, MaceTensor({12}, nullptr)), "null buffer");
  // A program in C, or one that casts a number, may pass this.
  const auto no_format = static_cast<DataFormat>(7);
  EXPECT_MENTIONS(run(Floats({1, 2, 2, 3}, Ramp(12), no_format), Room(12)),
                  "input 'x' has the unknown data format 7");
  EXPECT_MENTIONS(run(good, Room(12, no_format)),
                  "output 's' has the unknown data format 7");
  EXPECT_MENTIONS(run(TensorOf<int32_t>({1, 2, 2, 3}, std::vector<int32_t>(12),
                                        IDataType::IDT_INT32),
                      Room(12)),
                  "int32");
  EXPECT_MENTIONS(run(good, TensorOf<uint8_t>({12}, std::vector<uint8_t>(12),
                                              IDataType::IDT_UINT8)),
                  "uint8");
  const MaceStatus gpu =
      run(MaceTensor({1, 2, 2, 3}, good.raw_data(), DataFormat::NHWC,
                     IDataType::IDT_FLOAT, GPU_BUFFER),
          Room(12));
  EXPECT_CODE(gpu, MACE_UNSUPPORTED);
  EXPECT_MENTIONS(gpu, "is in GPU memory");
  EXPECT_MENTIONS(run(Floats({1, 1, 2, 3}, Ramp(6)), Room(12)),
                  "dimension 1 is 1, but the model was converted for 2");
  // The engine still works.
  ASSERT_OK(run(good, Room(12)));
}

TEST(EngineErrorTest, AnOperatorMayRefuseAShape) {
  MadeEngine made = Make(ModelBuilder()
                             .Input("x", {1, -1, 2, 3})
                             .Constant("c", {1, 2, 2, 3}, Ramp(12, 0))
                             .Operator("add", "TestAdd", {"x", "c"}, {"s"})
                             .Output("s"));
  ASSERT_OK(made.status);
  Tensors outputs = {{"s", Room(12)}};
  // The second dimension of x contradicts the constant c.
  const MaceStatus mismatch =
      made.engine->Run({{"x", Floats({1, 1, 2, 3}, Ramp(6))}}, &outputs);
  EXPECT_CODE(mismatch, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(mismatch, "operator 'add' (TestAdd)");
  // The engine still works.
  ASSERT_OK(
      made.engine->Run({{"x", Floats({1, 2, 2, 3}, Ramp(12))}}, &outputs));
}

TEST(EngineErrorTest, NamesUnknownNodesAtCreation) {
  MakeOptions options;
  options.outputs = {"ss", "zz"};
  const MaceStatus outputs = Make(Diamond(), options).status;
  EXPECT_CODE(outputs, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(outputs, "'ss'; the nearest are 's'");
  EXPECT_MENTIONS(outputs, "'zz'");
  options.outputs = {"s"};
  options.inputs = {"image"};
  const MaceStatus inputs = Make(Diamond(), options).status;
  EXPECT_CODE(inputs, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(inputs, "'image'");
  EXPECT_MENTIONS(inputs, "'x'");
}

TEST(EngineErrorTest, WantedOutputsNeedTheirInputsNamed) {
  ModelBuilder model;
  model.Input("a", {2}).Input("b", {2});
  model.Operator("add", "TestAdd", {"a", "b"}, {"c"}).Output("c");
  MakeOptions options;
  options.inputs = {"a"};
  const MaceStatus status = Make(model, options).status;
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "'b'");
}

TEST(EngineErrorTest, RuntimesThatAreNotThereAreUnsupported) {
  for (DeviceType device : {GPU, HEXAGON, HTA, APU}) {
    MakeOptions options;
    options.config = MaceEngineConfig(device);
    const MaceStatus status = Make(Diamond(), options).status;
    EXPECT_CODE(status, MACE_UNSUPPORTED);
    EXPECT_MENTIONS(status, "it has: CPU");
  }
  MakeOptions options;
  ASSERT_OK(options.config.SetRuntimeType(RT_CPU, "other_model"));
  EXPECT_CODE(Make(Diamond(), options).status, MACE_INVALID_ARGS);
}

TEST(EngineErrorTest, ChecksTheThreadPolicy) {
  MaceEngineConfig config;
  EXPECT_CODE(config.SetCPUThreadPolicy(-2, AFFINITY_NONE), MACE_INVALID_ARGS);
  EXPECT_CODE(config.SetCPUThreadPolicy(1, static_cast<CPUAffinityPolicy>(9)),
              MACE_INVALID_ARGS);
  for (int policy = AFFINITY_NONE; policy <= AFFINITY_POWER_SAVE; ++policy) {
    MakeOptions options;
    ASSERT_OK(options.config.SetCPUThreadPolicy(
        -1, static_cast<CPUAffinityPolicy>(policy)));
    MadeEngine made = Make(Diamond(), options);
    ASSERT_OK(made.status);
    Tensors outputs = {{"s", Room(12)}};
    ASSERT_OK(
        made.engine->Run({{"x", Floats({1, 2, 2, 3}, Ramp(12))}}, &outputs));
    EXPECT_EQ(Values(outputs["s"]), DiamondResult(Ramp(12)));
  }
}

class RejectTest : public ::testing::TestWithParam<const char *> {};

TEST_P(RejectTest, FailuresOfAnOperatorNameIt) {
  const std::string step = GetParam();
  MadeEngine made = Make(ModelBuilder()
                             .Input("x", {-1})
                             .Operator("bad", "TestReject", {"x"}, {"y"},
                                       {StringAttribute("step", step)})
                             .Output("y"));
  MaceStatus status = made.status;
  if (step != "init") {
    ASSERT_OK(made.status);
    Tensors outputs = {{"y", Room(4)}};
    status = made.engine->Run({{"x", Floats({4}, Ramp(4))}}, &outputs);
  }
  EXPECT_NE(status.code(), MaceStatus::MACE_SUCCESS);
  EXPECT_MENTIONS(status, "operator 'bad' (TestReject): ");
}

INSTANTIATE_TEST_SUITE_P(
    Steps,
    RejectTest,
    ::testing::Values(
        "init", "shapes", "plan", "run", "type", "shape", "size"));

TEST(EngineErrorTest, AShapeThatContradictsTheModelFailsAtLoad) {
  const MaceStatus status =
      Make(ModelBuilder()
               .Input("x", {3})
               .Constant("c", {2}, std::vector<float>{1, 2})
               .Operator("add", "TestAdd", {"x", "c"}, {"y"})
               .Output("y"))
          .status;
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "operator 'add'");
}

TEST(EngineErrorTest, NamesTheFirstOperatorThatGivesInfinity) {
  MakeOptions options;
  ASSERT_OK(options.config.SetOutOfRangeCheck(true));
  MadeEngine made = Make(ModelBuilder()
                             .Input("x", {4})
                             .Operator("a", "TestAffine", {"x"}, {"y"})
                             .Operator("b", "TestReciprocal", {"y"}, {"z"})
                             .Operator("c", "TestAffine", {"z"}, {"w"})
                             .Output("w"),
                         options);
  ASSERT_OK(made.status);
  Tensors outputs = {{"w", Room(4)}};
  ASSERT_OK(made.engine->Run({{"x", Floats({4}, {1, 2, 3, 4})}}, &outputs));
  const MaceStatus status =
      made.engine->Run({{"x", Floats({4}, {1, 2, 0, 4})}}, &outputs);
  EXPECT_CODE(status, MACE_RUNTIME_ERROR);
  EXPECT_MENTIONS(status, "operator 'b' (TestReciprocal)");
  EXPECT_MENTIONS(status, "inf at element 2 of 'z'");
  EXPECT_MENTIONS(status, "all its inputs are finite");
  const MaceStatus from_input =
      made.engine->Run({{"x", Floats({4}, {1, NAN, 0, 4})}}, &outputs);
  EXPECT_CODE(from_input, MACE_RUNTIME_ERROR);
  EXPECT_MENTIONS(from_input, "an input already contains NaN");
  EXPECT_MENTIONS(from_input, "nan at element 1 of 'x'");
}

TEST(EngineErrorTest, SaysThatImagesInsideAModelAreNhwc) {
  MakeOptions options;
  ASSERT_OK(options.config.SetOutOfRangeCheck(true));
  MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {1, 2, 1, 2}, DataType::kFloat32, DataFormat::NCHW)
               .Operator("a", "TestReciprocal", {"x"}, {"y"})
               .Output("y"),
           options);
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(4)}};
  const MaceStatus status = made.engine->Run(
      {{"x", Floats({1, 2, 1, 2}, {1, 2, 0, 4}, DataFormat::NCHW)}}, &outputs);
  EXPECT_MENTIONS(status,
                  "inf at element 1 of 'y' [1, 1, 2, 2] (NHWC if an image)");
}

TEST(EngineErrorTest, NamesAConstantThatIsNotFinite) {
  MakeOptions options;
  ASSERT_OK(options.config.SetOutOfRangeCheck(true));
  MadeEngine made = Make(ModelBuilder()
                             .Input("x", {2})
                             .Constant("c", {2}, std::vector<float>{1, NAN})
                             .Operator("a", "TestAdd", {"x", "c"}, {"y"})
                             .Output("y"),
                         options);
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(2)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({2}, {1, 2})}}, &outputs);
  EXPECT_MENTIONS(status, "operator 'a'");
  EXPECT_MENTIONS(status, "it reads the constant nan at element 1 of 'c'");
}

TEST(EngineErrorTest, DamagedWeightsAreFoundOnRequest) {
  MakeOptions options;
  ASSERT_OK(options.config.SetWeightsCheck(true));
  EXPECT_MENTIONS(Make(Diamond(), options).status, "checksum");
}

size_t TotalBytes(const EngineStats &stats) {
  return stats.arena_bytes + stats.constant_bytes + stats.prepared_bytes +
         stats.state_bytes;
}

// What the engine holds after a run is the least limit with which it runs.
TEST(EngineErrorTest, ALimitOfMemoryIsKeptToTheByte) {
  ModelBuilder model;
  model.Input("x", {-1})
      .Operator("a", "TestAffine", {"x"}, {"t"}, {Scale(2)})
      .Operator("b", "TestCumulative", {"t"}, {"u"})
      .Operator("c", "TestCumulative", {"u"}, {"y"})
      .Output("y");
  const Tensors inputs = {{"x", Floats({64}, Ramp(64))}};
  Tensors outputs = {{"y", Room(64)}};
  MadeEngine made = Make(model);
  ASSERT_OK(made.status);
  ASSERT_OK(made.engine->Run(inputs, &outputs));
  const size_t total = TotalBytes(made.engine->GetStats());
  ASSERT_GT(made.engine->GetStats().arena_bytes, 0u);

  MakeOptions options;
  ASSERT_OK(options.config.SetMemoryLimit(total));
  made = Make(model, options);
  ASSERT_OK(made.status);
  ASSERT_OK(made.engine->Run(inputs, &outputs));
  // Larger inputs need more; the smaller ones run on.
  Tensors large = {{"y", Room(4096)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({4096}, Ramp(4096))}}, &large);
  EXPECT_CODE(status, MACE_OUT_OF_RESOURCES);
  EXPECT_MENTIONS(status, "bytes, over the limit)");
  ASSERT_OK(made.engine->Run(inputs, &outputs));
  EXPECT_EQ(TotalBytes(made.engine->GetStats()), total);

  ASSERT_OK(options.config.SetMemoryLimit(total - 1));
  made = Make(model, options);
  ASSERT_OK(made.status);
  EXPECT_CODE(made.engine->Run(inputs, &outputs), MACE_OUT_OF_RESOURCES);
  EXPECT_EQ(made.engine->GetStats().arena_bytes, 0u);

  ASSERT_OK(options.config.SetMemoryLimit(1));
  made = Make(Diamond(), options);
  EXPECT_CODE(made.status, MACE_OUT_OF_RESOURCES);
  EXPECT_MENTIONS(made.status, "no memory for the weights of model");
}

}  // namespace
}  // namespace mace
