// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/adapters/common_op.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "mace/core/base/data_type.h"
#include "mace/core/base/status.h"
#include "mace/core/model/quantization.h"
#include "mace/ops/op_enums.h"
#include "mace/ops/quantized_product/quantized_product.h"
#include "mace/ops/window/window.h"

namespace mace {
namespace {

constexpr size_t kImageRank = 4;
constexpr float kRelu6Limit = 6;

class Reader {
 public:
  Reader(const DelegateSegment &segment,
         const DelegateOperator &from,
         CommonOp *op)
      : segment_(segment), from_(from), op_(op) {}

  std::string Read() {
    std::string problem = ReadTypes();
    if (problem.empty()) problem = ReadKind();
    return problem;
  }

 private:
  const DelegateTensor &At(int tensor) const {
    return segment_.tensors[static_cast<size_t>(tensor)];
  }
  const DelegateTensor &Input() const { return At(from_.inputs[0]); }
  const DelegateTensor &Output() const { return At(from_.outputs[0]); }

  // All computed tensors are floats, or 8-bit numbers with one scale.
  std::string ReadTypes() {
    op_->quantized = !Output().scales.empty();
    for (const std::vector<int> *ports : {&from_.inputs, &from_.outputs}) {
      for (int id : *ports) {
        if (id < 0 || At(id).is_constant) continue;
        const DelegateTensor &tensor = At(id);
        const bool fits = op_->quantized ? IsQuantized8(tensor)
                                         : tensor.type == IDataType::IDT_FLOAT;
        if (!fits) {
          return "it takes floats, or 8-bit numbers with one scale";
        }
      }
    }
    return std::string();
  }

  static bool IsQuantized8(const DelegateTensor &tensor) {
    return (tensor.type == IDataType::IDT_INT8 ||
            tensor.type == IDataType::IDT_UINT8) &&
           tensor.scales.size() == 1;
  }

  std::string ReadKind() {
    const std::string &type = from_.type;
    if (type == "Conv2D") return ReadConvolution(CommonKind::kConv2d);
    if (type == "DepthwiseConv2d") {
      return ReadConvolution(CommonKind::kDepthwiseConv2d);
    }
    if (type == "FullyConnected") return ReadFullyConnected();
    if (type == "Pooling") return ReadPooling();
    if (type == "Eltwise") return ReadEltwise();
    if (type == "Concat") return ReadConcat();
    if (type == "Reshape") {
      op_->kind = CommonKind::kReshape;
      return std::string();
    }
    if (type == "Softmax") return ReadSoftmax();
    if (type == "Activation") {
      op_->kind = CommonKind::kActivation;
      return ReadActivation(true);
    }
    if (type == "Resize") return ReadResize();
    if (type == "Reduce") return ReadMean();
    return "it has no " + type;
  }

  std::string ReadActivation(bool alone) {
    const std::string name = from_.String("activation", "NONE");
    if (name == "NONE" && !alone) {
      op_->activation = CommonActivation::kNone;
    } else if (name == "RELU") {
      op_->activation = CommonActivation::kRelu;
    } else if (name == "RELUX" &&
               from_.Float("activation_limit", 0) == kRelu6Limit) {
      op_->activation = CommonActivation::kRelu6;
    } else if (alone && name == "SIGMOID") {
      op_->activation = CommonActivation::kSigmoid;
    } else if (alone && name == "TANH") {
      op_->activation = CommonActivation::kTanh;
    } else {
      return "it has no activation " + name +
             (name == "RELUX" ? " with a limit other than 6"
                              : std::string(alone ? "" : " in this operator"));
    }
    return std::string();
  }

  void ReadPair(const char *name, int64_t *to) {
    const std::vector<int64_t> values = from_.Ints(name, {1, 1});
    for (size_t i = 0; i < 2 && i < values.size(); ++i) to[i] = values[i];
  }

  // Strides, dilations and explicit pads; the kernel is set before. Those of an
  // image whose size is not known, which is only asked about, are those of one
  // that a window covers.
  std::string ReadWindow() {
    ReadPair("strides", op_->strides);
    ReadPair("dilations", op_->dilations);
    WindowSpec spec;
    spec.padding = ReadPadding();
    const std::vector<int64_t> pads = from_.Ints("pads", {0, 0, 0, 0});
    std::copy_n(pads.begin(), std::min<size_t>(pads.size(), 4), spec.pads);
    int64_t sizes[2];
    bool known[2];
    for (size_t axis = 0; axis < 2; ++axis) {
      spec.kernel[axis] = op_->kernel[axis];
      spec.stride[axis] = op_->strides[axis];
      spec.dilation[axis] = op_->dilations[axis];
      const int64_t size = Input().shape[axis + 1];
      known[axis] = size >= 0 && Output().shape[axis + 1] >= 0;
      sizes[axis] = known[axis]
                        ? size
                        : WindowExtent(spec.kernel[axis], spec.dilation[axis]);
    }
    Result<WindowGeometry> window = ComputeWindow(spec, sizes[0], sizes[1]);
    if (!window.ok()) return window.status().information();
    for (size_t axis = 0; axis < 2; ++axis) {
      WindowAxis &own = window.value().axis[axis];
      if (known[axis]) own.output = Output().shape[axis + 1];
      op_->pads[2 * axis] = own.pad_before;
      op_->pads[2 * axis + 1] = PaddingAfter(own);
    }
    return std::string();
  }

