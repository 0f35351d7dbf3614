// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/half.h"
#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::AlignedCopy;
using core_test::Diamond;
using core_test::DiamondResult;
using core_test::Dims;
using core_test::FloatAttribute;
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
using core_test::Values;

TEST(EngineTest, RunsAGraph) {
  MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  const std::vector<float> x = Ramp(12);
  for (int round = 0; round < 3; ++round) {
    Tensors outputs = {{"s", Room(12)}};
    ASSERT_OK(made.engine->Run({{"x", Floats({1, 2, 2, 3}, x)}}, &outputs));
    EXPECT_EQ(Values(outputs["s"]), DiamondResult(x));
    EXPECT_EQ(outputs["s"].shape(), (Dims{1, 2, 2, 3}));
  }
}

TEST(EngineTest, CountsPreparedConstantsOnce) {
  MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {-1})
               .Operator("scale", "TestAffine", {"x"}, {"y"}, {Scale(2)})
               .Operator("sum", "TestCumulative", {"y"}, {"z"})
               .Output("z"));
  ASSERT_OK(made.status);
  // One float from Init, and one when the shape is known, however often that
  // happens.
  EXPECT_EQ(made.engine->GetStats().prepared_bytes, 4u);
  for (int64_t size : {3, 5, 3}) {
    Tensors outputs = {{"z", Room(size)}};
    ASSERT_OK(made.engine->Run({{"x", Floats({size}, Ramp(size))}}, &outputs));
    EXPECT_EQ(Values(outputs["z"])[2], 12);
    EXPECT_EQ(made.engine->GetStats().prepared_bytes, 8u);
  }
}

TEST(EngineTest, HandsHintsToOperators) {
  MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {8})
               .Operator("a", "TestAffine", {"x"}, {"y"}, {Scale(3)})
               .Output("y")
               .Winograd(4));
  ASSERT_OK(made.status);
  EXPECT_NE(made.engine->Explain().find("affine4"), std::string::npos)
      << made.engine->Explain();
}

TEST(EngineTest, DoesNotTouchTheUsersInput) {
  MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {8})
               .Operator("a", "TestAffine", {"x"}, {"y"}, {Scale(3)})
               .Operator("b", "TestAffine", {"y"}, {"z"}, {Scale(3)})
               .Output("z"));
  ASSERT_OK(made.status);
  const MaceTensor x = Floats({8}, Ramp(8));
  Tensors outputs = {{"z", Room(8)}};
  ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
  EXPECT_EQ(Values(x), Ramp(8));
  EXPECT_EQ(Values(outputs["z"])[7], 72);
}

TEST(EngineTest, GivesAnyIntermediateTensorAndSkipsWhatIsNotWanted) {
  MakeOptions options;
  options.outputs = {"y", "t", "c"};
  MadeEngine made = Make(Diamond(), options);
  ASSERT_OK(made.status);
  EXPECT_EQ(made.engine->GetStats().operator_count, 2u);
  const std::vector<float> x = Ramp(12);
  Tensors outputs = {{"y", Room(12)}, {"t", Room(12)}, {"c", Room(12)}};
  ASSERT_OK(made.engine->Run({{"x", Floats({1, 2, 2, 3}, x)}}, &outputs));
  for (size_t i = 0; i < 12; ++i) {
    const float t = x[i] + static_cast<float>(i);
    EXPECT_EQ(Values(outputs["t"])[i], t);
    EXPECT_EQ(Values(outputs["y"])[i], 2 * t);
    EXPECT_EQ(Values(outputs["c"])[i], static_cast<float>(i));
  }
}

TEST(EngineTest, AnInputMayBeAnOutput) {
  MakeOptions options;
  options.outputs = {"x"};
  MadeEngine made = Make(Diamond(), options);
  ASSERT_OK(made.status);
  Tensors outputs = {{"x", Room(12)}};
  ASSERT_OK(
      made.engine->Run({{"x", Floats({1, 2, 2, 3}, Ramp(12))}}, &outputs));
  EXPECT_EQ(Values(outputs["x"]), Ramp(12));
}

