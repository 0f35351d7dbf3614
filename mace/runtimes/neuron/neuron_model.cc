// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/neuron/neuron_model.h"

#include <functional>
#include <numeric>
#include <utility>

namespace mace {
namespace {

int32_t FusedActivation(CommonActivation activation) {
  switch (activation) {
    case CommonActivation::kRelu:
      return kNeuronFusedRelu;
    case CommonActivation::kRelu6:
      return kNeuronFusedRelu6;
    default:
      return kNeuronFusedNone;
  }
}

int32_t TensorType(const DelegateTensor &tensor) {
  switch (tensor.type) {
    case IDataType::IDT_UINT8:
      return kNeuronTensorUint8;
    case IDataType::IDT_INT8:
      return kNeuronTensorInt8;
    case IDataType::IDT_INT32:
      return kNeuronTensorInt32;
    default:
      return kNeuronTensorFloat32;
  }
}

int64_t Product(const std::vector<int64_t> &dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1},
                         std::multiplies<>());
}

size_t ElementBytes(const DelegateTensor &tensor) {
  return tensor.type == IDataType::IDT_FLOAT ||
                 tensor.type == IDataType::IDT_INT32
             ? sizeof(float)
             : 1;
}

float ScaleOf(const DelegateTensor &tensor) {
  return tensor.scales.size() == 1 ? tensor.scales[0] : 0.0f;
}
int64_t ZeroPointOf(const DelegateTensor &tensor) {
  return tensor.zero_points.size() == 1 ? tensor.zero_points[0] : 0;
}

}  // namespace

std::string NeuronRefusal(const DelegateSegment &segment,
                          const DelegateOperator &from,
                          CommonOp *op) {
  std::string problem = ReadCommonOp(segment, from, op);
  if (!problem.empty()) return problem;
  const auto at = [&segment](int tensor) -> const DelegateTensor & {
    return segment.tensors[static_cast<size_t>(tensor)];
  };
  const DelegateTensor &output = at(from.outputs[0]);
  if (output.shape.size() > 4) return "it takes tensors of up to 4 dimensions";
  if (!op->quantized) return std::string();
  // The fixed scale of Softmax in NNAPI.
  constexpr float kSoftmaxScale = 1.0f / 256;
  const int64_t lowest = output.type == IDataType::IDT_INT8 ? -128 : 0;
  if (op->kind == CommonKind::kSoftmax &&
      (ScaleOf(output) != kSoftmaxScale || ZeroPointOf(output) != lowest)) {
    return "the quantized result of its Softmax has the scale 1/256 from the "
           "lowest number";
  }
  if (op->kind == CommonKind::kMul &&
      ScaleOf(output) <=
          ScaleOf(at(from.inputs[0])) * ScaleOf(at(from.inputs[1]))) {
    return "its products have a scale above the product of both scales";
  }
  if (op->kind == CommonKind::kActivation) {
    return "it has no Activation of integers";
  }
  return std::string();
}

Result<std::unique_ptr<NeuronSegmentModel>> NeuronSegmentModel::Create(
    std::shared_ptr<const NeuronApi> api, const DelegateSegment &segment) {
  std::unique_ptr<NeuronSegmentModel> model(
      new NeuronSegmentModel(std::move(api), segment));
  MACE_RETURN_IF_ERROR(model->Build());
  model->segment_ = nullptr;
  return model;
}

NeuronSegmentModel::~NeuronSegmentModel() {
  if (model_ != nullptr) api_->NeuronModel_free(model_);
}

MaceStatus NeuronSegmentModel::Build() {
  MACE_NEURON_CHECK(*api_, NeuronModel_create, &model_);
  for (const DelegateOperator &from : segment_->operators) {
    MACE_RETURN_IF_ERROR(Add(from));
  }
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  for (int tensor : segment_->inputs) inputs.push_back(Operand(tensor));
  for (int tensor : segment_->outputs) outputs.push_back(Operand(tensor));
  MACE_RETURN_IF_ERROR(status_);
  MACE_NEURON_CHECK(*api_, NeuronModel_identifyInputsAndOutputs, model_,
                    static_cast<uint32_t>(inputs.size()), inputs.data(),
                    static_cast<uint32_t>(outputs.size()), outputs.data());
  MACE_NEURON_CHECK(*api_, NeuronModel_relaxComputationFloat32toFloat16, model_,
                    segment_->allow_half);
  MACE_NEURON_CHECK(*api_, NeuronModel_finish, model_);
  return MaceStatus();
}

void NeuronSegmentModel::Keep(const char *call, int error) {
  if (error != kNeuronNoError && IsOk(status_)) {
    status_ = NeuronError(call, error);
  }
}