  Padding ReadPadding() const {
    const std::string name = from_.String("padding", "VALID");
    const auto found =
        std::find(std::begin(kPaddingNames), std::end(kPaddingNames), name);
    return found == std::end(kPaddingNames)
               ? Padding::VALID
               : static_cast<Padding>(found - std::begin(kPaddingNames));
  }

  std::string ReadConvolution(CommonKind kind) {
    op_->kind = kind;
    const DelegateTensor &filter = At(from_.inputs[1]);
    const bool depthwise = kind == CommonKind::kDepthwiseConv2d;
    op_->kernel[0] = filter.shape[depthwise ? 0 : 1];
    op_->kernel[1] = filter.shape[depthwise ? 1 : 2];
    op_->groups = from_.Int("groups", 1);
    std::string problem = ReadWindow();
    if (!problem.empty()) return problem;
    if (op_->groups != 1) return "it takes no convolution in groups";
    return ReadProduct(filter, depthwise ? FilterOrder::kTapsFirst
                                         : FilterOrder::kOutputsFirst);
  }

  // Bias, residual, activation, and the type of the filter.
  std::string ReadProduct(const DelegateTensor &filter, FilterOrder order) {
    op_->bias = from_.input(2);
    op_->residual = from_.input(3);
    if (op_->quantized) {
      Quantization quantization;
      quantization.scales = filter.scales;
      quantization.zero_points = filter.zero_points;
      quantization.axis = filter.axis;
      const DataType type = filter.type == IDataType::IDT_INT8
                                ? DataType::kInt8
                                : DataType::kUnknown;
      if (ProblemOfFilter(type, &quantization, order) != FilterProblem::kNone) {
        return "it takes quantized weights of 8 bits, with a scale for each "
               "output channel and without zero points";
      }
    } else if (filter.type != IDataType::IDT_FLOAT) {
      return "it takes weights that are floats";
    }
    return ReadActivation(false);
  }

  std::string ReadFullyConnected() {
    op_->kind = CommonKind::kFullyConnected;
    if (Input().shape.size() != 2) return "it takes an input of rank 2 only";
    return ReadProduct(At(from_.inputs[1]), FilterOrder::kOutputsFirst);
  }

  std::string ReadPooling() {
    const bool average = from_.String("mode", "MAX") == "AVG";
    op_->kind = average ? CommonKind::kAveragePool : CommonKind::kMaxPool;
    ReadPair("kernels", op_->kernel);
    std::string problem = ReadWindow();
    if (!problem.empty()) return problem;
    if (op_->dilations[0] != 1 || op_->dilations[1] != 1) {
      return "it takes no dilated pooling";
    }
    const bool padded =
        std::any_of(op_->pads, op_->pads + 4, [](int64_t p) { return p > 0; });
    if (average && padded && from_.Int("count_include_pad", 0) != 0) {
      return "its averages leave out the padding";
    }
    for (size_t axis = 0; axis < 2; ++axis) {
      if (op_->pads[2 * axis] >= op_->kernel[axis] ||
          op_->pads[2 * axis + 1] >= op_->kernel[axis]) {
        return "it takes no window that is padding only";
      }
    }
    if (op_->quantized && (Input().scales != Output().scales ||
                           Input().zero_points != Output().zero_points)) {
      return "its pooling keeps the scale of the input";
    }
    return std::string();
  }

  std::string ReadEltwise() {
    const std::string mode = from_.String("mode", "");
    if (mode == "ADD") {
      op_->kind = CommonKind::kAdd;
    } else if (mode == "SUB") {
      op_->kind = CommonKind::kSub;
    } else if (mode == "MUL") {
      op_->kind = CommonKind::kMul;
    } else if (mode == "DIV" && !op_->quantized) {
      op_->kind = CommonKind::kDiv;
    } else {
      return "it has no " + mode + (op_->quantized ? " of integers" : "");
    }
    if (from_.input(1) < 0) return "it takes two inputs";
    for (int id : from_.inputs) {
      const DelegateTensor &tensor = At(id);
      const bool fits = op_->quantized ? IsQuantized8(tensor)
                                       : tensor.type == IDataType::IDT_FLOAT;
      if (!fits || tensor.shape.empty() || tensor.shape.size() > kImageRank) {
        return "it takes two tensors of 1 to 4 dimensions and of one type";
      }
    }
    return ReadActivation(false);
  }