ModelBuilder Positive() {
  return ModelBuilder()
      .Input("x", {-1})
      .Operator("scale", "TestAffine", {"x"}, {"y"}, {Scale(2)})
      .Operator("positive", "TestPositive", {"y"}, {"z"})
      .Output("z");
}

// Memory is planned for all elements, whatever earlier runs found.
TEST(EngineTest, ARunMayDetermineTheShapeOfAnOutput) {
  MadeEngine made = Make(Positive());
  ASSERT_OK(made.status);
  const std::vector<std::vector<float>> inputs = {
      {-1, -1, -1, -1}, {1, -2, 3, 4}, {-1, -1, 5, -1}, {1, 2, 3, 4}, {6}};
  // In the caller's memory, and copied to it in another type.
  for (const IDataType type : {IDataType::IDT_FLOAT, IDataType::IDT_FLOAT16}) {
    for (const std::vector<float> &x : inputs) {
      std::vector<float> positive;
      for (const float value : x) {
        if (value > 0) positive.push_back(2 * value);
      }
      const auto size = static_cast<int64_t>(x.size());
      Tensors outputs;
      if (type == IDataType::IDT_FLOAT) {
        outputs["z"] = Room(size);
      } else {
        outputs["z"] =
            TensorOf({size}, std::vector<uint16_t>(x.size(), 0x7e00), type);
      }
      ASSERT_OK(made.engine->Run({{"x", Floats({size}, x)}}, &outputs));
      const auto count = static_cast<int64_t>(positive.size());
      EXPECT_EQ(outputs["z"].shape(), (Dims{count}));
      for (int64_t i = 0; i < size; ++i) {
        const bool counts = i < count;
        if (type == IDataType::IDT_FLOAT) {
          const float *z = outputs["z"].data<float>().get();
          EXPECT_EQ(z[i], counts ? positive[i] : -99);
        } else {
          const uint16_t *z = outputs["z"].data<uint16_t>().get();
          EXPECT_EQ(z[i], counts ? FloatToHalf(positive[i]) : 0x7e00);
        }
      }
    }
  }
}

TEST(EngineTest, AnOutputNeedsRoomForTheLargestShape) {
  MadeEngine made = Make(Positive());
  ASSERT_OK(made.status);
  Tensors outputs = {{"z", Room(1)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({3}, {-1, 1, -1})}}, &outputs);
  EXPECT_NE(status.information().find("has room for 1"), std::string::npos)
      << status.information();
}

// What does not count is not checked.
TEST(EngineTest, OnlyResultsOfARunMustBeFinite) {
  MakeOptions options;
  options.config.SetOutOfRangeCheck(true);
  MadeEngine made = Make(Positive(), options);
  ASSERT_OK(made.status);
  Tensors outputs = {{"z", Floats({3}, std::vector<float>(3, std::nanf("")))}};
  ASSERT_OK(made.engine->Run({{"x", Floats({3}, {-1, 1, -1})}}, &outputs));
  EXPECT_EQ(outputs["z"].shape(), (Dims{1}));
}

// Stands for a network with two outputs and an alias.
ModelBuilder Chain() {
  ModelBuilder model;
  model.Input("x", {-1, -1, -1, 2}, DataType::kFloat32, DataFormat::NHWC, "in")
      .Operator("a", "TestAffine", {"x"}, {"y"}, {Scale(2)})
      .Operator("b", "TestCumulative", {"y"}, {"z"})
      .Output("y")
      .Output("z", DataFormat::NHWC, "result");
  return model;
}

TEST(EngineTest, ShapesMayChangeFromRunToRun) {
  MadeEngine made = Make(Chain());
  ASSERT_OK(made.status);
  for (int64_t size : {3, 1, 5, 3, 0, 2, 5}) {
    SCOPED_TRACE(size);
    const Dims dims = {1, size, size, 2};
    const int64_t count = size * size * 2;
    Tensors outputs = {{"y", Room(100)}, {"z", Room(100)}};
    ASSERT_OK(made.engine->Run({{"x", Floats(dims, Ramp(count))}}, &outputs));
    EXPECT_EQ(outputs["z"].shape(), dims);
    float sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      sum += 2 * static_cast<float>(i + 1);
      EXPECT_EQ(Values(outputs["y"])[i], 2 * static_cast<float>(i + 1));
      EXPECT_EQ(Values(outputs["z"])[i], sum);
    }
  }
}

