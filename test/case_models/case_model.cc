// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/case_models/case_model.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "mace/core/testing/model_builder.h"

namespace mace {
namespace case_models {
namespace {

using core_test::Dims;
using core_test::ModelBuilder;
using op_test::CaseInput;
using op_test::OpCase;
using op_test::OpResult;
using op_test::Value;

Dims DimsOf(const Shape &shape) { return Dims(shape.begin(), shape.end()); }

// Empty if it is none.
std::string MessageOf(const Quantization &quantization) {
  if (!quantization.quantized()) return std::string();
  return core_test::QuantizationMessage(
      quantization.scales, quantization.zero_points, quantization.axis,
      quantization.data_type);
}

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
// `wrap`: operators that copy floats are before and after the operator.
ModelBuilder ModelOf(const OpCase &op_case, const OpResult &wanted, bool wrap) {
  ModelBuilder model;
  std::vector<std::string> inputs;
  for (const CaseInput &input : op_case.inputs) {
    const std::string name = "input" + std::to_string(inputs.size());
    const bool is_there = input.kind != CaseInput::Kind::kAbsent;
    inputs.push_back(is_there ? name : "");
    if (!is_there) continue;
    const Value &value = input.value;
    const Dims dims = DimsOf(value.shape);
    const std::string quantization = MessageOf(input.quantization);
    if (!quantization.empty()) model.Quantized({quantization});
    if (input.kind == CaseInput::Kind::kComputed) {
      model.Input(name, dims, value.data_type, DataFormat::NONE);
      if (wrap && value.data_type == DataType::kFloat32) {
        inputs.back() = "copy of " + name;
        model.Operator("copy " + name, "Activation", {name}, {inputs.back()});
      }
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
    if (wrap && wanted.outputs[i].data_type == DataType::kFloat32) {
      outputs.back() = "computed " + outputs.back();
    }
  }
  for (const AttributeValue &attribute : op_case.def.attributes) {
    attributes.push_back(AttributeOf(attribute));
  }
  std::vector<std::string> quantizations;
  for (const Quantization &quantization : op_case.def.output_quantization) {
    quantizations.push_back(MessageOf(quantization));
  }
  model.Quantized(quantizations);
  model.Operator(op_case.def.name, op_case.def.type, inputs, outputs,
                 attributes);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string result = "output" + std::to_string(i);
    if (outputs[i] != result) {
      model.Operator("copy " + result, "Activation", {outputs[i]}, {result});
    }
    // A model repeats what its outputs stand for.
    if (i < quantizations.size() && !quantizations[i].empty()) {
      Quantization output = op_case.def.output_quantization[i];
      output.data_type = DataType::kUnknown;
      model.Quantized({MessageOf(output)});
    }
    model.Output(result, DataFormat::NONE);
  }
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

}  // namespace

CaseModel::CaseModel(const OpCase &op_case,
                     const OpResult &wanted,
                     RuntimeType runtime,
                     const std::string &data_type,
                     bool wrap) {
  core_test::MakeOptions options;
  EXPECT_EQ(options.config.SetRuntimeTypes({runtime, RuntimeType::RT_CPU}),
            MaceStatus::MACE_SUCCESS);
  ModelBuilder model = ModelOf(op_case, wanted, wrap);
  if (!data_type.empty()) model.DataTypes(data_type);
  made_ = core_test::Make(model, options);
  for (size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (op_case.inputs[i].kind != CaseInput::Kind::kComputed) continue;
    const Value &value = op_case.inputs[i].value;
    MaceTensor tensor = Room(DimsOf(value.shape), value.bytes.size());
    std::copy(value.bytes.begin(), value.bytes.end(),
              static_cast<uint8_t *>(tensor.raw_data().get()));
    inputs_["input" + std::to_string(i)] = tensor;
  }
  for (size_t i = 0; i < wanted.outputs.size(); ++i) {
    const int64_t elements = wanted.planned_elements[i];
    const size_t size = DataTypeSize(wanted.outputs[i].data_type);
    outputs_["output" + std::to_string(i)] =
        Room({elements}, static_cast<size_t>(elements) * size);
  }
}

MaceStatus CaseModel::Run(RunMetadata *metadata) {
  return made_.engine->Run(inputs_, &outputs_, metadata);
}

OpResult RunModel(const OpCase &op_case,
                  const OpResult &wanted,
                  RuntimeType runtime,
                  const std::string &data_type,
                  bool wrap,
                  OperatorPlacement *placement) {
  OpResult result = wanted;
  result.outputs.clear();
  CaseModel model(op_case, wanted, runtime, data_type, wrap);
  result.status = model.status();
  if (result.status != MaceStatus::MACE_SUCCESS) return result;
  result.status = model.Run(nullptr);
  if (result.status != MaceStatus::MACE_SUCCESS) return result;
  for (size_t i = 0; i < wanted.outputs.size(); ++i) {
    MaceTensor tensor = model.outputs().at("output" + std::to_string(i));
    Value value = wanted.outputs[i];
    value.shape = Shape(tensor.shape().data(), tensor.shape().size());
    std::copy_n(static_cast<const uint8_t *>(tensor.raw_data().get()),
                value.bytes.size(), value.bytes.begin());
    result.outputs.push_back(std::move(value));
  }
  const EnginePlacement all = model.engine()->GetPlacement();
  for (const OperatorPlacement &op : all.operators) {
    if (op.operator_name == op_case.def.name) *placement = op;
  }
  for (const DeviceRefusal &refusal : all.left_out) {
    ADD_FAILURE() << op_case.def.type
                  << ": the device failed: " << refusal.reason;
  }
  return result;
}

}  // namespace case_models
}  // namespace mace
