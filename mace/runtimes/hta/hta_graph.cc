// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hta/hta_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mace/core/base/divide.h"

namespace mace {
namespace {

constexpr size_t kRank = 4;
constexpr int kMostByte = 255;
constexpr int kSignedZero = 128;  // what int8 0 is, unsigned

const DelegateTensor &TensorOf(const DelegateSegment &segment, int tensor) {
  return segment.tensors[static_cast<size_t>(tensor)];
}

bool HasScaleOf(const DelegateTensor &a, const DelegateTensor &b) {
  return a.scales == b.scales && a.zero_points == b.zero_points &&
         a.type == b.type;
}

// Of a tensor with one scale.
int64_t UnsignedZero(const DelegateTensor &tensor) {
  const int64_t zero = tensor.zero_points.empty() ? 0 : tensor.zero_points[0];
  return tensor.type == IDataType::IDT_INT8 ? zero + kSignedZero : zero;
}
double LeastOf(const DelegateTensor &tensor) {
  return static_cast<double>(tensor.scales[0]) *
         static_cast<double>(-UnsignedZero(tensor));
}
double MostOf(const DelegateTensor &tensor) {
  return static_cast<double>(tensor.scales[0]) *
         static_cast<double>(kMostByte - UnsignedZero(tensor));
}

bool IsValid(const CommonOp &op) {
  return std::all_of(op.pads, op.pads + 4, [](int64_t p) { return p == 0; });
}

// As TensorFlow has it: what is odd is after the image.
bool IsSame(const CommonOp &op,
            const DelegateTensor &input,
            const DelegateTensor &output) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t size = input.shape[axis + 1];
    const int64_t stride = op.strides[axis];
    const int64_t results = DivideUp(size, stride);
    const int64_t total =
        std::max<int64_t>((results - 1) * stride + op.kernel[axis] - size, 0);
    if (output.shape[axis + 1] != results || op.pads[2 * axis] != total / 2) {
      return false;
    }
  }
  return true;
}

std::string RefusedWindow(const CommonOp &op,
                          const DelegateTensor &input,
                          const DelegateTensor &output) {
  if (op.dilations[0] != 1 || op.dilations[1] != 1) {
    return "it takes no dilations";
  }
  return IsValid(op) || IsSame(op, input, output)
             ? std::string()
             : "its padding is VALID or SAME";
}

std::string RefusedProduct(const DelegateSegment &segment,
                           const DelegateOperator &from,
                           const CommonOp &op) {
  const bool constant = TensorOf(segment, from.inputs[1]).is_constant &&
                        (op.bias < 0 || TensorOf(segment, op.bias).is_constant);
  if (!constant) return "it takes constant weights";
  if (op.residual >= 0) {
    const DelegateTensor &residual = TensorOf(segment, op.residual);
    if (residual.scales.size() != 1 ||
        residual.shape != TensorOf(segment, from.outputs[0]).shape) {
      return "its sums are of tensors of one shape";
    }
  }
  if (op.kind == CommonKind::kFullyConnected) return std::string();
  return RefusedWindow(op, TensorOf(segment, from.inputs[0]),
                       TensorOf(segment, from.outputs[0]));
}

std::string RefusedSoftmax(const CommonOp &op,
                           const DelegateTensor &input,
                           const DelegateTensor &output) {
  if (op.axis != static_cast<int64_t>(input.shape.size()) - 1) {
    return "its Softmax is along the last dimension";
  }
  if (output.scales[0] != 1.0f / kMostByte || UnsignedZero(output) != 0) {
    return "the result of its Softmax has the scale 1/255 from the lowest "
           "number";
  }
  return std::string();
}

std::string RefusedMean(const CommonOp &op, const DelegateTensor &input) {
  std::vector<int64_t> axes = op.axes;
  std::sort(axes.begin(), axes.end());
  const bool image = input.shape.size() == kRank && axes.size() == 2 &&
                     axes[0] == 1 && axes[1] == 2;
  return image ? std::string() : "its means are of whole images";
}