uint32_t NeuronSegmentModel::AddOperand(int32_t type,
                                        const Dims &dims,
                                        float scale,
                                        int64_t zero_point) {
  const std::vector<uint32_t> sizes(dims.begin(), dims.end());
  const NeuronOperandType operand = {type, static_cast<uint32_t>(sizes.size()),
                                     sizes.empty() ? nullptr : sizes.data(),
                                     scale, static_cast<int32_t>(zero_point)};
  Keep("NeuronModel_addOperand",
       api_->NeuronModel_addOperand(model_, &operand));
  return operand_count_++;
}

void NeuronSegmentModel::SetValue(uint32_t operand,
                                  const void *data,
                                  size_t bytes) {
  Keep("NeuronModel_setOperandValue",
       api_->NeuronModel_setOperandValue(model_, static_cast<int32_t>(operand),
                                         data, bytes));
}

uint32_t NeuronSegmentModel::NewTensor(const DelegateTensor &like,
                                       const Dims &dims) {
  return AddOperand(TensorType(like), dims, ScaleOf(like), ZeroPointOf(like));
}

uint32_t NeuronSegmentModel::Operand(int tensor) {
  const auto found = operands_.find(tensor);
  if (found != operands_.end()) return found->second;
  const DelegateTensor &from = segment_->tensors[static_cast<size_t>(tensor)];
  const uint32_t operand = NewTensor(from, from.shape);
  operands_.emplace(tensor, operand);
  if (from.is_constant) {
    SetValue(operand, from.data,
             static_cast<size_t>(Product(from.shape)) * ElementBytes(from));
  }
  return operand;
}

uint32_t NeuronSegmentModel::Int(int64_t value) {
  const auto number = static_cast<int32_t>(value);
  const uint32_t operand = AddOperand(kNeuronInt32, {}, 0, 0);
  SetValue(operand, &number, sizeof(number));
  return operand;
}

uint32_t NeuronSegmentModel::Bool(bool value) {
  const uint8_t number = value ? 1 : 0;
  const uint32_t operand = AddOperand(kNeuronBool, {}, 0, 0);
  SetValue(operand, &number, sizeof(number));
  return operand;
}

uint32_t NeuronSegmentModel::Float(float value) {
  const uint32_t operand = AddOperand(kNeuronFloat32, {}, 0, 0);
  SetValue(operand, &value, sizeof(value));
  return operand;
}

uint32_t NeuronSegmentModel::Ints(const Dims &values) {
  ints_.emplace_back(values.begin(), values.end());
  const std::vector<int32_t> &kept = ints_.back();
  const uint32_t operand =
      AddOperand(kNeuronTensorInt32, {static_cast<int64_t>(kept.size())}, 0, 0);
  SetValue(operand, kept.data(), kept.size() * sizeof(int32_t));
  return operand;
}

uint32_t NeuronSegmentModel::Filter(const DelegateTensor &filter,
                                    const Dims &dims,
                                    uint32_t channel_axis,
                                    bool quantized) {
  const auto elements = static_cast<size_t>(Product(dims));
  if (!quantized) {
    const uint32_t operand = AddOperand(kNeuronTensorFloat32, dims, 0, 0);
    SetValue(operand, filter.data, elements * sizeof(float));
    return operand;
  }
  const uint32_t operand = AddOperand(kNeuronTensorChannelInt8, dims, 0, 0);
  std::vector<float> scales = filter.scales;
  if (scales.size() == 1) {
    scales.resize(static_cast<size_t>(dims[channel_axis]), scales[0]);
  }
  floats_.push_back(std::move(scales));
  const NeuronChannelScales channels = {
      channel_axis, static_cast<uint32_t>(floats_.back().size()),
      floats_.back().data()};
  Keep("NeuronModel_setOperandSymmPerChannelQuantParams",
       api_->NeuronModel_setOperandSymmPerChannelQuantParams(
           model_, static_cast<int32_t>(operand), &channels));
  SetValue(operand, filter.data, elements);
  return operand;
}

// Quantized, its scales are products of those of input and filter, which 0
// stands for.
uint32_t NeuronSegmentModel::Bias(const CommonOp &op, int64_t outputs) {
  const int32_t type = op.quantized ? kNeuronTensorInt32 : kNeuronTensorFloat32;
  const uint32_t operand = AddOperand(type, {outputs}, 0, 0);
  const size_t bytes = static_cast<size_t>(outputs) * sizeof(float);
  if (op.bias >= 0) {
    SetValue(operand, segment_->tensors[static_cast<size_t>(op.bias)].data,
             bytes);
    return operand;
  }
  // Zero is the same in both types.
  floats_.emplace_back(static_cast<size_t>(outputs), 0.0f);
  SetValue(operand, floats_.back().data(), bytes);
  return operand;
}