  std::string ReadConcat() {
    op_->kind = CommonKind::kConcat;
    for (int id : from_.inputs) {
      const DelegateTensor &tensor = At(id);
      if (tensor.type != Output().type || tensor.scales != Output().scales ||
          tensor.zero_points != Output().zero_points) {
        return "it joins tensors of one type and scale only";
      }
    }
    return ReadAxis(from_.Int("axis", 0), &op_->axis);
  }

  std::string ReadAxis(int64_t axis, int64_t *to) {
    const auto rank = static_cast<int64_t>(Input().shape.size());
    *to = axis < 0 ? axis + rank : axis;
    if (rank == 0 || rank > static_cast<int64_t>(kImageRank)) {
      return "it takes tensors of 1 to 4 dimensions";
    }
    return std::string();
  }

  std::string ReadSoftmax() {
    op_->kind = CommonKind::kSoftmax;
    if (from_.Int("log", 0) != 0) return "it has no logarithm of Softmax";
    return ReadAxis(from_.Int("axis", -1), &op_->axis);
  }

  std::string ReadMean() {
    op_->kind = CommonKind::kMean;
    const std::string mode = from_.String("mode", "");
    if (mode != "MEAN") return "it has no Reduce of mode " + mode;
    op_->keep_dims = from_.Int("keep_dims", 1) != 0;
    std::vector<int64_t> axes = from_.Ints("axes", {});
    const size_t rank = Input().shape.size();
    if (axes.empty()) {
      for (size_t i = 0; i < rank; ++i) {
        axes.push_back(static_cast<int64_t>(i));
      }
    }
    for (int64_t axis : axes) {
      int64_t positive = 0;
      const std::string problem = ReadAxis(axis, &positive);
      if (!problem.empty()) return problem;
      op_->axes.push_back(positive);
    }
    if (Output().shape.empty()) return "its results have a dimension";
    return std::string();
  }

  std::string ReadResize() {
    const std::string mode = from_.String("mode", "NEAREST");
    const std::string coordinates = from_.String("coordinates", "HALF_PIXEL");
    const std::string rounding = from_.String("rounding", "PREFER_FLOOR");
    op_->align_corners = coordinates == "ALIGN_CORNERS";
    op_->half_pixel = coordinates == "HALF_PIXEL";
    bool known = op_->align_corners || coordinates == "ASYMMETRIC";
    if (mode == "LINEAR") {
      op_->kind = CommonKind::kResizeLinear;
      known = known || op_->half_pixel;
      if (from_.Int("antialias", 0) != 0) known = false;
      if (from_.Int("exclude_outside", 0) != 0) known = false;
    } else if (mode == "NEAREST") {
      // The formulas of TensorFlow.
      op_->kind = CommonKind::kResizeNearest;
      op_->half_pixel = coordinates == "HALF_PIXEL_FLOOR";
      known = op_->align_corners
                  ? rounding == "PREFER_CEIL"
                  : (known || op_->half_pixel) && rounding == "FLOOR";
    } else {
      known = false;
    }
    if (!known) {
      return "it has no Resize of mode " + mode + " with coordinates " +
             coordinates + " and rounding " + rounding;
    }
    return CheckScales();
  }

  // A given scale is that of the sizes, which is what the libraries take;
  // between aligned corners, it has no influence.
  std::string CheckScales() {
    if (op_->align_corners) return std::string();
    const DelegateAttribute *scales = from_.Find("scales");
    if (scales == nullptr) return std::string();
    for (size_t axis = 0; axis < scales->float_values.size(); ++axis) {
      const auto size = static_cast<float>(Input().shape[axis + 1]);
      const auto result = static_cast<float>(Output().shape[axis + 1]);
      if (scales->float_values[axis] * size != result) {
        return "it takes no scale that differs from that of the sizes";
      }
    }
    return std::string();
  }

  const DelegateSegment &segment_;
  const DelegateOperator &from_;
  CommonOp *op_;
};

}  // namespace

std::string ReadCommonOp(const DelegateSegment &segment,
                         const DelegateOperator &from,
                         CommonOp *op) {
  return Reader(segment, from, op).Read();
}

}  // namespace mace
