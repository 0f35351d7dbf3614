// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Compares convolutions of 8-bit integers with their definition, to the bit, on
// every ISA of this machine.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "mace/kernels/cpu/conv/direct.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"
#include "mace/kernels/cpu/kernel_testing.h"

namespace mace::conv {
namespace {

constexpr ptrdiff_t kPanel = gemm::kPanelColumns;
constexpr int32_t kInputZero = kUnsignedBytes ? 117 : -11;
constexpr int32_t kOutputZero = kUnsignedBytes ? 131 : 3;

int32_t ValueOf(uint8_t byte) {
  return kUnsignedBytes ? byte : static_cast<int8_t>(byte);
}

class Convolution {
 public:
  explicit Convolution(const Shape &shape) : s_(shape), random_(3) {
    image_.resize(static_cast<size_t>(s_.batch * s_.in_h * s_.in_w * s_.in_c));
    for (uint8_t &x : image_) x = static_cast<uint8_t>(Below(256));
    const ptrdiff_t depth = s_.in_c / s_.groups;
    weights_.resize(
        static_cast<size_t>(s_.out_c * s_.kernel_h * s_.kernel_w * depth));
    for (int8_t &w : weights_) w = static_cast<int8_t>(Below(256) - 128);
    const auto products = static_cast<float>(s_.kernel_h * s_.kernel_w * depth);
    const float spread = 5000.0f * std::sqrt(products);
    for (ptrdiff_t n = 0; n < s_.out_c; ++n) {
      bias_.push_back(Below(20000) - 10000);
      scale_.push_back(static_cast<float>(Below(100) + 50) / spread);
    }
  }

  std::vector<uint8_t> Run(CpuIsa isa, int threads) const {
    DirectRequest request;
    request.shape = s_;
    request.w_type = WeightType::kI8Fours;
    request.arithmetic =
        gemm::ArithmeticFor(gemm::ArithmeticKind::kQuantized, isa);
    request.image = request.results = Element::kI8;
    request.threads = threads;
    const DirectPlan plan = PlanDirect(request);
    EXPECT_EQ(plan.staged_pixels, 0);
    const std::vector<int8_t> panels = Panels(plan);
    // Per column of whole panels of each group.
    std::vector<int32_t> bias(bias_.size() + kPanel);
    std::vector<float> scale(scale_.size() + kPanel);
    const auto taps = static_cast<size_t>(weights_.size() / bias_.size());
    for (size_t n = 0; n < bias_.size(); ++n) {
      int32_t sum = 0;
      for (size_t i = 0; i < taps; ++i) sum += weights_[n * taps + i];
      bias[n] = bias_[n] - kInputZero * sum;
      scale[n] = scale_[n];
    }
    gemm::Requantization to;
    to.bias = bias.data();
    to.scale = scale.data();
    to.zero = kOutputZero;
    to.low = kUnsignedBytes ? 0 : -128;
    to.high = kUnsignedBytes ? 255 : 127;
    std::vector<uint8_t> result(static_cast<size_t>(plan.rows * s_.out_c));
    Args args;
    args.input = image_.data();
    args.weights = panels.data();
    args.output = result.data();
    args.output_stride = static_cast<size_t>(s_.out_c);
    args.epilogue.requantization = &to;
    args.padding = static_cast<uint16_t>(kInputZero & 0xff) * 0x101;
    std::unique_ptr<void, decltype(&std::free)> scratch(
        std::aligned_alloc(64, plan.scratch_bytes / 64 * 64 + 64), &std::free);
    for (ptrdiff_t task = 0; task < plan.tasks; ++task) {
      RunDirectTask(plan, args, task, scratch.get());
    }
    return result;
  }

  uint8_t Wanted(ptrdiff_t n, ptrdiff_t y, ptrdiff_t x, ptrdiff_t o) const {
    const ptrdiff_t depth = s_.in_c / s_.groups;
    const ptrdiff_t first = o / (s_.out_c / s_.groups) * depth;
    int32_t sum = bias_[static_cast<size_t>(o)];
    for (ptrdiff_t i = 0; i < s_.kernel_h; ++i) {
      for (ptrdiff_t j = 0; j < s_.kernel_w; ++j) {
        const ptrdiff_t h = y * s_.stride_h - s_.pad_top + i * s_.dilation_h;
        const ptrdiff_t w = x * s_.stride_w - s_.pad_left + j * s_.dilation_w;
        if (h < 0 || w < 0 || h >= s_.in_h || w >= s_.in_w) continue;
        const size_t pixel = static_cast<size_t>(
            ((n * s_.in_h + h) * s_.in_w + w) * s_.in_c + first);
        for (ptrdiff_t k = 0; k < depth; ++k) {
          sum +=
              (ValueOf(image_[pixel + static_cast<size_t>(k)]) - kInputZero) *
              WeightAt(o, i * s_.kernel_w + j, k);
        }
      }
    }
    const float steps =
        static_cast<float>(sum) * scale_[static_cast<size_t>(o)];
    const int64_t q = std::llrint(steps) + kOutputZero;
    return static_cast<uint8_t>(kUnsignedBytes
                                    ? std::clamp<int64_t>(q, 0, 255)
                                    : std::clamp<int64_t>(q, -128, 127));
  }