MaceStatus NeuronSegmentModel::AddOperation(int32_t type,
                                            const std::vector<uint32_t> &inputs,
                                            uint32_t output) {
  MACE_RETURN_IF_ERROR(status_);
  MACE_NEURON_CHECK(*api_, NeuronModel_addOperation, model_, type,
                    static_cast<uint32_t>(inputs.size()), inputs.data(), 1,
                    &output);
  ++operation_count_;
  return MaceStatus();
}

uint32_t NeuronSegmentModel::ResultOfProduct(const DelegateOperator &from,
                                             const CommonOp &op) {
  if (op.residual < 0) return Operand(from.outputs[0]);
  const DelegateTensor &output =
      segment_->tensors[static_cast<size_t>(from.outputs[0])];
  return NewTensor(output, output.shape);
}

MaceStatus NeuronSegmentModel::AddResidual(const DelegateOperator &from,
                                           const CommonOp &op,
                                           uint32_t product) {
  if (op.residual < 0) return MaceStatus();
  return AddOperation(
      kNeuronAdd,
      {product, Operand(op.residual), Int(FusedActivation(op.activation))},
      Operand(from.outputs[0]));
}

MaceStatus NeuronSegmentModel::AddConvolution(const DelegateOperator &from,
                                              const CommonOp &op) {
  const DelegateTensor &filter =
      segment_->tensors[static_cast<size_t>(from.inputs[1])];
  const bool depthwise = op.kind == CommonKind::kDepthwiseConv2d;
  Dims dims = filter.shape;
  int64_t multiplier = 1;
  if (depthwise) {
    multiplier = dims[3];
    dims = {1, dims[0], dims[1], dims[2] * dims[3]};
  }
  const uint32_t channel_axis = depthwise ? 3 : 0;
  const uint32_t product = ResultOfProduct(from, op);
  const int64_t fused = op.residual < 0
                            ? FusedActivation(op.activation)
                            : static_cast<int64_t>(kNeuronFusedNone);
  std::vector<uint32_t> inputs = {
      Operand(from.inputs[0]),
      Filter(filter, dims, channel_axis, op.quantized),
      Bias(op, dims[channel_axis]),
      Int(op.pads[2]),  // left, right, top, bottom
      Int(op.pads[3]),
      Int(op.pads[0]),
      Int(op.pads[1]),
      Int(op.strides[1]),
      Int(op.strides[0])};
  if (depthwise) inputs.push_back(Int(multiplier));
  inputs.push_back(Int(fused));
  inputs.push_back(Bool(false));  // not NCHW
  inputs.push_back(Int(op.dilations[1]));
  inputs.push_back(Int(op.dilations[0]));
  MACE_RETURN_IF_ERROR(AddOperation(
      depthwise ? kNeuronDepthwiseConv2d : kNeuronConv2d, inputs, product));
  return AddResidual(from, op, product);
}

// Quantized ones are convolutions, whose weights may have a scale for each
// output.
MaceStatus NeuronSegmentModel::AddFullyConnected(const DelegateOperator &from,
                                                 const CommonOp &op) {
  const DelegateTensor &input =
      segment_->tensors[static_cast<size_t>(from.inputs[0])];
  const DelegateTensor &weights =
      segment_->tensors[static_cast<size_t>(from.inputs[1])];
  const DelegateTensor &output =
      segment_->tensors[static_cast<size_t>(from.outputs[0])];
  const int64_t batch = input.shape[0];
  const int64_t outputs = weights.shape[0];
  const int64_t inner = weights.shape[1];
  const int64_t fused = op.residual < 0
                            ? FusedActivation(op.activation)
                            : static_cast<int64_t>(kNeuronFusedNone);
  if (!op.quantized) {
    const uint32_t product = ResultOfProduct(from, op);
    MACE_RETURN_IF_ERROR(AddOperation(
        kNeuronFullyConnected,
        {Operand(from.inputs[0]), Filter(weights, weights.shape, 0, false),
         Bias(op, outputs), Int(fused)},
        product));
    return AddResidual(from, op, product);
  }
  const uint32_t image = NewTensor(input, {batch, 1, 1, inner});
  MACE_RETURN_IF_ERROR(AddOperation(
      kNeuronReshape, {Operand(from.inputs[0]), Ints({batch, 1, 1, inner})},
      image));
  const uint32_t product = NewTensor(output, {batch, 1, 1, outputs});
  MACE_RETURN_IF_ERROR(
      AddOperation(kNeuronConv2d,
                   {image, Filter(weights, {outputs, 1, 1, inner}, 0, true),
                    Bias(op, outputs), Int(0), Int(0), Int(0), Int(0), Int(1),
                    Int(1), Int(fused), Bool(false), Int(1), Int(1)},
                   product));
  return AddOperation(kNeuronReshape, {product, Ints({batch, outputs})},
                      Operand(from.outputs[0]));
}

