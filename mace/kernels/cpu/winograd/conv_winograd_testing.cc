// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/winograd/conv_winograd_testing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace mace::winograd {

namespace {

struct FreeDeleter {
  void operator()(void *p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, FreeDeleter>;

// Filled with NaN, to detect reads of unwritten memory.
Memory Allocate(size_t bytes) {
  const size_t rounded = (bytes + 63) / 64 * 64 + 64;
  Memory memory(std::aligned_alloc(64, rounded));
  std::memset(memory.get(), 0xff, rounded);
  return memory;
}

Memory TransformFilter(const Case &c, const Data &d, const ConvPlan &plan) {
  const size_t element = gemm::ElementBytes(plan.arithmetic->element);
  Memory filter = Allocate(FilterElements(plan) * element);
  FilterArgs args;
  args.from = d.packed.data();
  args.type = c.type;
  args.channels = Size(c.shape.in_c);
  args.to_stride = plan.filter_stride;
  for (size_t panel = 0; panel < Size(plan.panels); ++panel) {
    args.panel_begin = panel;
    args.panel_end = panel + 1;
    args.to = static_cast<char *>(filter.get()) +
              panel * args.channels * gemm::kPanelColumns * element;
    plan.transforms->filter[kAllRows](args);
  }
  return filter;
}

std::vector<uint16_t> AllTo(gemm::Element type,
                            const std::vector<float> &values) {
  std::vector<uint16_t> halves;
  halves.reserve(values.size());
  for (float x : values) {
    halves.push_back(type == gemm::Element::kF16 ? ToF16(x) : ToBf16(x));
  }
  return halves;
}

}  // namespace

float FromHalf(gemm::Element type, uint16_t bits) {
  return type == gemm::Element::kF16 ? FromF16(bits) : FromBf16(bits);
}

float Stored(gemm::Element type, float value) {
  if (type == gemm::Element::kF32) return value;
  return FromHalf(type, AllTo(type, {value}).front());
}

std::vector<CpuIsa> IsasFor(const Case &c) {
  if (c.image == gemm::Element::kF32) return RunnableIsas();
  std::vector<CpuIsa> isas;
  for (CpuIsa isa : RunnableFloatIsas()) {
    if (KernelsFor(isa, c.image) != nullptr) isas.push_back(isa);
  }
  return isas;
}

Case MakeCase(int tile,
              ptrdiff_t height,
              ptrdiff_t width,
              ptrdiff_t in_c,
              ptrdiff_t out_c,
              ptrdiff_t pad) {
  Case c;
  c.tile = tile;
  conv::Shape &s = c.shape;
  s.in_h = height;
  s.in_w = width;
  s.in_c = in_c;
  s.out_c = out_c;
  s.kernel_h = s.kernel_w = 3;
  s.pad_top = s.pad_left = pad;
  s.out_h = height + 2 * pad - 2;
  s.out_w = width + 2 * pad - 2;
  return c;
}

std::string Describe(const Case &c, CpuIsa isa, uint32_t seed) {
  const conv::Shape &s = c.shape;
  std::string text = std::string(CpuIsaName(isa)) + " shape";
  for (ptrdiff_t v : {s.batch, s.in_h, s.in_w, s.in_c, s.pad_top, s.pad_left,
                      s.out_h, s.out_w, s.out_c, s.dilation_h, s.dilation_w}) {
    text += " " + std::to_string(v);
  }
  return text + " tile " + std::to_string(c.tile) + " type " +
         std::to_string(static_cast<int>(c.type)) + " bias " +
         std::to_string(c.bias) + " residual " + std::to_string(c.residual) +
         " clamp " + std::to_string(c.clamp) + " extra " +
         std::to_string(c.extra_stride) + " threads " +
         std::to_string(c.threads) + " image " +
         std::to_string(static_cast<int>(c.image)) + " each_run " +
         std::to_string(c.each_run) + " seed " + std::to_string(seed);
}

Data MakeData(const Case &c, Random *random) {
  const conv::Shape &s = c.shape;
  const size_t depth = Size(9 * s.in_c);
  const size_t channels = Size(s.in_c);
  const bool pairs = c.type == gemm::WeightType::kBf16Pairs;
  const size_t tap_depth = pairs ? channels + channels % 2 : channels;
  const size_t panel_bytes = gemm::PanelBytes(c.type, 9 * tap_depth);
  Data d;
  d.input = random->Floats(Size(s.batch * s.in_h * s.in_w * s.in_c));
  for (float &x : d.input) x = Stored(c.image, x);
  d.filter = random->Floats(Size(s.out_c) * depth);
  d.bias = random->Floats(Size(s.out_c));
  d.residual = random->Floats(Size(s.batch * s.out_h * s.out_w * s.out_c));
  for (float &x : d.residual) x = Stored(c.image, x);
  d.packed.assign(gemm::PanelCount(Size(s.out_c)) * panel_bytes, 0);
  for (size_t o = 0; o < Size(s.out_c); ++o) {
    char *panel = d.packed.data() + o / 16 * panel_bytes;
    if (c.type == gemm::WeightType::kI8) {
      ToInt8Weights(&d.filter[o * depth], depth, o % 16, panel);
      continue;
    }
    for (size_t k = 0; k < depth; ++k) {
      float *value = &d.filter[o * depth + k];
      const size_t row = k / channels * tap_depth + k % channels;
      const size_t at =
          pairs ? row / 2 * 32 + o % 16 * 2 + row % 2 : k * 16 + o % 16;
      if (c.type == gemm::WeightType::kF32) {
        std::memcpy(panel + at * 4, value, 4);
        continue;
      }
      const bool half = c.type == gemm::WeightType::kF16;
      const uint16_t bits = half ? ToF16(*value) : ToBf16(*value);
      *value = half ? FromF16(bits) : FromBf16(bits);
      std::memcpy(panel + at * 2, &bits, 2);
    }
  }
  return d;
}

ConvPlan MakePlan(const Case &c, CpuIsa isa) {
  PlanRequest request;
  request.shape = c.shape;
  request.method = {c.tile, c.each_run};
  request.weight_type = c.type;
  request.image = c.image;
  request.kernels = KernelsFor(isa, c.image);
  request.arithmetic = gemm::ArithmeticFor(c.image == gemm::Element::kF16
                                               ? gemm::ArithmeticKind::kFp16
                                               : gemm::ArithmeticKind::kFloat,
                                           isa);
  request.threads = c.threads;
  return PlanConv(request);
}

std::vector<float> RunAll(const Case &c, const Data &d, CpuIsa isa) {
  const conv::Shape &s = c.shape;
  const ConvPlan plan = MakePlan(c, isa);
  Memory filter;
  if (!c.each_run) filter = TransformFilter(c, d, plan);
  const Memory scratch = Allocate(plan.scratch_bytes);
  const Memory shared = Allocate(plan.shared_bytes);
  const size_t stride = Size(s.out_c) + c.extra_stride;
  std::vector<float> out(Size(s.batch * s.out_h * s.out_w) * stride, kGuard);
  conv::Args args;
  args.input = d.input.data();
  args.weights = c.each_run ? d.packed.data() : filter.get();
  args.output = out.data();
  args.output_stride = stride;
  args.epilogue.bias = c.bias ? d.bias.data() : nullptr;
  args.epilogue.residual = c.residual ? d.residual.data() : nullptr;
  args.epilogue.residual_stride = Size(s.out_c);
  args.epilogue.clamp = c.clamp;
  args.epilogue.low = kLow;
  args.epilogue.high = kHigh;
  std::vector<uint16_t> half_out;
  std::vector<uint16_t> half_input;
  std::vector<uint16_t> half_residual;
  if (c.image != gemm::Element::kF32) {
    half_out = AllTo(c.image, out);
    half_input = AllTo(c.image, d.input);
    half_residual = AllTo(c.image, d.residual);
    args.input = half_input.data();
    args.output = half_out.data();
    args.epilogue.residual = c.residual ? half_residual.data() : nullptr;
  }
  for (ptrdiff_t task = plan.tasks; task-- > 0;) {
    RunConvTask(plan, args, task, scratch.get(), shared.get());
  }
  for (ptrdiff_t task = plan.output_tasks; task-- > 0;) {
    RunOutputTask(plan, args, task, shared.get());
  }
  for (size_t i = 0; i < half_out.size(); ++i) {
    out[i] = FromHalf(c.image, half_out[i]);
  }
  return out;
}

}  // namespace mace::winograd