// Its second-to-last dimension is at most 4; the shape is declared channels
// first.
ModelBuilder Limited() {
  ModelBuilder model;
  model.LargestShape({1, 2, 3, 4})
      .Input("x", {1, 2, 3, -1}, DataType::kFloat32, DataFormat::NCHW)
      .Operator("a", "TestAffine", {"x"}, {"y"}, {Scale(2)})
      .Operator("b", "TestCumulative", {"y"}, {"z"})
      .Output("z");
  return model;
}

TEST(EngineTest, ShapesStayWithinTheirLimit) {
  MakeOptions options;
  options.fake_warmup = true;
  MadeEngine made = Make(Limited(), options);
  ASSERT_OK(made.status);
  // All memory that a run may need is allocated and planned.
  const size_t arena = made.engine->GetStats().arena_bytes;
  EXPECT_GE(arena, 24 * sizeof(float));
  EXPECT_EQ(made.engine->Explain().find("shapes are not known"),
            std::string::npos);
  for (int64_t width : {1, 4, 2}) {
    Tensors outputs = {{"z", Room(24)}};
    ASSERT_OK(made.engine->Run(
        {{"x", Floats({1, 3, width, 2}, Ramp(width * 6))}}, &outputs));
    EXPECT_EQ(outputs["z"].shape(), (Dims{1, 3, width, 2}));
    EXPECT_EQ(made.engine->GetStats().arena_bytes, arena);
  }
  Tensors outputs = {{"z", Room(100)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({1, 3, 5, 2}, Ramp(30))}}, &outputs);
  EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status,
                  "input 'x' has the shape [1, 3, 5, 2]: dimension 2 is 5, but "
                  "the model was converted for at most 4 ([1, 3, 4, 2]); give "
                  "a larger limit in input_shapes");
  const MaceStatus first = made.engine->Run(
      {{"x", Floats({1, 2, 3, 5}, Ramp(30), DataFormat::NCHW)}}, &outputs);
  EXPECT_EQ(first.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_MENTIONS(first,
                  "input 'x' has the shape [1, 2, 3, 5]: dimension 3 is 5, but "
                  "the model was converted for at most 4 ([1, 2, 3, 4])");
}

TEST(EngineTest, ABufferKeepsItsRoomWhenResultsShrink) {
  MadeEngine made = Make(Chain());
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(32)}};
  for (int64_t size : {4, 1, 4}) {
    ASSERT_OK(made.engine->Run(
        {{"x", Floats({1, size, size, 2}, Ramp(size * size * 2))}}, &outputs));
    EXPECT_EQ(outputs["y"].shape(), (Dims{1, size, size, 2}));
  }
}

TEST(EngineTest, AliasesNameInputsAndOutputs) {
  MakeOptions options;
  options.inputs = {"in"};
  options.outputs = {"result"};
  MadeEngine made = Make(Chain(), options);
  ASSERT_OK(made.status);
  Tensors outputs = {{"result", Room(2)}};
  ASSERT_OK(made.engine->Run({{"in", Floats({1, 1, 1, 2}, {1, 2})}}, &outputs));
  EXPECT_EQ(Values(outputs["result"]), (std::vector<float>{2, 6}));
  // The tensor's own name still works.
  Tensors again = {{"z", Room(2)}};
  ASSERT_OK(made.engine->Run({{"x", Floats({1, 1, 1, 2}, {1, 2})}}, &again));
  EXPECT_EQ(Values(again["z"]), (std::vector<float>{2, 6}));
}