// Of operators whose result has the scale of their input.
std::string RefusedScale(const DelegateTensor &input,
                         const DelegateTensor &output) {
  return HasScaleOf(input, output)
             ? std::string()
             : "the result has the scale of the input there";
}

// Ranges are floats.
bool HasRange(const DelegateTensor &tensor) {
  return std::all_of(
      tensor.scales.begin(), tensor.scales.end(), [](float scale) {
        constexpr float kMostNumbers = 256;
        return std::isnormal(scale) && std::isfinite(scale * kMostNumbers);
      });
}

HtaResult ResultOf(const HtaDims &dims, uint32_t element_bytes) {
  HtaResult result = {};
  result.rank = kRank;
  std::copy(dims.begin(), dims.end(), result.sizes);
  result.element_bytes = element_bytes;
  return result;
}

}  // namespace

std::string HtaRefusal(const DelegateSegment &segment,
                       const DelegateOperator &from,
                       CommonOp *op) {
  std::string problem = ReadCommonOp(segment, from, op);
  if (!problem.empty()) return problem;
  if (!op->quantized) return "it computes in 8-bit integers, not in floats";
  const DelegateTensor &input = TensorOf(segment, from.inputs[0]);
  const DelegateTensor &output = TensorOf(segment, from.outputs[0]);
  if (input.shape.size() > kRank || output.shape.size() > kRank) {
    return "it takes tensors of up to 4 dimensions";
  }
  for (const std::vector<int> *ports : {&from.inputs, &from.outputs}) {
    for (int id : *ports) {
      if (id >= 0 && !HasRange(TensorOf(segment, id))) {
        return "the range of its numbers is one of floats";
      }
    }
  }
  switch (op->kind) {
    case CommonKind::kConv2d:
    case CommonKind::kDepthwiseConv2d:
    case CommonKind::kFullyConnected:
      return RefusedProduct(segment, from, *op);
    case CommonKind::kMaxPool:
    case CommonKind::kAveragePool:
      return RefusedWindow(*op, input, output);
    case CommonKind::kAdd:
      return input.shape == TensorOf(segment, from.inputs[1]).shape
                 ? std::string()
                 : "its sums are of tensors of one shape";
    case CommonKind::kConcat:
      return std::string();
    case CommonKind::kReshape:
      return RefusedScale(input, output);
    case CommonKind::kSoftmax:
      return RefusedSoftmax(*op, input, output);
    case CommonKind::kMean:
      problem = RefusedMean(*op, input);
      return problem.empty() ? RefusedScale(input, output) : problem;
    case CommonKind::kActivation:
      if (op->activation == CommonActivation::kSigmoid ||
          op->activation == CommonActivation::kTanh) {
        return "its activations are ReLU and ReLU6";
      }
      return RefusedScale(input, output);
    case CommonKind::kResizeLinear:
      if (op->half_pixel) return "its Resize has no half-pixel coordinates";
      return RefusedScale(input, output);
    case CommonKind::kResizeNearest:
      return "its Resize is linear";
    default:
      return "its Eltwise is ADD";
  }
}

HtaDims HtaDimsOf(const std::vector<int64_t> &shape) {
  HtaDims dims = {1, 1, 1, 1};
  for (size_t i = 0; i < shape.size(); ++i) {
    dims[kRank - shape.size() + i] = static_cast<uint32_t>(shape[i]);
  }
  return dims;
}

uint32_t HtaElements(const HtaDims &dims) {
  return dims[0] * dims[1] * dims[2] * dims[3];
}

void HtaGraphBuilder::Keep(const char *call, int error) {
  if (error != kHtaSuccess && IsOk(status_)) status_ = HtaError(call, error);
}

