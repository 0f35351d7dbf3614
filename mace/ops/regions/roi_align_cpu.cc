// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mace/core/base/divide.h"
#include "mace/kernels/cpu/resize/resize.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/region_rows.h"
#include "mace/ops/regions/roi_align_schema.h"

namespace mace {
namespace {

constexpr int64_t kMostSamples = 1024;
// Elements that are summed at once: those of 4 x 4 samples.
constexpr size_t kMaxTaps = 64;

// Two neighbours along an axis; no weights for a sample outside.
struct Pair {
  int64_t low = 0;
  int64_t high = 0;
  float weights[2] = {0, 0};
  bool inside = false;
};

// The samples of a region along one axis.
struct RegionAxis {
  float low = 0;
  float step = 0;  // of an output
  int64_t samples = 0;
  int64_t length = 0;  // of the image

  Pair At(int64_t output, int64_t sample) const {
    const float inner = static_cast<float>(2 * sample + 1) / 2 * step /
                        static_cast<float>(samples);
    const float place = low + static_cast<float>(output) * step + inner;
    Pair pair;
    // Also false for NaN.
    pair.inside =
        place >= -1 && place <= static_cast<float>(length) && length > 0;
    if (!pair.inside) return pair;
    const float at = std::max(place, 0.0f);
    pair.low = std::min(static_cast<int64_t>(at), length - 1);
    pair.high = std::min(pair.low + 1, length - 1);
    const float rest =
        pair.low < length - 1 ? at - static_cast<float>(pair.low) : 0;
    pair.weights[0] = 1 - rest;
    pair.weights[1] = rest;
    return pair;
  }
};

class RoiAlignOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<RoiAlignAttributes>();
    kernels_ = resize::KernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->RequestScratch(
        static_cast<size_t>(SumBytes(*context->input(kRoiAlignInputInput)) *
                            context->thread_pool()->thread_count()));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor &input = *context->input(kRoiAlignInputInput);
    auto *scratch = static_cast<uint8_t *>(context->scratch());
    ForEachRegionRow(context, [&](int64_t image, const float *region, int64_t y,
                                  int thread, float *out) {
      auto *sum = reinterpret_cast<float *>(scratch + thread * SumBytes(input));
      Row(input, image, region, y, sum, out);
    });
    return MaceStatus();
  }

 private:
  static int64_t SumBytes(const Tensor &input) {
    return RoundUp(input.shape[3] * static_cast<int64_t>(sizeof(float)), 64);
  }

  RegionAxis AxisOf(float low,
                    float high,
                    int64_t outputs,
                    int64_t length) const {
    const float offset = attributes_.half_pixel ? 0.5f : 0.0f;
    RegionAxis axis;
    axis.low = low * attributes_.scale - offset;
    float extent = high * attributes_.scale - offset - axis.low;
    if (!attributes_.half_pixel) extent = std::max(extent, 1.0f);
    axis.step = extent / static_cast<float>(outputs);
    axis.samples = attributes_.samples;
    axis.length = length;
    if (axis.samples == 0 && axis.step > 0) {
      axis.samples = static_cast<int64_t>(
          std::min(std::ceil(axis.step), static_cast<float>(kMostSamples)));
    }
    return axis;
  }

  // Computes a row of outputs, which are 0.
  void Row(const Tensor &input,
           int64_t image,
           const float *region,
           int64_t y,
           float *sum,
           float *out) const {
    const int64_t channels = input.shape[3];
    const RegionAxis rows =
        AxisOf(region[1], region[3], attributes_.height, input.shape[1]);
    const RegionAxis columns =
        AxisOf(region[0], region[2], attributes_.width, input.shape[2]);
    const float *pixels =
        input.As<float>() + image * input.shape.Elements(1, 4);
    for (int64_t x = 0; x < attributes_.width; ++x, out += channels) {
      if (attributes_.mode == RoiAlignMode::MAX) {
        Largest(rows, columns, pixels, y, x, channels, out);
      } else {
        Mean(rows, columns, pixels, y, x, channels, sum, out);
      }
    }
  }

  // Calls `sample(elements, weights)` with the four elements of each sample;
  // null for one outside.
  template <typename Sample>
  static void ForEachSample(const RegionAxis &rows,
                            const RegionAxis &columns,
                            const float *pixels,
                            int64_t y,
                            int64_t x,
                            int64_t channels,
                            Sample &&sample) {
    const int64_t stride = columns.length * channels;
    for (int64_t s = 0; s < rows.samples; ++s) {
      const Pair row = rows.At(y, s);
      for (int64_t t = 0; t < columns.samples; ++t) {
        const Pair column = columns.At(x, t);
        if (!row.inside || !column.inside) {
          sample(nullptr, nullptr);
          continue;
        }
        const float *top = pixels + row.low * stride;
        const float *bottom = pixels + row.high * stride;
        const float *const elements[4] = {
            top + column.low * channels, top + column.high * channels,
            bottom + column.low * channels, bottom + column.high * channels};
        const float weights[4] = {row.weights[0] * column.weights[0],
                                  row.weights[0] * column.weights[1],
                                  row.weights[1] * column.weights[0],
                                  row.weights[1] * column.weights[1]};
        sample(elements, weights);
      }
    }
  }

  void Mean(const RegionAxis &rows,
            const RegionAxis &columns,
            const float *pixels,
            int64_t y,
            int64_t x,
            int64_t channels,
            float *sum,
            float *out) const {
    const auto count = static_cast<float>(
        std::max<int64_t>(rows.samples * columns.samples, 1));
    const float *taps[kMaxTaps];
    float weights[kMaxTaps];
    size_t used = 0;
    bool first = true;
    const auto flush = [&] {
      if (used == 0) return;
      kernels_->blend(taps, weights, used, static_cast<size_t>(channels),
                      first ? out : sum);
      for (int64_t c = 0; !first && c < channels; ++c) out[c] += sum[c];
      first = false;
      used = 0;
    };
    ForEachSample(rows, columns, pixels, y, x, channels,
                  [&](const float *const *elements, const float *own) {
                    if (elements == nullptr) return;
                    for (int k = 0; k < 4; ++k) {
                      if (own[k] == 0) continue;
                      taps[used] = elements[k];
                      weights[used++] = own[k] / count;
                    }
                    if (used + 4 > kMaxTaps) flush();
                  });
    flush();
  }

  static void Largest(const RegionAxis &rows,
                      const RegionAxis &columns,
                      const float *pixels,
                      int64_t y,
                      int64_t x,
                      int64_t channels,
                      float *out) {
    bool first = true;
    ForEachSample(rows, columns, pixels, y, x, channels,
                  [&](const float *const *elements, const float *weights) {
                    for (int64_t c = 0; c < channels; ++c) {
                      float largest = 0;
                      if (elements != nullptr) {
                        largest = weights[0] * elements[0][c];
                        for (int k = 1; k < 4; ++k) {
                          largest =
                              std::max(largest, weights[k] * elements[k][c]);
                        }
                      }
                      out[c] = first ? largest : std::max(out[c], largest);
                    }
                    first = false;
                  });
  }

  RoiAlignAttributes attributes_;
  const resize::Kernels *kernels_ = nullptr;
};

MACE_REGISTER_OP(RoiAlign, CPU, RoiAlignOp);

}  // namespace
}  // namespace mace