TEST(EngineTest, AnOutputWithoutRoomIsToldInItsOwnOrder) {
  MadeEngine made = Make(Chain());
  ASSERT_OK(made.status);
  Tensors outputs = {{"y", Room(1, DataFormat::NCHW)}};
  const MaceStatus status =
      made.engine->Run({{"x", Floats({1, 3, 4, 2}, Ramp(24))}}, &outputs);
  EXPECT_MENTIONS(status,
                  "output 'y' has the shape [1, 2, 3, 4] (24 elements)");
}

TEST(EngineTest, ConvertsNchwAtTheBorder) {
  MadeEngine made = Make(Chain());
  ASSERT_OK(made.status);
  // [1, 2, 2, 3] as the user sees it: channel 0 is 1..6, channel 1 is 7..12.
  const MaceTensor x = Floats({1, 2, 2, 3}, Ramp(12), DataFormat::NCHW);
  Tensors outputs = {{"y", Room(12)}, {"z", Room(12, DataFormat::NCHW)}};
  ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
  EXPECT_EQ(outputs["y"].shape(), (Dims{1, 2, 3, 2}));
  EXPECT_EQ(outputs["z"].shape(), (Dims{1, 2, 2, 3}));
  float sum = 0;
  for (int64_t pixel = 0; pixel < 6; ++pixel) {
    for (int64_t channel = 0; channel < 2; ++channel) {
      const float y = 2 * static_cast<float>(1 + channel * 6 + pixel);
      EXPECT_EQ(Values(outputs["y"])[pixel * 2 + channel], y);
      sum += y;
      EXPECT_EQ(Values(outputs["z"])[channel * 6 + pixel], sum);
    }
  }
}

TEST(EngineTest, ConvertsSixteenBitFloats) {
  MadeEngine made = Make(Chain());
  ASSERT_OK(made.status);
  for (const bool bfloat : {false, true}) {
    const auto encode = bfloat ? FloatToBfloat16 : FloatToHalf;
    const auto decode = bfloat ? Bfloat16ToFloat : HalfToFloat;
    const IDataType type =
        bfloat ? IDataType::IDT_BFLOAT16 : IDataType::IDT_FLOAT16;
    const std::vector<uint16_t> x = {encode(1.5f), encode(-3)};
    Tensors outputs = {{"y", TensorOf<uint16_t>({2}, {0, 0}, type)},
                       {"z", Room(2)}};
    ASSERT_OK(
        made.engine->Run({{"x", TensorOf({1, 1, 1, 2}, x, type)}}, &outputs));
    const auto y = outputs["y"].data<uint16_t>();
    EXPECT_EQ(decode(y.get()[0]), 3.0f);
    EXPECT_EQ(decode(y.get()[1]), -6.0f);
    EXPECT_EQ(Values(outputs["z"]), (std::vector<float>{3, -3}));
  }
}

TEST(EngineTest, AcceptsUnalignedBuffers) {
  MadeEngine made = Make(Chain());
  ASSERT_OK(made.status);
  std::vector<char> memory(64 + 16);
  for (int shift = 0; shift < 8; ++shift) {
    const auto unaligned =
        std::shared_ptr<void>(memory.data() + 1 + shift, [](void *) {});
    const float x[2] = {4, 5};
    std::memcpy(unaligned.get(), x, sizeof(x));
    const auto target =
        std::shared_ptr<void>(memory.data() + 40 + shift, [](void *) {});
    Tensors outputs = {{"z", MaceTensor({2}, target)}};
    ASSERT_OK(made.engine->Run({{"x", MaceTensor({1, 1, 1, 2}, unaligned)}},
                               &outputs));
    float z[2];
    std::memcpy(z, target.get(), sizeof(z));
    EXPECT_EQ(z[0], 8);
    EXPECT_EQ(z[1], 18);
  }
}