HtaPort HtaGraphBuilder::Constant(const HtaDims &dims,
                                  const void *data,
                                  size_t bytes) {
  Keep("hexagon_hta_nn_append_const_node",
       api_.append_const_node(graph_, next_node_, dims[0], dims[1], dims[2],
                              dims[3], static_cast<const uint8_t *>(data),
                              static_cast<uint32_t>(bytes)));
  return {next_node_++, 0};
}

HtaPort HtaGraphBuilder::Float(double number) {
  const auto value = static_cast<float>(number);
  return Constant({1, 1, 1, 1}, &value, sizeof(value));
}

HtaPort HtaGraphBuilder::Ints(const std::vector<int32_t> &numbers) {
  return Constant({1, 1, 1, static_cast<uint32_t>(numbers.size())},
                  numbers.data(), numbers.size() * sizeof(int32_t));
}

HtaPort HtaGraphBuilder::Steps(const int64_t *pair) {
  return Constant(
      {1, static_cast<uint32_t>(pair[0]), static_cast<uint32_t>(pair[1]), 1},
      nullptr, 0);
}

void HtaGraphBuilder::Append(uint32_t operation,
                             int32_t padding,
                             const std::vector<HtaPort> &inputs,
                             const std::vector<HtaResult> &results) {
  Keep("hexagon_hta_nn_append_node",
       api_.append_node(graph_, next_node_++, operation, padding, inputs.data(),
                        static_cast<uint32_t>(inputs.size()), results.data(),
                        static_cast<uint32_t>(results.size())));
}

HtaGraphBuilder::Value HtaGraphBuilder::Node(uint32_t operation,
                                             int32_t padding,
                                             const std::vector<HtaPort> &inputs,
                                             const HtaDims &result) {
  const uint32_t node = next_node_;
  const HtaResult number = ResultOf({1, 1, 1, 1}, sizeof(float));
  Append(operation, padding, inputs, {ResultOf(result, 1), number, number});
  return {{node, 0}, {node, 1}, {node, 2}};
}

HtaGraphBuilder::Value HtaGraphBuilder::WithRange(HtaPort data,
                                                  double least,
                                                  double most) {
  const HtaPort low = Float(least);
  return {data, low, Float(most)};
}

HtaGraphBuilder::Value HtaGraphBuilder::ValueOf(int tensor) {
  const auto found = values_.find(tensor);
  if (found != values_.end()) return found->second;
  const DelegateTensor &from = At(tensor);
  if (!from.is_constant && IsOk(status_)) {
    status_ = RuntimeError("tensor '", from.name, "' is not computed");
  }
  if (!IsOk(status_)) return {};
  const HtaDims dims = HtaDimsOf(from.shape);
  const auto *bytes = static_cast<const uint8_t *>(from.data);
  std::vector<uint8_t> numbers(bytes, bytes + HtaElements(dims));
  if (from.type == IDataType::IDT_INT8) {
    for (uint8_t &number : numbers) number ^= kSignedZero;
  }
  const Value value = WithRange(Constant(dims, numbers.data(), numbers.size()),
                                LeastOf(from), MostOf(from));
  values_.emplace(tensor, value);
  return value;
}

// `of_scale`: how many neighbours in the order of the filter have one scale.
// Several scales become one, which has room for all weights.
HtaGraphBuilder::Weights HtaGraphBuilder::WeightsOf(
    const DelegateTensor &filter, int64_t of_scale) {
  const auto *from = static_cast<const int8_t *>(filter.data);
  int64_t count = 1;
  for (int64_t dim : filter.shape) count *= dim;
  Weights weights;
  weights.numbers.resize(static_cast<size_t>(count));
  const size_t scales = filter.scales.size();
  if (scales == 1) {
    weights.step = static_cast<double>(filter.scales[0]);
    weights.zero = kSignedZero;
    for (int64_t i = 0; i < count; ++i) {
      weights.numbers[static_cast<size_t>(i)] =
          static_cast<uint8_t>(from[i] + kSignedZero);
    }
    return weights;
  }
  rounds_weights_ = true;
  const auto real = [&](int64_t i) {
    const auto scale = static_cast<size_t>(i / of_scale) % scales;
    return static_cast<double>(filter.scales[scale]) * from[i];
  };
  double least = 0;
  double most = 0;
  for (int64_t i = 0; i < count; ++i) {
    least = std::min(least, real(i));
    most = std::max(most, real(i));
  }
  if (most > least) weights.step = (most - least) / kMostByte;
  weights.zero = static_cast<int>(std::lround(-least / weights.step));
  for (int64_t i = 0; i < count; ++i) {
    const auto number =
        static_cast<int>(std::lround(real(i) / weights.step)) + weights.zero;
    weights.numbers[static_cast<size_t>(i)] =
        static_cast<uint8_t>(std::clamp(number, 0, kMostByte));
  }
  return weights;
}

