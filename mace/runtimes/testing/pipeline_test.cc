// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/pipeline/mace_pipeline.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/runtimes/testing/fake_device.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::FakeDeviceControl;
using core_test::Floats;
using core_test::MadeEngine;
using core_test::Make;
using core_test::MakeOptions;
using core_test::ModelBuilder;
using core_test::Ramp;
using core_test::Room;
using core_test::Scale;
using core_test::StringAttribute;
using core_test::TakesAll;
using core_test::Taking;
using core_test::Tensors;
using core_test::Values;

struct End {
  Dims dims;
  DataFormat format = DataFormat::NHWC;
  DataType type = DataType::kFloat32;
};

// y = cumulative(scale x), so that order matters.
ModelBuilder Scaler(float scale,
                    const End &input,
                    DataFormat output = DataFormat::NHWC) {
  ModelBuilder model;
  model.Input("x", input.dims, input.type, input.format);
  std::string x = "x";
  if (input.type != DataType::kFloat32) {
    model.Operator("widen", "Cast", {"x"}, {"wide"},
                   {StringAttribute("to", "FLOAT32")});
    x = "wide";
  }
  model.Operator("scale", "TestAffine", {x}, {"t"}, {Scale(scale)})
      .Operator("sum", "TestCumulative", {"t"}, {"y"})
      .Output("y", output);
  return model;
}

std::shared_ptr<MaceEngine> EngineOf(const ModelBuilder &model,
                                     const MakeOptions &options = {}) {
  MadeEngine made = Make(model, options);
  EXPECT_EQ(made.status.code(), MaceStatus::MACE_SUCCESS)
      << made.status.information();
  // The weights live as long as the engine.
  auto kept = std::make_shared<MadeEngine>(std::move(made));
  return std::shared_ptr<MaceEngine>(kept, kept->engine.get());
}

// a -> b
void Join(const ModelBuilder &a, const ModelBuilder &b, MacePipeline *joined) {
  ASSERT_OK(joined->AddEngine("a", EngineOf(a)));
  ASSERT_OK(joined->AddEngine("b", EngineOf(b)));
  ASSERT_OK(joined->Connect("a", "y", "b", "x"));
}

std::vector<TensorCopy> CopiesOf(const std::vector<RunMetadata> &metadata) {
  std::vector<TensorCopy> all;
  for (const RunMetadata &stage : metadata) {
    all.insert(all.end(), stage.border_copies.begin(),
               stage.border_copies.end());
  }
  return all;
}

// Runs the pipeline, and the engines by themselves with `between`, the buffer
// that an application would hand over; the bits are the same.
std::vector<TensorCopy> RunBoth(MacePipeline *joined,
                                const MaceTensor &input,
                                MaceTensor between,
                                DataFormat read,
                                int64_t elements) {
  Tensors outputs = {{"y", Room(elements)}};
  std::vector<RunMetadata> metadata;
  MaceStatus status = joined->Run({{"x", input}}, &outputs, &metadata);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();

  Tensors first = {{"y", std::move(between)}};
  status = joined->engine("a")->Run({{"x", input}}, &first);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  Tensors second = {{"y", Room(elements)}};
  const MaceTensor &y = first["y"];
  status = joined->engine("b")->Run(
      {{"x", MaceTensor(y.shape(), y.raw_data(), read, y.data_type())}},
      &second);
  EXPECT_EQ(status.code(), MaceStatus::MACE_SUCCESS) << status.information();
  EXPECT_EQ(Values(outputs["y"]), Values(second["y"]));
  EXPECT_EQ(outputs["y"].shape(), second["y"].shape());
  return CopiesOf(metadata);
}

