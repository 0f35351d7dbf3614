// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Tests of the engine with two devices; the second has its own memory.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/public/mace.h"
#include "mace/runtimes/testing/fake_device.h"

namespace mace {
namespace core_test {
namespace {

MakeOptions OnBoth() {
  MakeOptions options;
  EXPECT_TRUE(options.config.SetRuntimeTypes({RT_APU, RT_CPU}) ==
              MaceStatus::MACE_SUCCESS);
  return options;
}

bool TakesOddNodes(size_t index, const GraphNode &) { return index % 2 == 1; }
bool TakesNothing(size_t, const GraphNode &) { return false; }

MaceStatus RunDiamond(const MadeEngine &made,
                      float first,
                      RunMetadata *metadata = nullptr) {
  Tensors outputs = {{"s", Room(12)}};
  const MaceStatus status = made.engine->Run(
      {{"x", Floats({1, 2, 2, 3}, Ramp(12, first))}}, &outputs, metadata);
  if (status == MaceStatus::MACE_SUCCESS) {
    EXPECT_EQ(Values(outputs["s"]), DiamondResult(Ramp(12, first)));
  }
  return status;
}

std::vector<DeviceType> DevicesOf(const EnginePlacement &placement) {
  std::vector<DeviceType> devices;
  for (const OperatorPlacement &op : placement.operators) {
    devices.push_back(op.device);
  }
  return devices;
}

using Devices = std::vector<DeviceType>;

TEST(TwoDevicesTest, GiveTheSameResultHoweverOperatorsAreSplit) {
  for (auto *takes :
       {TakesEverySecond, TakesOddNodes, TakesAll, TakesNothing}) {
    const FakeDeviceControl control(Taking(takes));
    const MadeEngine made = Make(Diamond(), OnBoth());
    ASSERT_OK(made.status);
    for (float first : {1.0f, -3.0f, 8.0f}) ASSERT_OK(RunDiamond(made, first));
  }
}

// Like Diamond, in two subgraphs.
ModelBuilder TwoParts() {
  ModelBuilder model;
  model.Input("x", {1, 2, 2, 3})
      .Constant("c", {1, 2, 2, 3}, Ramp(12, 0))
      .Subgraph("front")
      .Operator("add", "TestAdd", {"x", "c"}, {"t"})
      .Operator("scale", "TestAffine", {"t"}, {"y"}, {Scale(2)})
      .Subgraph("back")
      .Operator("sum", "TestCumulative", {"y"}, {"z"})
      .Operator("join", "TestAdd", {"z", "y"}, {"s"})
      .Output("s");
  return model;
}

MadeEngine MakeParts(const std::vector<RuntimeType> &front,
                     const std::vector<RuntimeType> &back) {
  MakeOptions options;
  EXPECT_TRUE(options.config.SetRuntimeTypes(front, "front") ==
              MaceStatus::MACE_SUCCESS);
  EXPECT_TRUE(options.config.SetRuntimeTypes(back, "back") ==
              MaceStatus::MACE_SUCCESS);
  return Make(TwoParts(), options);
}

TEST(SubgraphsTest, HaveDevicesOfTheirOwn) {
  const FakeDeviceControl control(Taking(TakesAll));
  struct Case {
    std::vector<RuntimeType> front;
    std::vector<RuntimeType> back;
    Devices devices;
  };
  const Case cases[] = {
      {{RT_APU}, {RT_CPU}, {APU, APU, CPU, CPU}},
      {{RT_CPU}, {RT_APU, RT_CPU}, {CPU, CPU, APU, APU}},
      {{RT_APU, RT_CPU}, {RT_APU}, {APU, APU, APU, APU}},
      {{RT_CPU}, {RT_CPU}, {CPU, CPU, CPU, CPU}},
  };
  for (const Case &c : cases) {
    const MadeEngine made = MakeParts(c.front, c.back);
    ASSERT_OK(made.status);
    ASSERT_OK(RunDiamond(made, 3));
    const EnginePlacement placement = made.engine->GetPlacement();
    EXPECT_EQ(DevicesOf(placement), c.devices);
    EXPECT_EQ(placement.operators[0].subgraph, "front");
    EXPECT_EQ(placement.operators[3].subgraph, "back");
  }
}

TEST(SubgraphsTest, WithoutDevicesOfTheirOwnHaveTheModels) {
  const FakeDeviceControl control(Taking(TakesAll));
  MakeOptions options = OnBoth();
  ASSERT_TRUE(options.config.SetRuntimeType(RT_CPU, "front") ==
              MaceStatus::MACE_SUCCESS);
  const MadeEngine made = Make(TwoParts(), options);
  ASSERT_OK(made.status);
  EXPECT_EQ(DevicesOf(made.engine->GetPlacement()),
            (Devices{CPU, CPU, APU, APU}));
  EXPECT_NE(made.engine->Explain().find("1 front: TestAffine 'scale' CPU"),
            std::string::npos)
      << made.engine->Explain();
}

TEST(SubgraphsTest, AreRefusedByNameWhereTheModelHasThemNot) {
  MakeOptions options;
  ASSERT_TRUE(options.config.SetRuntimeType(RT_CPU, "middle") ==
              MaceStatus::MACE_SUCCESS);
  const MaceStatus status = Make(TwoParts(), options).status;
  EXPECT_EQ(status.code(), MaceStatus::MACE_INVALID_ARGS);
  EXPECT_MENTIONS(status,
                  "a runtime is set for subgraph 'middle', but the model has "
                  "'front', 'back'");
}

TEST(SubgraphsTest, FailWithADeviceThatOneOfThemCannotDoWithout) {
  const MadeEngine without = MakeParts({RT_HTA, RT_CPU}, {RT_CPU});
  ASSERT_OK(without.status);
  EXPECT_EQ(without.engine->GetPlacement().left_out.size(), 1u);
  const MaceStatus status = MakeParts({RT_HTA, RT_CPU}, {RT_HTA}).status;
  EXPECT_EQ(status.code(), MaceStatus::MACE_UNSUPPORTED);
  EXPECT_MENTIONS(status, "no HTA runtime");
}

// These test programs have no Conv2D.
TEST(TwoDevicesTest, CannotBeTimedWithoutTheOperators) {
  const Capability capability = GetCapability(RT_CPU);
  EXPECT_TRUE(capability.supported);
  EXPECT_LT(capability.float32_performance.exec_time, 0);
}

TEST(TwoDevicesTest, SayWhatRunsWhereAndWhatIsCopied) {
  const FakeDeviceControl control(Taking(TakesEverySecond));
  const MadeEngine made = Make(Diamond(), OnBoth());
  ASSERT_OK(made.status);
  ASSERT_OK(RunDiamond(made, 1));
  const EnginePlacement placement = made.engine->GetPlacement();
  EXPECT_EQ(DevicesOf(placement), (Devices{APU, CPU, APU, CPU}));
  // t to the CPU, y back, z to the CPU.
  ASSERT_EQ(placement.copies.size(), 3u);
  EXPECT_EQ(placement.copies[0].tensor, "t");
  EXPECT_EQ(placement.copies[0].from, APU);
  EXPECT_EQ(placement.copies[0].to, CPU);
  EXPECT_EQ(placement.copies[0].bytes, 48);
  EXPECT_EQ(placement.copies[0].before_operator, 1u);
  EXPECT_EQ(placement.copies[1].tensor, "y");
  EXPECT_EQ(placement.copies[2].tensor, "z");
  ASSERT_EQ(placement.operators[1].refusals.size(), 1u);
  EXPECT_EQ(placement.operators[1].refusals[0].device, APU);
  const std::string text = made.engine->Explain();
  EXPECT_NE(text.find("2 operators on APU, 2 operators on CPU"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("copy of 't' from APU to CPU, 48 bytes"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("not on APU: the test leaves it to the host"),
            std::string::npos)
      << text;
}

TEST(TwoDevicesTest, ReportTimesOfBoth) {
  const FakeDeviceControl control(Taking(TakesEverySecond));
  const MadeEngine made = Make(Diamond(), OnBoth());
  ASSERT_OK(made.status);
  RunMetadata metadata;
  ASSERT_OK(RunDiamond(made, 1, &metadata));
  Devices devices;
  for (const OperatorStats &stats : metadata.op_stats) {
    devices.push_back(stats.device);
  }
  EXPECT_EQ(devices, (Devices{APU, CPU, APU, CPU}));
}

TEST(TwoDevicesTest, ExplainWhatTheLastTimedRunTook) {
  const FakeDeviceControl control(Taking(TakesEverySecond));
  const MadeEngine made = Make(Diamond(), OnBoth());
  ASSERT_OK(made.status);
  ASSERT_OK(RunDiamond(made, 1));
  for (const OperatorPlacement &op : made.engine->GetPlacement().operators) {
    EXPECT_EQ(op.measured_nanos, -1) << op.operator_name;
  }
  EXPECT_EQ(made.engine->Explain().find("measured"), std::string::npos);
  RunMetadata metadata;
  ASSERT_OK(RunDiamond(made, 1, &metadata));
  const EnginePlacement placement = made.engine->GetPlacement();
  ASSERT_EQ(placement.operators.size(), metadata.op_stats.size());
  for (size_t i = 0; i < metadata.op_stats.size(); ++i) {
    EXPECT_EQ(placement.operators[i].measured_nanos,
              metadata.op_stats[i].stats.duration_nanos);
  }
  const std::string text = made.engine->Explain();
  EXPECT_NE(text.find(", estimated 0.0 us, measured "), std::string::npos)
      << text;
}

// Each device stores what it computes as the deployment wishes, and what is
// copied between them is of one type.
TEST(TwoDevicesTest, GiveTheSameResultIn16Bits) {
  for (const char *type : {"fp16_fp16", "bf16_bf16"}) {
    for (auto *takes :
         {TakesEverySecond, TakesOddNodes, TakesAll, TakesNothing}) {
      const FakeDeviceControl control(Taking(takes));
      const MadeEngine made = Make(ModelBuilder()
                                       .DataTypes(type)
                                       .Input("x", {1, 3})
                                       .Operator("a", "TestHalf", {"x"}, {"a"})
                                       .Operator("b", "TestMove", {"a"}, {"b"})
                                       .Operator("c", "TestHalf", {"b"}, {"c"})
                                       .Operator("d", "TestHalf", {"c"}, {"d"})
                                       .Output("d"),
                                   OnBoth());
      ASSERT_OK(made.status);
      Tensors outputs = {{"d", Room(3)}};
      ASSERT_OK(
          made.engine->Run({{"x", Floats({1, 3}, {1, -3, 40})}}, &outputs));
      EXPECT_EQ(Values(outputs["d"]), (std::vector<float>{8, -24, 320}))
          << type << made.engine->Explain();
    }
  }
}

TEST(TwoDevicesTest, AGroupThatDoesNotPayForItsCopiesGoesToTheHost) {
  FakeDeviceSettings settings = Taking(TakesEverySecond);
  settings.copy_nanos = 1e9;
  const FakeDeviceControl control(settings);
  const MadeEngine made = Make(Diamond(), OnBoth());
  ASSERT_OK(made.status);
  const EnginePlacement placement = made.engine->GetPlacement();
  EXPECT_EQ(DevicesOf(placement), (Devices{CPU, CPU, CPU, CPU}));
  ASSERT_EQ(placement.operators[0].refusals.size(), 1u);
  EXPECT_NE(placement.operators[0].refusals[0].reason.find("copies"),
            std::string::npos)
      << placement.operators[0].refusals[0].reason;
  EXPECT_TRUE(placement.copies.empty());
  ASSERT_OK(RunDiamond(made, 1));
}

TEST(TwoDevicesTest, TheHostTakesWhatNobodyElseCanEvenIfNobodyAskedForIt) {
  const FakeDeviceControl control(Taking(TakesEverySecond));
  MakeOptions options;
  ASSERT_OK(options.config.SetRuntimeType(RT_APU));
  const MadeEngine made = Make(Diamond(), options);
  ASSERT_OK(made.status);
  EXPECT_EQ(DevicesOf(made.engine->GetPlacement()),
            (Devices{APU, CPU, APU, CPU}));
  ASSERT_OK(RunDiamond(made, 2));
}

TEST(TwoDevicesTest, ADeviceThatIsMissingIsLeftOutIfTheHostIsNamedToo) {
  const FakeDeviceControl control(Taking(TakesAll));
  MakeOptions options;
  ASSERT_OK(options.config.SetRuntimeTypes({RT_HTA, RT_CPU, RT_APU}));
  const MadeEngine made = Make(Diamond(), options);
  ASSERT_OK(made.status);
  const EnginePlacement placement = made.engine->GetPlacement();
  ASSERT_EQ(placement.left_out.size(), 1u);
  EXPECT_EQ(placement.left_out[0].device, HTA);
  EXPECT_EQ(DevicesOf(placement), (Devices{APU, APU, APU, APU}));
  ASSERT_OK(options.config.SetRuntimeTypes({RT_HTA, RT_APU}));
  const MaceStatus status = Make(Diamond(), options).status;
  EXPECT_CODE(status, MACE_UNSUPPORTED);
  EXPECT_MENTIONS(status, "HTA");
}

// Whichever call of the device fails, the result is right, and the device is no
// longer used.
TEST(TwoDevicesTest, SurviveTheFailureOfEveryCall) {
  int64_t failures = 0;
  for (auto *takes : {TakesEverySecond, TakesOddNodes, TakesAll}) {
    for (int64_t call = 1;; ++call) {
      FakeDeviceSettings settings = Taking(takes);
      settings.failing_call = call;
      const FakeDeviceControl control(settings);
      const MadeEngine made = Make(Diamond(), OnBoth());
      ASSERT_OK(made.status);
      for (float first : {1.0f, 5.0f, 2.0f}) {
        ASSERT_OK(RunDiamond(made, first));
      }
      if (FakeDeviceControl::calls() < call) break;
      ++failures;
      const EnginePlacement placement = made.engine->GetPlacement();
      ASSERT_EQ(placement.left_out.size(), 1u) << "call " << call;
      EXPECT_EQ(placement.left_out[0].device, APU);
      EXPECT_NE(placement.left_out[0].reason.find("fails call"),
                std::string::npos);
      EXPECT_EQ(DevicesOf(placement), (Devices{CPU, CPU, CPU, CPU}));
      EXPECT_NE(made.engine->Explain().find("APU is left out: "),
                std::string::npos);
    }
  }
  EXPECT_GT(failures, 30);
}

TEST(TwoDevicesTest, HandOutInputsConstantsAndTensorsOfBothDevices) {
  for (auto *takes : {TakesEverySecond, TakesOddNodes, TakesAll}) {
    const FakeDeviceControl control(Taking(takes));
    MakeOptions options = OnBoth();
    options.outputs = {"x", "c", "t", "y", "z", "s"};
    const MadeEngine made = Make(Diamond(), options);
    ASSERT_OK(made.status);
    Tensors outputs;
    for (const std::string &name : options.outputs) outputs[name] = Room(12);
    const std::vector<float> x = Ramp(12);
    ASSERT_OK(made.engine->Run({{"x", Floats({1, 2, 2, 3}, x)}}, &outputs));
    EXPECT_EQ(Values(outputs["x"]), x);
    EXPECT_EQ(Values(outputs["c"]), Ramp(12, 0));
    EXPECT_EQ(Values(outputs["s"]), DiamondResult(x));
    std::vector<float> t;
    std::vector<float> y;
    for (size_t i = 0; i < x.size(); ++i) {
      t.push_back(x[i] + static_cast<float>(i));
      y.push_back(2 * t[i]);
    }
    EXPECT_EQ(Values(outputs["t"]), t);
    EXPECT_EQ(Values(outputs["y"]), y);
  }
}

// Shapes that change from run to run, and values that follow from shapes.
TEST(TwoDevicesTest, FollowShapesAndKnownValues) {
  for (auto *takes : {TakesEverySecond, TakesOddNodes, TakesAll}) {
    const FakeDeviceControl control(Taking(takes));
    const MadeEngine made =
        Make(ModelBuilder()
                 .Input("x", {-1, -1})
                 .Operator("a", "TestAffine", {"x"}, {"a"}, {Scale(3)})
                 .Operator("shape", "TestShape", {"a"}, {"n"})
                 .Operator("double", "TestDouble", {"n"}, {"m"})
                 .Operator("fill", "TestFill", {"m"}, {"f"},
                           {FloatAttribute("value", 7)})
                 .Operator("b", "TestAffine", {"f"}, {"b"}, {Scale(2)})
                 .Operator("c", "TestAffine", {"a"}, {"c"}, {Scale(2)})
                 .Output("b")
                 .Output("c"),
             OnBoth());
    ASSERT_OK(made.status);
    for (int round = 0; round < 3; ++round) {
      for (int64_t rows : {1, 3, 2}) {
        const int64_t count = rows * 2;
        Tensors outputs = {{"b", Room(4 * count)}, {"c", Room(count)}};
        ASSERT_OK(made.engine->Run({{"x", Floats({rows, 2}, Ramp(count))}},
                                   &outputs));
        EXPECT_EQ(Values(outputs["b"]), std::vector<float>(4 * count, 14));
        std::vector<float> c = Ramp(count);
        for (float &value : c) value *= 6;
        EXPECT_EQ(Values(outputs["c"]), c);
      }
    }
  }
}

// A model with open shapes is placed before they are known. A device that turns
// out not to take the shapes of some operators keeps the others, from then on.
TEST(TwoDevicesTest, AnOperatorWhoseShapeDoesNotFitMovesToTheHost) {
  FakeDeviceSettings settings = Taking(TakesAll);
  settings.fits = [](const Shape &output) { return output.Elements() <= 6; };
  const FakeDeviceControl control(settings);
  const MadeEngine made =
      Make(ModelBuilder()
               .Input("x", {-1, -1})
               .Operator("a", "TestAffine", {"x"}, {"a"}, {Scale(3)})
               .Operator("shape", "TestShape", {"a"}, {"n"})
               .Operator("double", "TestDouble", {"n"}, {"m"})
               .Operator("fill", "TestFill", {"m"}, {"f"},
                         {FloatAttribute("value", 7)})
               .Operator("b", "TestAffine", {"f"}, {"b"}, {Scale(2)})
               .Output("a")
               .Output("b"),
           OnBoth());
  ASSERT_OK(made.status);
  const auto device_of = [&](const std::string &name) {
    for (const auto &op : made.engine->GetPlacement().operators) {
      if (op.operator_name == name) return op.device;
    }
    return CPU;
  };
  EXPECT_EQ(device_of("b"), APU);
  bool fitted = true;
  for (int64_t rows : {1, 2, 3, 4, 1}) {
    fitted = fitted && rows < 4;
    const int64_t count = 2 * rows;
    Tensors outputs = {{"a", Room(count)}, {"b", Room(4 * count)}};
    ASSERT_OK(
        made.engine->Run({{"x", Floats({rows, 2}, Ramp(count))}}, &outputs));
    EXPECT_EQ(Values(outputs["b"]), std::vector<float>(4 * count, 14));
    EXPECT_EQ(device_of("a"), fitted ? APU : CPU) << rows;
    EXPECT_EQ(device_of("b"), CPU);
    EXPECT_TRUE(made.engine->GetPlacement().left_out.empty());
  }
}

}  // namespace
}  // namespace core_test
}  // namespace mace