// [KH, KW, I, O]; depthwise [KH, KW, C, M].
HtaGraphBuilder::Value HtaGraphBuilder::Filter(const CommonOp &op,
                                               const DelegateTensor &filter,
                                               Weights *weights) {
  const std::vector<int64_t> &shape = filter.shape;
  HtaDims dims = HtaDimsOf(shape);
  int64_t inner = 1;
  for (size_t i = 1; i < shape.size(); ++i) inner *= shape[i];
  const bool depthwise = op.kind == CommonKind::kDepthwiseConv2d;
  *weights = WeightsOf(filter, depthwise ? shape[3] : inner);
  std::vector<uint8_t> numbers = weights->numbers;
  if (!depthwise) {
    const auto outputs = static_cast<size_t>(shape[0]);
    const auto each = static_cast<size_t>(inner);
    for (size_t o = 0; o < outputs; ++o) {
      for (size_t k = 0; k < each; ++k) {
        numbers[k * outputs + o] = weights->numbers[o * each + k];
      }
    }
    dims = op.kind == CommonKind::kFullyConnected
               ? HtaDims{1, 1, static_cast<uint32_t>(inner),
                         static_cast<uint32_t>(shape[0])}
               : HtaDims{dims[1], dims[2], dims[3], dims[0]};
  }
  return WithRange(Constant(dims, numbers.data(), numbers.size()),
                   -weights->step * weights->zero,
                   weights->step * (kMostByte - weights->zero));
}

// Its scale is that of the input times that of the weights.
HtaGraphBuilder::Value HtaGraphBuilder::Bias(const CommonOp &op,
                                             const DelegateOperator &from,
                                             const Weights &weights) {
  const DelegateTensor &filter = At(from.inputs[1]);
  const auto outputs = static_cast<size_t>(At(from.outputs[0]).shape.back());
  std::vector<int32_t> numbers(outputs, 0);
  if (op.bias >= 0) {
    const auto *bias = static_cast<const int32_t *>(At(op.bias).data);
    const size_t of_scale = outputs / filter.scales.size();
    for (size_t o = 0; o < outputs; ++o) {
      const size_t scale = filter.scales.size() == 1 ? 0 : o / of_scale;
      const double real = static_cast<double>(filter.scales[scale]) * bias[o];
      constexpr double kMost = std::numeric_limits<int32_t>::max();
      numbers[o] = static_cast<int32_t>(
          std::clamp(std::round(real / weights.step), -kMost, kMost));
    }
  }
  const HtaPort data = Ints(numbers);
  constexpr double kHalfRange = 2147483648.0;
  const double most = static_cast<double>(At(from.inputs[0]).scales[0]) *
                      weights.step * kHalfRange;
  return WithRange(data, -most, most);
}

HtaGraphBuilder::Value HtaGraphBuilder::Activated(CommonActivation activation,
                                                  Value value,
                                                  const HtaDims &to) {
  std::vector<HtaPort> inputs = {value.data, value.least, value.most};
  if (activation == CommonActivation::kRelu) {
    return Node(kHtaRelu, kHtaNoPadding, inputs, to);
  }
  if (activation != CommonActivation::kRelu6) return value;
  constexpr double kLimit = 6;
  inputs.push_back(Float(kLimit));
  return Node(kHtaReluX, kHtaNoPadding, inputs, to);
}