// The output uses the input's buffer: early writes must not destroy values that
// are read later.
TEST(EngineTest, OutputMayOverlapAnInput) {
  MadeEngine made = Make(ModelBuilder()
                             .Input("x", {4})
                             .Operator("a", "TestCumulative", {"x"}, {"y"})
                             .Operator("b", "TestAdd", {"y", "x"}, {"z"})
                             .Output("y")
                             .Output("z"));
  ASSERT_OK(made.status);
  const MaceTensor x = Floats({4}, {1, 2, 3, 4});
  Tensors outputs = {{"y", MaceTensor({4}, x.raw_data())}, {"z", Room(4)}};
  ASSERT_OK(made.engine->Run({{"x", x}}, &outputs));
  EXPECT_EQ(Values(outputs["z"]), (std::vector<float>{2, 5, 9, 14}));
  EXPECT_EQ(Values(outputs["y"]), (std::vector<float>{1, 3, 6, 10}));
}

TEST(EngineTest, ComputesValuesThatFollowFromShapesBeforeTheRun) {
  // A tensor of twice the input's dimensions.
  MadeEngine made = Make(ModelBuilder()
                             .Input("x", {-1, -1})
                             .Operator("shape", "TestShape", {"x"}, {"s"})
                             .Operator("double", "TestDouble", {"s"}, {"d"})
                             .Operator("fill", "TestFill", {"d"}, {"y"},
                                       {FloatAttribute("value", 5)})
                             .Output("y")
                             .Output("d"));
  ASSERT_OK(made.status);
  for (int64_t rows : {2, 3, 2}) {
    Tensors outputs = {
        {"y", Room(100)},
        {"d", TensorOf<int32_t>({2}, {0, 0}, IDataType::IDT_INT32)}};
    RunMetadata metadata;
    ASSERT_OK(made.engine->Run({{"x", Floats({rows, 1}, Ramp(rows))}}, &outputs,
                               &metadata));
    EXPECT_EQ(outputs["y"].shape(), (Dims{2 * rows, 2}));
    EXPECT_EQ(Values(outputs["y"]), std::vector<float>(4 * rows, 5.0f));
    EXPECT_EQ(outputs["d"].data<int32_t>().get()[0], 2 * rows);
    EXPECT_NE(made.engine->Explain().find("computed before the run"),
              std::string::npos);
  }
}

TEST(EngineTest, ReportsEveryOperatorOfARun) {
  MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  Tensors outputs = {{"s", Room(12)}};
  RunMetadata metadata;
  ASSERT_OK(made.engine->Run({{"x", Floats({1, 2, 2, 3}, Ramp(12))}}, &outputs,
                             &metadata));
  ASSERT_EQ(metadata.op_stats.size(), 4u);
  const OperatorStats &scale = metadata.op_stats[1];
  EXPECT_EQ(scale.operator_name, "scale");
  EXPECT_EQ(scale.type, "TestAffine");
  EXPECT_EQ(scale.macs, 7);
  EXPECT_EQ(scale.bytes, 2 * 12 * 4);
  EXPECT_EQ(scale.output_shape[0], (Dims{1, 2, 2, 3}));
  int64_t last = 0;
  for (const OperatorStats &stats : metadata.op_stats) {
    EXPECT_GE(stats.stats.start_micros, last);
    EXPECT_GE(stats.stats.end_micros, stats.stats.start_micros);
    EXPECT_GE(stats.stats.duration_nanos, 0);
    last = stats.stats.end_micros;
  }
}

TEST(EngineTest, InPlaceChainsNeedTheMemoryOfOneTensor) {
  ModelBuilder model;
  model.Input("t0", {1024});
  for (int i = 0; i < 10; ++i) {
    model.Operator("op" + std::to_string(i), "TestAffine",
                   {"t" + std::to_string(i)}, {"t" + std::to_string(i + 1)},
                   {Scale(2)});
  }
  MadeEngine made = Make(model.Output("t10"));
  ASSERT_OK(made.status);
  Tensors outputs = {{"t10", Room(1024)}};
  ASSERT_OK(made.engine->Run({{"t0", Floats({1024}, Ramp(1024))}}, &outputs));
  EXPECT_EQ(Values(outputs["t10"])[3], 4096);
  // Input and output are in the user's memory. A whole page is followed by a
  // cache line, see ArenaLayout.
  EXPECT_EQ(made.engine->GetStats().arena_bytes, 4096u + 64u);
  EXPECT_EQ(made.engine->GetStats().tensor_bytes, 11u * 4096);
}