TEST(PipelineTest, CopiesNothingBetweenModelsThatFit) {
  MacePipeline joined;
  Join(Scaler(2, {{1, 2, 2, 3}}), Scaler(3, {{1, 2, 2, 3}}), &joined);
  EXPECT_TRUE(RunBoth(&joined, Floats({1, 2, 2, 3}, Ramp(12)), Room(12),
                      DataFormat::NHWC, 12)
                  .empty());
  const std::string text = joined.Explain();
  EXPECT_NE(text.find("link 'a/y' to 'b/x': float32[1, 2, 2, 3], 48 bytes, "
                      "in place\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("copied 0 tensors (0 bytes)"), std::string::npos) << text;
}

// The application sees one as NCHW; inside, both are NHWC.
TEST(PipelineTest, AgreesOnTheOrderInWhichEnginesCompute) {
  for (const DataFormat format : {DataFormat::NCHW, DataFormat::NHWC}) {
    const Dims dims =
        format == DataFormat::NCHW ? Dims{1, 3, 2, 2} : Dims{1, 2, 2, 3};
    MacePipeline joined;
    Join(Scaler(2, {{1, 3, 2, 2}, DataFormat::NCHW}, DataFormat::NCHW),
         Scaler(3, {dims, format}), &joined);
    EXPECT_TRUE(RunBoth(&joined, Floats({1, 2, 2, 3}, Ramp(12)), Room(12),
                        DataFormat::NHWC, 12)
                    .empty());
  }
}

TEST(PipelineTest, CopiesOnceWhereOnlyOneEndIsNchw) {
  MacePipeline from_nchw;
  Join(Scaler(2, {{1, 2, 2, 3}}, DataFormat::NCHW),
       Scaler(3, {{1, 3, 2, 2}, DataFormat::NONE}), &from_nchw);
  auto copies = RunBoth(&from_nchw, Floats({1, 2, 2, 3}, Ramp(12)),
                        Room(12, DataFormat::NCHW), DataFormat::NONE, 12);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].reason, CopyReason::FORMAT);
  EXPECT_TRUE(copies[0].is_output);
  EXPECT_NE(from_nchw.Explain().find(
                "copied by 'a' because the buffer is NCHW, and engines"),
            std::string::npos)
      << from_nchw.Explain();

  MacePipeline to_nchw;
  Join(Scaler(2, {{1, 3, 2, 2}, DataFormat::NONE}, DataFormat::NONE),
       Scaler(3, {{1, 3, 2, 2}, DataFormat::NCHW}), &to_nchw);
  copies = RunBoth(&to_nchw, Floats({1, 3, 2, 2}, Ramp(12)), Room(12),
                   DataFormat::NCHW, 12);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].reason, CopyReason::FORMAT);
  EXPECT_FALSE(copies[0].is_output);
  EXPECT_NE(to_nchw.Explain().find("copied by 'b' because the buffer is NCHW"),
            std::string::npos)
      << to_nchw.Explain();
}

TEST(PipelineTest, CopiesOnceWhereTypesDiffer) {
  MacePipeline joined;
  Join(Scaler(2, {{1, 2, 2, 3}}),
       Scaler(3, {{1, 2, 2, 3}, DataFormat::NHWC, DataType::kFloat16}),
       &joined);
  auto copies = RunBoth(&joined, Floats({1, 2, 2, 3}, Ramp(12)), Room(12),
                        DataFormat::NHWC, 12);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].reason, CopyReason::TYPE);
  EXPECT_NE(joined.Explain().find("copied by 'b' because the buffer has "
                                  "another element type"),
            std::string::npos)
      << joined.Explain();

  // Order and type at once.
  MacePipeline both;
  Join(Scaler(2, {{1, 2, 2, 3}}, DataFormat::NCHW),
       Scaler(3, {{1, 3, 2, 2}, DataFormat::NONE, DataType::kFloat16}), &both);
  copies = RunBoth(&both, Floats({1, 2, 2, 3}, Ramp(12)),
                   Room(12, DataFormat::NCHW), DataFormat::NONE, 12);
  EXPECT_EQ(copies.size(), 1u);
}