 private:
  int Below(int limit) {
    return static_cast<int>(random_() % static_cast<unsigned>(limit));
  }

  // [out_c][taps][depth]
  int8_t WeightAt(ptrdiff_t o, ptrdiff_t tap, ptrdiff_t k) const {
    const ptrdiff_t depth = s_.in_c / s_.groups;
    return weights_[static_cast<size_t>(
        (o * s_.kernel_h * s_.kernel_w + tap) * depth + k)];
  }

  // The panels of all groups. A tap of the plan is a pixel, a row or all of the
  // filter.
  std::vector<int8_t> Panels(const DirectPlan &plan) const {
    const ptrdiff_t columns = s_.out_c / s_.groups;
    const auto stored = static_cast<ptrdiff_t>(gemm::StoredDepth(
        WeightType::kI8Fours, static_cast<size_t>(plan.depth)));
    const ptrdiff_t panel = plan.taps * stored * kPanel;
    std::vector<int8_t> to(
        static_cast<size_t>(s_.groups * plan.panels * panel));
    const ptrdiff_t depth = s_.in_c / s_.groups;
    for (ptrdiff_t o = 0; o < s_.out_c; ++o) {
      const ptrdiff_t n = o % columns;
      const ptrdiff_t base = (o / columns * plan.panels + n / kPanel) * panel;
      for (ptrdiff_t t = 0; t < plan.taps; ++t) {
        for (ptrdiff_t k = 0; k < plan.depth; ++k) {
          const ptrdiff_t all = t * plan.depth + k;
          const auto place = static_cast<ptrdiff_t>(gemm::PlaceInFours(
              static_cast<size_t>(k), static_cast<size_t>(plan.depth)));
          const ptrdiff_t at = t * stored + place;
          to[static_cast<size_t>(base + at / 4 * 4 * kPanel + n % kPanel * 4 +
                                 at % 4)] =
              WeightAt(o, all / depth, all % depth);
        }
      }
    }
    return to;
  }

  const Shape s_;
  std::mt19937 random_;
  std::vector<uint8_t> image_;
  std::vector<int8_t> weights_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
};

void Check(Shape s) {
  const auto out = [](ptrdiff_t in, ptrdiff_t pad, ptrdiff_t kernel,
                      ptrdiff_t dilation, ptrdiff_t stride) {
    return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  };
  s.out_h = out(s.in_h, s.pad_top, s.kernel_h, s.dilation_h, s.stride_h);
  s.out_w = out(s.in_w, s.pad_left, s.kernel_w, s.dilation_w, s.stride_w);
  const Convolution convolution(s);
  std::vector<uint8_t> wanted;
  for (ptrdiff_t n = 0; n < s.batch; ++n) {
    for (ptrdiff_t y = 0; y < s.out_h; ++y) {
      for (ptrdiff_t x = 0; x < s.out_w; ++x) {
        for (ptrdiff_t o = 0; o < s.out_c; ++o) {
          wanted.push_back(convolution.Wanted(n, y, x, o));
        }
      }
    }
  }
  for (CpuIsa isa : RunnableIsasAndExtensions()) {
    for (int threads : {1, 4}) {
      EXPECT_EQ(convolution.Run(isa, threads), wanted)
          << CpuIsaName(isa) << ", " << threads << " threads";
    }
  }
}

Shape Image(ptrdiff_t h, ptrdiff_t w, ptrdiff_t in_c, ptrdiff_t out_c) {
  Shape s;
  s.in_h = h;
  s.in_w = w;
  s.in_c = in_c;
  s.out_c = out_c;
  return s;
}

Shape Window(Shape s, ptrdiff_t kernel, ptrdiff_t stride, ptrdiff_t pad) {
  s.kernel_h = s.kernel_w = kernel;
  s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_left = pad;
  return s;
}

TEST(QuantizedDirect, Pointwise) {
  Check(Image(7, 9, 32, 64));
  Check(Image(5, 5, 19, 37));
  Check(Window(Image(6, 7, 24, 16), 1, 2, 0));
}

TEST(QuantizedDirect, Windows) {
  Check(Window(Image(8, 9, 20, 33), 3, 1, 1));
  Check(Window(Image(9, 8, 16, 16), 3, 2, 1));
  Check(Window(Image(6, 6, 40, 24), 5, 1, 2));
  Shape dilated = Window(Image(9, 9, 18, 20), 3, 1, 2);
  dilated.dilation_h = dilated.dilation_w = 2;
  Check(dilated);
}

// The taps of a row are one; its edges are copied.
TEST(QuantizedDirect, FewChannels) {
  Check(Window(Image(15, 14, 3, 32), 3, 2, 1));
  Check(Window(Image(15, 14, 1, 20), 7, 2, 3));
  Check(Window(Image(7, 6, 8, 16), 3, 1, 1));
}

TEST(QuantizedDirect, GroupsBatchesAndPatches) {
  Shape groups = Window(Image(6, 5, 60, 54), 3, 1, 1);
  groups.groups = 3;
  Check(groups);
  Shape batch = Window(Image(5, 4, 17, 19), 3, 1, 1);
  batch.batch = 3;
  Check(batch);
  Check(Window(Image(7, 7, 20, 40), 7, 1, 0));
}

}  // namespace
}  // namespace mace::conv