HtaGraphBuilder::Value HtaGraphBuilder::Sum(const Value &a,
                                            const Value &b,
                                            const DelegateTensor &result) {
  const HtaPort least = Float(LeastOf(result));
  const HtaPort most = Float(MostOf(result));
  return Node(kHtaAdd, kHtaNoPadding,
              {a.data, b.data, a.least, a.most, b.least, b.most, least, most},
              HtaDimsOf(result.shape));
}

MaceStatus HtaGraphBuilder::Finish(const DelegateOperator &from,
                                   const CommonOp &op,
                                   Value value) {
  const DelegateTensor &output = At(from.outputs[0]);
  if (op.residual >= 0) value = Sum(value, ValueOf(op.residual), output);
  values_[from.outputs[0]] =
      Activated(op.activation, value, HtaDimsOf(output.shape));
  return status_;
}

// A product of matrices [N, K] is a convolution of the image [1, 1, N, K].
MaceStatus HtaGraphBuilder::AddProduct(const DelegateOperator &from,
                                       const CommonOp &op) {
  const DelegateTensor &output = At(from.outputs[0]);
  const Value input = ValueOf(from.inputs[0]);
  Weights weights;
  const Value filter = Filter(op, At(from.inputs[1]), &weights);
  const Value bias = Bias(op, from, weights);
  const HtaPort steps = Steps(op.strides);
  const HtaPort least = Float(LeastOf(output));
  const HtaPort most = Float(MostOf(output));
  const bool depthwise = op.kind == CommonKind::kDepthwiseConv2d;
  const Value product =
      Node(depthwise ? kHtaDepthwiseConv2d : kHtaConv2d,
           IsValid(op) ? kHtaValid : kHtaSame,
           {input.data, filter.data, input.least, input.most, filter.least,
            filter.most, steps, bias.data, bias.least, bias.most, least, most},
           HtaDimsOf(output.shape));
  return Finish(from, op, product);
}

MaceStatus HtaGraphBuilder::AddPooling(const DelegateOperator &from,
                                       const CommonOp &op) {
  const Value input = ValueOf(from.inputs[0]);
  const HtaPort window = Steps(op.kernel);
  const HtaPort steps = Steps(op.strides);
  values_[from.outputs[0]] =
      Node(op.kind == CommonKind::kMaxPool ? kHtaMaxPool : kHtaAveragePool,
           IsValid(op) ? kHtaValid : kHtaSame,
           {input.data, input.least, input.most, window, steps},
           HtaDimsOf(At(from.outputs[0]).shape));
  return status_;
}

MaceStatus HtaGraphBuilder::AddConcat(const DelegateOperator &from,
                                      const CommonOp &op) {
  const DelegateTensor &output = At(from.outputs[0]);
  const auto axis =
      static_cast<int32_t>(op.axis + static_cast<int64_t>(kRank) -
                           static_cast<int64_t>(output.shape.size()));
  std::vector<Value> parts;
  for (int tensor : from.inputs) parts.push_back(ValueOf(tensor));
  std::vector<HtaPort> inputs = {Ints({axis})};
  for (const Value &part : parts) inputs.push_back(part.data);
  for (const Value &part : parts) inputs.push_back(part.least);
  for (const Value &part : parts) inputs.push_back(part.most);
  values_[from.outputs[0]] =
      Node(kHtaConcat, kHtaNoPadding, inputs, HtaDimsOf(output.shape));
  return status_;
}