TEST(PipelineTest, RefusesTypesThatCannotBeConverted) {
  MacePipeline joined;
  ASSERT_OK(joined.AddEngine("a", EngineOf(Scaler(2, {{4}}))));
  ModelBuilder integers;
  integers.Input("x", {4}, DataType::kInt32)
      .Operator("move", "TestMove", {"x"}, {"y"})
      .Output("y");
  ASSERT_OK(joined.AddEngine("b", EngineOf(integers)));
  ASSERT_OK(joined.Connect("a", "y", "b", "x"));
  const MaceStatus status = joined.Prepare();
  EXPECT_CODE(status, MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status, "'a/y' is float32, but 'b/x' is int32");
}

MaceStatus AddModel(const std::string &stage,
                    const MadeEngine &made,
                    MacePipeline *pipeline) {
  return pipeline->AddModel(
      stage, reinterpret_cast<const unsigned char *>(made.graph.data()),
      made.graph.size(),
      reinterpret_cast<const unsigned char *>(made.weights.get()), 0,
      MaceEngineConfig());
}

// Intermediate memory is the maximum, not the sum.
TEST(PipelineTest, SharesIntermediateMemory) {
  const MadeEngine small = Make(Scaler(2, {{1, 4, 4, 3}}));
  const MadeEngine large = Make(Scaler(3, {{-1, 40, 40, 3}}));
  ASSERT_OK(small.status);
  ASSERT_OK(large.status);
  size_t sum = 0;
  size_t most = 0;
  MacePipeline pipeline;
  Tensors inputs = {{"small/x", Floats({1, 4, 4, 3}, Ramp(48))},
                    {"large/x", Floats({2, 40, 40, 3}, Ramp(9600))}};
  Tensors outputs = {{"small/y", Room(48)}, {"large/y", Room(9600)}};
  for (const auto &[name, made] :
       {std::make_pair("small", &small), std::make_pair("large", &large)}) {
    const std::string stage = name;
    Tensors own = {{"y", outputs[stage + "/y"]}};
    ASSERT_OK(made->engine->Run({{"x", inputs[stage + "/x"]}}, &own));
    const size_t bytes = made->engine->GetStats().arena_bytes;
    EXPECT_GT(bytes, 0u);
    sum += bytes;
    most = std::max(most, bytes);
    ASSERT_OK(AddModel(stage, *made, &pipeline));
  }
  ASSERT_OK(pipeline.Run(inputs, &outputs));
  EXPECT_EQ(pipeline.LinkBytes(), 0u);
  EXPECT_EQ(pipeline.IntermediateBytes(), most);
  EXPECT_LT(pipeline.IntermediateBytes(), sum);
  ASSERT_OK(pipeline.ReleaseIntermediateBuffer());
  EXPECT_EQ(pipeline.IntermediateBytes(), 0u);
  ASSERT_OK(pipeline.Run(inputs, &outputs));
}

// A link is needed until its last reader has run.
TEST(PipelineTest, LinksShareMemory) {
  MacePipeline chain;
  const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  for (const std::string &name : names) {
    ASSERT_OK(chain.AddEngine(name, EngineOf(Scaler(2, {{64}}))));
  }
  for (size_t i = 1; i < names.size(); ++i) {
    ASSERT_OK(chain.Connect(names[i - 1], "y", names[i], "x"));
  }
  Tensors outputs = {{"y", Room(64)}};
  ASSERT_OK(
      chain.Run({{"x", Floats({64}, std::vector<float>(64, 1))}}, &outputs));
  EXPECT_EQ(chain.LinkBytes(), 2u * 64 * 4);
  std::vector<float> expected(64, 1);
  for (size_t stage = 0; stage < names.size(); ++stage) {
    float sum = 0;
    for (float &value : expected) value = sum += 2 * value;
  }
  EXPECT_EQ(Values(outputs["y"]), expected);
}

TEST(PipelineTest, FollowsShapesThatChange) {
  MacePipeline joined;
  Join(Scaler(2, {{-1}}), Scaler(3, {{-1}}), &joined);
  EXPECT_NE(joined.Explain().find("not known before the first run"),
            std::string::npos);
  // More sets than plans are kept, growing and shrinking.
  for (int64_t size : {3, 50, 3, 1, 7, 8, 9, 10, 11, 12, 3, 50}) {
    EXPECT_TRUE(RunBoth(&joined, Floats({size}, Ramp(size)), Room(size),
                        DataFormat::NHWC, size)
                    .empty());
  }
}

