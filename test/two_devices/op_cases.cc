// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the cases of the operators' tests as models of one operator, which the
// second device computes: what it gives is held to what the tests expect.

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/base/precision.h"
#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/ops/testing/op_runner.h"
#include "mace/public/mace.h"
#include "mace/runtimes/testing/fake_device.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::ModelBuilder;
using op_test::CaseInput;
using op_test::OpCase;
using op_test::OpResult;
using op_test::Value;

int g_on_device = 0;

Dims DimsOf(const Shape &shape) { return Dims(shape.begin(), shape.end()); }

std::string AttributeOf(const AttributeValue &attribute) {
  const std::string name(attribute.name);
  switch (attribute.kind) {
    case AttributeKind::kInt:
      return core_test::IntAttribute(name, attribute.i);
    case AttributeKind::kFloat:
      return core_test::FloatAttribute(name, attribute.f);
    case AttributeKind::kString:
      return core_test::StringAttribute(name, std::string(attribute.s));
    case AttributeKind::kInts:
      return core_test::IntsAttribute(
          name, Dims(attribute.ints.begin(), attribute.ints.end()));
    case AttributeKind::kFloats:
      return core_test::FloatsAttribute(
          name, {attribute.floats.begin(), attribute.floats.end()});
  }
  return "";
}

// Every computed value is an input of the model, all others are constants.
ModelBuilder ModelOf(const OpCase &op_case) {
  ModelBuilder model;
  std::vector<std::string> inputs;
  for (const CaseInput &input : op_case.inputs) {
    const std::string name = "input" + std::to_string(inputs.size());
    const bool is_there = input.kind != CaseInput::Kind::kAbsent;
    inputs.push_back(is_there ? name : "");
    if (!is_there) continue;
    const Value &value = input.value;
    const Dims dims = DimsOf(value.shape);
    if (input.kind == CaseInput::Kind::kComputed) {
      model.Input(name, dims, value.data_type, DataFormat::NONE);
      continue;
    }
    const uint64_t offset =
        model.AppendWeights(value.bytes.data(), value.bytes.size());
    model.RawConstant(name, dims, value.data_type, input.layout,
                      static_cast<uint64_t>(input.groups), offset,
                      value.bytes.size());
  }
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;
  for (size_t i = 0; i < op_case.outputs; ++i) {
    outputs.push_back("output" + std::to_string(i));
  }
  for (const AttributeValue &attribute : op_case.def.attributes) {
    attributes.push_back(AttributeOf(attribute));
  }
  model.Operator(op_case.def.name, op_case.def.type, inputs, outputs,
                 attributes);
  for (const std::string &name : outputs) model.Output(name, DataFormat::NONE);
  if (op_case.hints.winograd > 0) {
    model.Winograd(static_cast<uint64_t>(op_case.hints.winograd));
  }
  return model;
}

// Of the type that the model has.
MaceTensor Room(const Dims &dims, size_t bytes) {
  const std::shared_ptr<char> data(new char[bytes + 1],
                                   std::default_delete<char[]>());
  std::memset(data.get(), 0xa5, bytes);
  return MaceTensor(dims, data, DataFormat::NONE, IDataType::IDT_NOT_SET);
}

// `wanted` says how much room the results need.
OpResult RunModel(const OpCase &op_case, const OpResult &wanted) {
  OpResult result = wanted;
  result.outputs.clear();
  core_test::MakeOptions options;
  EXPECT_EQ(options.config.SetRuntimeTypes(
                {RuntimeType::RT_APU, RuntimeType::RT_CPU}),
            MaceStatus::MACE_SUCCESS);
  const core_test::MadeEngine made = core_test::Make(ModelOf(op_case), options);
  result.status = made.status;
  if (result.status != MaceStatus::MACE_SUCCESS) return result;
  std::map<std::string, MaceTensor> inputs;
  std::map<std::string, MaceTensor> outputs;
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (op_case.inputs[i].kind != CaseInput::Kind::kComputed) continue;
    const Value &value = op_case.inputs[i].value;
    MaceTensor tensor = Room(DimsOf(value.shape), value.bytes.size());
    std::memcpy(tensor.raw_data().get(), value.bytes.data(),
                value.bytes.size());
    inputs["input" + std::to_string(i)] = tensor;
  }
  for (size_t i = 0; i < wanted.outputs.size(); ++i) {
    const Value &value = wanted.outputs[i];
    outputs["output" + std::to_string(i)] =
        Room({value.shape.Elements()}, value.bytes.size());
  }
  result.status = made.engine->Run(inputs, &outputs);
  if (result.status != MaceStatus::MACE_SUCCESS) return result;
  for (size_t i = 0; i < wanted.outputs.size(); ++i) {
    const MaceTensor &tensor = outputs["output" + std::to_string(i)];
    Value value = wanted.outputs[i];
    value.shape = Shape(tensor.shape().data(), tensor.shape().size());
    std::memcpy(value.bytes.data(), tensor.raw_data().get(),
                value.bytes.size());
    result.outputs.push_back(std::move(value));
  }
  for (const OperatorPlacement &op : made.engine->GetPlacement().operators) {
    g_on_device += op.device == DeviceType::APU;
  }
  return result;
}

OpResult RunOnSecondDevice(const OpCase &op_case) {
  OpResult direct = op_test::RunOp(op_case);
  // A model in 16 bits has inputs of floats, which the engine stores.
  const bool in_float = op_case.hints.precision == Precision::kFloat32;
  // Nobody can say how much room the results of such a run would need.
  const bool has_results = direct.outputs.size() == op_case.outputs;
  return in_float && has_results ? RunModel(op_case, direct) : direct;
}

class EveryCase final : public ::testing::Environment {
 public:
  void SetUp() override {
    core_test::FakeDeviceSettings settings;
    settings.takes = core_test::TakesAll;
    control_ = std::make_unique<core_test::FakeDeviceControl>(settings);
    op_test::RunCasesBy(RunOnSecondDevice);
  }
  void TearDown() override {
    std::printf("%d cases computed by the second device\n", g_on_device);
    if (::testing::UnitTest::GetInstance()->test_to_run_count() > 200) {
      EXPECT_GT(g_on_device, 5000);
    }
  }

 private:
  std::unique_ptr<core_test::FakeDeviceControl> control_;
};

const ::testing::Environment *const every_case =
    ::testing::AddGlobalTestEnvironment(new EveryCase);

}  // namespace
}  // namespace mace