MaceStatus NeuronSegmentModel::AddPooling(const DelegateOperator &from,
                                          const CommonOp &op) {
  return AddOperation(
      op.kind == CommonKind::kMaxPool ? kNeuronMaxPool : kNeuronAveragePool,
      {Operand(from.inputs[0]), Int(op.pads[2]), Int(op.pads[3]),
       Int(op.pads[0]), Int(op.pads[1]), Int(op.strides[1]), Int(op.strides[0]),
       Int(op.kernel[1]), Int(op.kernel[0]), Int(kNeuronFusedNone),
       Bool(false)},
      Operand(from.outputs[0]));
}

MaceStatus NeuronSegmentModel::AddArithmetic(const DelegateOperator &from,
                                             const CommonOp &op) {
  int32_t type = kNeuronAdd;
  if (op.kind == CommonKind::kSub) type = kNeuronSub;
  if (op.kind == CommonKind::kMul) type = kNeuronMul;
  if (op.kind == CommonKind::kDiv) type = kNeuronDiv;
  return AddOperation(type,
                      {Operand(from.inputs[0]), Operand(from.inputs[1]),
                       Int(FusedActivation(op.activation))},
                      Operand(from.outputs[0]));
}

MaceStatus NeuronSegmentModel::AddActivation(const DelegateOperator &from,
                                             const CommonOp &op) {
  int32_t type = kNeuronRelu;
  if (op.activation == CommonActivation::kRelu6) type = kNeuronRelu6;
  if (op.activation == CommonActivation::kSigmoid) type = kNeuronLogistic;
  if (op.activation == CommonActivation::kTanh) type = kNeuronTanh;
  return AddOperation(type, {Operand(from.inputs[0])},
                      Operand(from.outputs[0]));
}

MaceStatus NeuronSegmentModel::AddResize(const DelegateOperator &from,
                                         const CommonOp &op) {
  const DelegateTensor &output =
      segment_->tensors[static_cast<size_t>(from.outputs[0])];
  return AddOperation(
      op.kind == CommonKind::kResizeLinear ? kNeuronResizeBilinear
                                           : kNeuronResizeNearest,
      {Operand(from.inputs[0]), Int(output.shape[2]), Int(output.shape[1]),
       Bool(false), Bool(op.align_corners), Bool(op.half_pixel)},
      Operand(from.outputs[0]));
}

MaceStatus NeuronSegmentModel::AddOthers(const DelegateOperator &from,
                                         const CommonOp &op) {
  const uint32_t output = Operand(from.outputs[0]);
  if (op.kind == CommonKind::kConcat) {
    std::vector<uint32_t> inputs;
    for (int tensor : from.inputs) inputs.push_back(Operand(tensor));
    inputs.push_back(Int(op.axis));
    return AddOperation(kNeuronConcat, inputs, output);
  }
  const uint32_t input = Operand(from.inputs[0]);
  if (op.kind == CommonKind::kSoftmax) {
    return AddOperation(kNeuronSoftmax, {input, Float(1), Int(op.axis)},
                        output);
  }
  if (op.kind == CommonKind::kMean) {
    return AddOperation(
        kNeuronMean, {input, Ints(op.axes), Int(op.keep_dims ? 1 : 0)}, output);
  }
  const DelegateTensor &result =
      segment_->tensors[static_cast<size_t>(from.outputs[0])];
  return AddOperation(kNeuronReshape, {input, Ints(result.shape)}, output);
}

MaceStatus NeuronSegmentModel::Add(const DelegateOperator &from) {
  CommonOp op;
  const std::string problem = NeuronRefusal(*segment_, from, &op);
  if (!problem.empty()) {
    return RuntimeError("operator '", from.name, "': ", problem);
  }
  switch (op.kind) {
    case CommonKind::kConv2d:
    case CommonKind::kDepthwiseConv2d:
      return AddConvolution(from, op);
    case CommonKind::kFullyConnected:
      return AddFullyConnected(from, op);
    case CommonKind::kMaxPool:
    case CommonKind::kAveragePool:
      return AddPooling(from, op);
    case CommonKind::kAdd:
    case CommonKind::kSub:
    case CommonKind::kMul:
    case CommonKind::kDiv:
      return AddArithmetic(from, op);
    case CommonKind::kActivation:
      return AddActivation(from, op);
    case CommonKind::kResizeLinear:
    case CommonKind::kResizeNearest:
      return AddResize(from, op);
    default:
      return AddOthers(from, op);
  }
}

}  // namespace mace