// The data determine how many values the first model gives.
TEST(PipelineTest, FollowsShapesThatARunDetermines) {
  ModelBuilder positive;
  positive.Input("x", {-1})
      .Operator("scale", "TestAffine", {"x"}, {"t"}, {Scale(2)})
      .Operator("positive", "TestPositive", {"t"}, {"y"})
      .Output("y");
  MacePipeline joined;
  Join(positive, Scaler(3, {{-1}}), &joined);
  ASSERT_OK(joined.AddEngine("c", EngineOf(Scaler(1, {{-1}}))));
  ASSERT_OK(joined.Connect("b", "y", "c", "x"));
  const std::vector<std::vector<float>> inputs = {
      {1, -2, 3, 4}, {1, 2, 3, 4}, {-1, -1, 5, -1}};
  for (const std::vector<float> &x : inputs) {
    Tensors outputs = {{"y", Room(4)}};
    ASSERT_OK(joined.Run({{"x", Floats({4}, x)}}, &outputs));
    std::vector<float> expected;
    float sum = 0;
    float second = 0;
    for (float value : x) {
      if (value > 0) expected.push_back(second += sum += 6 * value);
    }
    EXPECT_EQ(Values(outputs["y"]), expected);
  }
}

TEST(PipelineTest, AnOutputMayFeedSeveralInputsAndBeWanted) {
  MacePipeline pipeline;
  ASSERT_OK(pipeline.AddEngine("a", EngineOf(Scaler(2, {{4}}))));
  ModelBuilder sum;
  sum.Input("p", {4}).Input("q", {4});
  sum.Operator("add", "TestAdd", {"p", "q"}, {"s"}).Output("s");
  ASSERT_OK(pipeline.AddEngine("b", EngineOf(sum)));
  ASSERT_OK(pipeline.AddEngine("unused", EngineOf(Scaler(1, {{4}}))));
  ASSERT_OK(pipeline.Connect("a", "y", "b", "p"));
  ASSERT_OK(pipeline.Connect("a", "y", "b", "q"));
  Tensors outputs = {{"s", Room(4)}, {"a/y", Room(4)}};
  std::vector<RunMetadata> metadata;
  // Nothing that is wanted needs the third stage, or its input.
  ASSERT_OK(
      pipeline.Run({{"a/x", Floats({4}, {1, 1, 1, 1})}}, &outputs, &metadata));
  EXPECT_EQ(Values(outputs["s"]), (std::vector<float>{4, 8, 12, 16}));
  EXPECT_EQ(Values(outputs["a/y"]), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_TRUE(CopiesOf(metadata).empty());
  EXPECT_TRUE(metadata[2].op_stats.empty());
}

TEST(PipelineTest, UsesMemoryOfTheApplication) {
  MacePipeline joined;
  ASSERT_OK(joined.AddEngine("a", EngineOf(Scaler(2, {{4}}))));
  ASSERT_OK(joined.AddEngine("b", EngineOf(Scaler(3, {{4}}))));
  const MaceTensor few = Room(3);
  ASSERT_OK(joined.Connect("a", "y", "b", "x", &few));
  EXPECT_MENTIONS(joined.Prepare(), "room for 12 bytes; it takes 16");

  MacePipeline fits;
  ASSERT_OK(fits.AddEngine("a", EngineOf(Scaler(2, {{4}}))));
  ASSERT_OK(fits.AddEngine("b", EngineOf(Scaler(3, {{4}}))));
  const MaceTensor own = Room(9);
  ASSERT_OK(fits.Connect("a", "y", "b", "x", &own));
  Tensors outputs = {{"y", Room(4)}};
  ASSERT_OK(fits.Run({{"x", Floats({4}, {1, 1, 1, 1})}}, &outputs));
  EXPECT_EQ(own.data().get()[3], 8);
  EXPECT_EQ(Values(outputs["y"]), (std::vector<float>{6, 18, 36, 60}));
  EXPECT_EQ(fits.LinkBytes(), 0u);
}

TEST(PipelineTest, CountsCopiesToMemoryOfADevice) {
  const FakeDeviceControl control(Taking(TakesAll));
  MakeOptions on_device;
  ASSERT_OK(on_device.config.SetRuntimeTypes({RT_APU, RT_CPU}));
  MacePipeline joined;
  ASSERT_OK(joined.AddEngine("a", EngineOf(Scaler(2, {{12}}))));
  ASSERT_OK(joined.AddEngine("b", EngineOf(Scaler(3, {{12}}), on_device)));
  ASSERT_OK(joined.Connect("a", "y", "b", "x"));
  const auto copies =
      RunBoth(&joined, Floats({12}, Ramp(12)), Room(12), DataFormat::NHWC, 12);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].reason, CopyReason::DEVICE);
  EXPECT_EQ(copies[0].to, APU);
  EXPECT_TRUE(copies[1].is_output);
  EXPECT_NE(joined.Explain().find("input 'b/x', 48 bytes, because the devices "
                                  "have memory of their own"),
            std::string::npos)
      << joined.Explain();
}

