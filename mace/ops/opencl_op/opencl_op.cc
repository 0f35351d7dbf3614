// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/opencl_op.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "mace/core/base/half.h"

namespace mace {

const ConstantForm kWeightImage = {"image", nullptr};

GpuDims GpuDims::Of(const Shape &shape) {
  GpuDims dims;
  const size_t rank = shape.rank();
  if (rank >= 1) dims.c = shape[rank - 1];
  if (rank == 2) dims.n = shape[0];
  if (rank >= 3) dims.w = shape[rank - 2];
  if (rank == 3) dims.n = shape[0];
  if (rank >= 4) {
    dims.h = shape[rank - 3];
    dims.n = shape.Elements(0, rank - 3);
  }
  return dims;
}

void OpenclPlanContext::SetBand(WindowAxis *rows) const {
  if (band() == nullptr) return;
  rows->pad_before += band()->first_input - band()->first_output * rows->stride;
  rows->size = InputDims(0).h;
  rows->output = band()->outputs;
}

bool IsBeyondHalf(float value) {
  return std::isfinite(value) && std::fabs(value) >= kBeyondHalf;
}

bool AnyKnown(const Tensor *tensor, bool (*is_such)(float)) {
  if (tensor == nullptr || tensor->data == nullptr ||
      tensor->data_type != DataType::kFloat32) {
    return false;
  }
  const auto *values = tensor->As<float>();
  return std::any_of(values, values + tensor->elements(), is_such);
}

NumberRange NumberRange::Then(Activation activation) const {
  switch (activation) {
    case Activation::NONE:
    case Activation::RELU:
    case Activation::RELUX:
    case Activation::LEAKY_RELU:
    case Activation::PRELU:
      return *this;
    default:
      break;
  }
  NumberRange range = *this;
  range.result = Result::kOwn;
  range.large = false;
  return range;
}

LaunchArgument &Launch::Add(LaunchArgument::Kind kind, const char *name) {
  arguments_.emplace_back();
  arguments_.back().kind = kind;
  arguments_.back().name = name;
  arguments_.back().node = node_;
  return arguments_.back();
}

Launch &Launch::Define(const std::string &name, const std::string &value) {
  defines_ += " -D " + name + "=" + value;
  return *this;
}

Launch &Launch::Input(const char *name, size_t port) {
  Add(LaunchArgument::Kind::kInput, name).index = port;
  return *this;
}

Launch &Launch::RoundedInput(const char *name, size_t port) {
  Input(name, port);
  arguments_.back().rounded = true;
  return *this;
}

Launch &Launch::Output(const char *name, size_t port) {
  Add(LaunchArgument::Kind::kOutput, name).index = port;
  return *this;
}

Launch &Launch::Scratch(const char *name, size_t index) {
  Add(LaunchArgument::Kind::kScratch, name).index = index;
  return *this;
}

Launch &Launch::Constant(const char *name, size_t port) {
  Add(LaunchArgument::Kind::kConstant, name).index = port;
  return *this;
}

namespace {

// Values of has_residual (epilogue.clh).
constexpr int32_t kResidual = 1;
constexpr int32_t kResidualInOutput = 2;

}  // namespace

Launch &Launch::Residual(const OpenclPlanContext &context, size_t port) {
  const bool is_there = context.input(port) != nullptr;
  if (is_there) {
    residual_ = static_cast<int>(arguments_.size());
    Input("residual", port);
  } else if (context.gpu().images) {
    // A kernel must not read the image that it writes.
    LaunchArgument input = arguments_.front();
    input.name = "residual";
    arguments_.push_back(input);
  } else {
    Output("residual");
  }
  return Int(is_there ? kResidual : 0);
}

void Launch::ReadResidualInOutput() {
  arguments_[static_cast<size_t>(residual_) + 1].ints[0] = kResidualInOutput;
}

bool Launch::reads_residual_in_output() const {
  return residual_ >= 0 &&
         arguments_[static_cast<size_t>(residual_) + 1].ints[0] ==
             kResidualInOutput;
}

Launch &Launch::Constant(const char *name,
                         size_t port,
                         const ConstantForm &form) {
  Constant(name, port);
  arguments_.back().form = &form;
  return *this;
}

Launch &Launch::Int(int64_t value) {
  Add(LaunchArgument::Kind::kInt).ints[0] = static_cast<int32_t>(value);
  return *this;
}

Launch &Launch::Ints2(int64_t a, int64_t b) {
  Add(LaunchArgument::Kind::kInts2).ints = {static_cast<int32_t>(a),
                                            static_cast<int32_t>(b), 0, 0};
  return *this;
}

Launch &Launch::Ints(int64_t a, int64_t b, int64_t c, int64_t d) {
  Add(LaunchArgument::Kind::kInts4).ints = {
      static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<int32_t>(c),
      static_cast<int32_t>(d)};
  return *this;
}

Launch &Launch::Float(float value) {
  Add(LaunchArgument::Kind::kFloat).floats[0] = value;
  return *this;
}

Launch &Launch::Floats(float a, float b, float c, float d) {
  Add(LaunchArgument::Kind::kFloats4).floats = {a, b, c, d};
  return *this;
}

Launch &Launch::Zeros(const char *name, size_t count) {
  Add(LaunchArgument::Kind::kZeros, name).table =
      std::make_shared<const std::vector<int32_t>>(count, 0);
  return *this;
}

Launch &Launch::Table(const char *name, std::vector<int32_t> values) {
  Add(LaunchArgument::Kind::kTable, name).table =
      std::make_shared<const std::vector<int32_t>>(std::move(values));
  return *this;
}

Launch &Launch::Local(size_t bytes) {
  Add(LaunchArgument::Kind::kLocal).bytes = bytes;
  return *this;
}

namespace {

// The numbers of activate_any in activation.clh; 0 is LINEAR.
constexpr Activation kShared[] = {Activation::NONE, Activation::SIGMOID,
                                  Activation::HARD_SIGMOID,
                                  Activation::HARD_SWISH, Activation::SWISH};

}  // namespace

Launch &Launch::AddActivation(Activation activation,
                              float limit,
                              float alpha,
                              float beta,
                              const char *macro) {
  // One program for the four that are x < 0 ? alpha * x : min(x, limit).
  constexpr float kNoLimit = std::numeric_limits<float>::infinity();
  const auto linear = [&](float own_limit, float slope) -> Launch & {
    activations_.push_back({macro, "LINEAR", true});
    return Floats(own_limit, slope, 0, 0);
  };
  switch (activation) {
    case Activation::NONE:
      return linear(kNoLimit, 1);
    case Activation::RELU:
      return linear(kNoLimit, 0);
    case Activation::RELUX:
      return linear(limit, 0);
    case Activation::LEAKY_RELU:
      return linear(kNoLimit, alpha);
    default:
      break;
  }
  const auto shared =
      std::find(std::begin(kShared), std::end(kShared), activation);
  const bool can_share = shared != std::end(kShared);
  const auto number = can_share ? shared - std::begin(kShared) : 0;
  activations_.push_back(
      {macro, kActivationNames[static_cast<size_t>(activation)], can_share});
  return Floats(limit, alpha, beta, static_cast<float>(number));
}

namespace {

const OpenclFusionRegistration *g_first_fusion = nullptr;

}  // namespace

OpenclFusionRegistration::OpenclFusionRegistration(
    std::initializer_list<const char *> types, OpenclFusion::Factory factory)
    : factory_(factory), next_(g_first_fusion) {
  std::copy(types.begin(), types.end(), types_.begin());
  g_first_fusion = this;
}

const OpenclFusionRegistration *OpenclFusionRegistration::Find(
    const std::vector<std::string> &types) {
  for (const OpenclFusionRegistration *fusion = g_first_fusion;
       fusion != nullptr; fusion = fusion->next_) {
    size_t same = 0;
    while (same < kMostOperators && fusion->types_[same] != nullptr &&
           same < types.size() && types[same] == fusion->types_[same]) {
      ++same;
    }
    const bool all = same == kMostOperators || fusion->types_[same] == nullptr;
    if (all && same == types.size()) return fusion;
  }
  return nullptr;
}

Launch &Launch::Items(int64_t x, int64_t y, int64_t z) {
  items_ = {x, y, z};
  return *this;
}

Launch &Launch::WorkGroup(int64_t x, int64_t y, int64_t z) {
  work_group_ = {x, y, z};
  return *this;
}

}  // namespace mace