// An average over a window that is the whole image.
MaceStatus HtaGraphBuilder::AddMean(const DelegateOperator &from,
                                    const CommonOp &op) {
  const std::vector<int64_t> &shape = At(from.inputs[0]).shape;
  const Value input = ValueOf(from.inputs[0]);
  const HtaPort window = Steps(&shape[1]);
  const HtaPort steps = Steps(op.strides);
  const HtaDims pooled = {static_cast<uint32_t>(shape[0]), 1, 1,
                          static_cast<uint32_t>(shape[3])};
  Value mean =
      Node(kHtaAveragePool, kHtaValid,
           {input.data, input.least, input.most, window, steps}, pooled);
  const HtaDims result = HtaDimsOf(At(from.outputs[0]).shape);
  if (result != pooled) {
    const HtaPort sizes = Ints({result.begin(), result.end()});
    mean = Node(kHtaReshape, kHtaNoPadding,
                {mean.data, sizes, mean.least, mean.most}, result);
  }
  values_[from.outputs[0]] = mean;
  return status_;
}

MaceStatus HtaGraphBuilder::AddOthers(const DelegateOperator &from,
                                      const CommonOp &op) {
  const HtaDims result = HtaDimsOf(At(from.outputs[0]).shape);
  const Value input = ValueOf(from.inputs[0]);
  Value *output = &values_[from.outputs[0]];
  switch (op.kind) {
    case CommonKind::kReshape: {
      const HtaPort sizes = Ints({result.begin(), result.end()});
      *output = Node(kHtaReshape, kHtaNoPadding,
                     {input.data, sizes, input.least, input.most}, result);
      break;
    }
    case CommonKind::kSoftmax:
      *output = Node(kHtaSoftmax, kHtaNoPadding,
                     {input.data, input.least, input.most}, result);
      break;
    case CommonKind::kResizeLinear: {
      const HtaPort sizes = Ints(
          {static_cast<int32_t>(result[1]), static_cast<int32_t>(result[2])});
      const HtaPort corners = Ints({op.align_corners ? 1 : 0});
      *output =
          Node(kHtaResizeLinear, kHtaNoPadding,
               {input.data, sizes, input.least, input.most, corners}, result);
      break;
    }
    default:
      *output = Activated(op.activation, input, result);
      break;
  }
  return status_;
}

MaceStatus HtaGraphBuilder::Add(const DelegateOperator &from) {
  CommonOp op;
  const std::string problem = HtaRefusal(segment_, from, &op);
  if (!problem.empty()) {
    return RuntimeError("operator '", from.name, "': ", problem);
  }
  switch (op.kind) {
    case CommonKind::kConv2d:
    case CommonKind::kDepthwiseConv2d:
    case CommonKind::kFullyConnected:
      return AddProduct(from, op);
    case CommonKind::kMaxPool:
    case CommonKind::kAveragePool:
      return AddPooling(from, op);
    case CommonKind::kAdd: {
      const Value a = ValueOf(from.inputs[0]);
      const Value b = ValueOf(from.inputs[1]);
      return Finish(from, op, Sum(a, b, At(from.outputs[0])));
    }
    case CommonKind::kConcat:
      return AddConcat(from, op);
    case CommonKind::kMean:
      return AddMean(from, op);
    default:
      return AddOthers(from, op);
  }
}

MaceStatus HtaGraphBuilder::Build() {
  std::vector<HtaResult> results;
  const uint32_t input = next_node_;
  for (int tensor : segment_.inputs) {
    results.push_back(ResultOf(HtaDimsOf(At(tensor).shape), 1));
  }
  Append(kHtaInput, kHtaNoPadding, {}, results);
  for (size_t i = 0; i < segment_.inputs.size(); ++i) {
    const DelegateTensor &tensor = At(segment_.inputs[i]);
    values_[segment_.inputs[i]] = WithRange({input, static_cast<uint32_t>(i)},
                                            LeastOf(tensor), MostOf(tensor));
  }
  for (const DelegateOperator &from : segment_.operators) {
    MACE_RETURN_IF_ERROR(Add(from));
  }
  std::vector<HtaPort> outputs;
  for (int tensor : segment_.outputs) outputs.push_back(ValueOf(tensor).data);
  Append(kHtaOutput, kHtaNoPadding, outputs, {});
  return status_;
}

}  // namespace mace