TEST(PipelineTest, NamesWhatIsWrong) {
  MacePipeline pipeline;
  EXPECT_MENTIONS(pipeline.AddEngine("a", nullptr), "`engine` is null");
  const std::shared_ptr<MaceEngine> engine = EngineOf(Scaler(2, {{5}}));
  EXPECT_MENTIONS(pipeline.AddEngine("a/b", engine), "'a/b'");
  ASSERT_OK(pipeline.AddEngine("a", engine));
  EXPECT_MENTIONS(pipeline.AddEngine("a", engine), "a stage 'a' already");
  ASSERT_OK(pipeline.AddEngine("b", EngineOf(Scaler(2, {{5}}))));
  const MadeEngine broken = Make(Scaler(2, {{4}}));
  const unsigned char nothing = 0xff;
  EXPECT_MENTIONS(
      pipeline.AddModel("broken", &nothing, 1, nullptr, 0, MaceEngineConfig()),
      "stage 'broken': ");
  EXPECT_MENTIONS(pipeline.Connect("a", "y", "c", "x"),
                  "no stage 'c'; there are: 'a', 'b'");
  EXPECT_MENTIONS(pipeline.Connect("b", "y", "a", "x"), "add it after 'b'");
  EXPECT_MENTIONS(pipeline.Connect("a", "z", "b", "x"), "it has: 'y'");
  EXPECT_MENTIONS(pipeline.Connect("a", "y", "b", "z"), "it has: 'x'");
  ASSERT_OK(pipeline.Connect("a", "y", "b", "x"));
  EXPECT_MENTIONS(pipeline.Connect("a", "y", "b", "x"), "has a link already");

  Tensors outputs;
  const Tensors inputs = {{"x", Floats({5}, Ramp(5))}};
  EXPECT_MENTIONS(pipeline.Run(inputs, &outputs), "is null or empty");
  outputs = {{"y", Room(5)}};
  EXPECT_MENTIONS(pipeline.Run({{"q", Floats({5}, Ramp(5))}}, &outputs),
                  "'q' names no input of the pipeline; there are: 'a/x'");
  EXPECT_MENTIONS(pipeline.Run({}, &outputs), "stage 'a': ");
  ASSERT_OK(pipeline.Run(inputs, &outputs));
  outputs = {{"q", Room(5)}};
  EXPECT_MENTIONS(pipeline.Run(inputs, &outputs), "there are: 'a/y', 'b/y'");
  outputs = {{"y", Room(1)}};
  EXPECT_MENTIONS(pipeline.Run(inputs, &outputs), "stage 'b': output 'y'");
}

}  // namespace
}  // namespace mace