TEST(EngineTest, ReleasesAndRetakesIntermediateMemory) {
  MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  const std::vector<float> x = Ramp(12);
  for (int round = 0; round < 3; ++round) {
    Tensors outputs = {{"s", Room(12)}};
    ASSERT_OK(made.engine->Run({{"x", Floats({1, 2, 2, 3}, x)}}, &outputs));
    EXPECT_EQ(Values(outputs["s"]), DiamondResult(x));
    EXPECT_GT(made.engine->GetStats().arena_bytes, 0u);
    ASSERT_OK(made.engine->ReleaseIntermediateBuffer());
    EXPECT_EQ(made.engine->GetStats().arena_bytes, 0u);
  }
}

TEST(EngineTest, PupilSharesTheMemoryOfItsTutor) {
  MadeEngine tutor = Make(Diamond());
  ASSERT_OK(tutor.status);
  MakeOptions options;
  options.tutor = tutor.engine.get();
  MadeEngine pupil = Make(Chain(), options);
  ASSERT_OK(pupil.status);
  for (int64_t size : {1, 9, 2}) {
    const std::vector<float> x = Ramp(12);
    Tensors outputs = {{"s", Room(12)}};
    ASSERT_OK(tutor.engine->Run({{"x", Floats({1, 2, 2, 3}, x)}}, &outputs));
    EXPECT_EQ(Values(outputs["s"]), DiamondResult(x));
    Tensors more = {{"z", Room(200)}};
    ASSERT_OK(pupil.engine->Run(
        {{"x", Floats({1, size, size, 2}, Ramp(size * size * 2))}}, &more));
    EXPECT_EQ(Values(more["z"])[1], 6);
    EXPECT_EQ(tutor.engine->GetStats().arena_bytes,
              pupil.engine->GetStats().arena_bytes);
  }
  // The memory remains until both engines are gone, in any order.
  tutor.engine.reset();
  Tensors more = {{"z", Room(200)}};
  ASSERT_OK(pupil.engine->Run({{"x", Floats({1, 1, 1, 2}, {1, 2})}}, &more));
}

TEST(EngineTest, FakeWarmupTakesTheMemoryBeforehand) {
  MakeOptions options;
  options.fake_warmup = true;
  MadeEngine made = Make(Diamond(), options);
  ASSERT_OK(made.status);
  EXPECT_GT(made.engine->GetStats().arena_bytes, 0u);
}

TEST(EngineTest, WeightsAreUsedInPlaceOrCopiedOnce) {
  const ModelBuilder model = Diamond();
  const std::string graph = model.graph();
  const std::shared_ptr<char> weights =
      AlignedCopy(std::string(4, ' ') + model.weights());
  for (const size_t shift : {0, 4}) {
    std::memmove(weights.get() + shift, model.weights().data(),
                 model.weights().size());
    std::shared_ptr<MaceEngine> engine;
    bool unused = shift == 0;
    ASSERT_OK(CreateMaceEngineFromProto(
        reinterpret_cast<const unsigned char *>(graph.data()), graph.size(),
        reinterpret_cast<const unsigned char *>(weights.get()) + shift,
        model.weights().size(), {"x"}, {"s"}, MaceEngineConfig(), &engine,
        &unused));
    EXPECT_EQ(unused, shift != 0);
    const EngineStats stats = engine->GetStats();
    EXPECT_EQ(stats.constant_bytes, shift == 0 ? 48u : 0u);
    if (shift != 0) std::memset(weights.get(), 0, model.weights().size());
    Tensors outputs = {{"s", Room(12)}};
    ASSERT_OK(engine->Run({{"x", Floats({1, 2, 2, 3}, Ramp(12))}}, &outputs));
    EXPECT_EQ(Values(outputs["s"]), DiamondResult(Ramp(12)));
  }
}

// --- Errors of users ---

}  // namespace
}  // namespace mace
