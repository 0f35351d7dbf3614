// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/region_rows.h"
#include "mace/ops/regions/roi_pool_schema.h"

namespace mace {
namespace {

struct Window {
  int64_t begin;
  int64_t end;
};

// To the nearest integer, halves away from 0.
float Rounded(float x) {
  const float size = std::fabs(x);
  float whole = std::floor(size);
  if (size - whole >= 0.5f) whole += 1;
  return x < 0 ? -whole : whole;
}

// The next integer. Of the library's functions, floorf is enough.
float Above(float x) { return -std::floor(-x); }

// A number as a position; one outside [0, length] is at the border, NaN at 0.
int64_t Inside(float x, int64_t length) {
  if (!(x > 0)) return 0;
  return x < static_cast<float>(length) ? static_cast<int64_t>(x) : length;
}

class RoiPoolOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<RoiPoolAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor &input = *context->input(kRoiPoolInputInput);
    ForEachRegionRow(context,
                     [&](int64_t image, const float *region, int64_t y, int,
                         float *out) { Row(input, image, region, y, out); });
    return MaceStatus();
  }

 private:
  // The elements of an output along an axis.
  Window WindowOf(float low,
                  float high,
                  int64_t place,
                  int64_t outputs,
                  int64_t length) const {
    const auto count = static_cast<float>(outputs);
    const auto first = static_cast<float>(place);
    if (attributes_.mode == RoiPoolMode::MAX) {
      const float start = Rounded(low * attributes_.scale);
      const float extent =
          std::max(Rounded(high * attributes_.scale) - start + 1, 1.0f);
      const float step = extent / count;
      return {Inside(std::floor(first * step) + start, length),
              Inside(Above((first + 1) * step) + start, length)};
    }
    const float start = Rounded(low) * attributes_.scale;
    const float stop = (Rounded(high) + 1) * attributes_.scale;
    const float step = std::max(stop - start, 0.1f) / count;
    // In double precision, in which the product is exact: whether a processor
    // rounds it does not matter.
    const auto at = [&](float n) {
      return static_cast<float>(static_cast<double>(n) *
                                    static_cast<double>(step) +
                                static_cast<double>(start));
    };
    return {Inside(std::floor(at(first)), length),
            Inside(Above(at(first + 1)), length)};
  }

  // Computes a row of outputs, which are 0.
  void Row(const Tensor &input,
           int64_t image,
           const float *region,
           int64_t y,
           float *out) const {
    const int64_t channels = input.shape[3];
    const int64_t width = attributes_.width;
    const Window rows =
        WindowOf(region[1], region[3], y, attributes_.height, input.shape[1]);
    const float *pixels =
        input.As<float>() + image * input.shape.Elements(1, 4);
    for (int64_t x = 0; x < width; ++x) {
      const Window columns =
          WindowOf(region[0], region[2], x, width, input.shape[2]);
      if (rows.begin >= rows.end || columns.begin >= columns.end) continue;
      if (attributes_.mode == RoiPoolMode::MAX) {
        Largest(rows, columns, pixels, input.shape[2], channels,
                out + x * channels);
      } else {
        const int64_t places = attributes_.height * width;
        Mean(rows, columns, pixels + y * width + x, input.shape[2] * channels,
             channels, places, out + x * (channels / places));
      }
    }
  }

  static void Largest(const Window &rows,
                      const Window &columns,
                      const float *pixels,
                      int64_t width,
                      int64_t channels,
                      float *out) {
    std::memcpy(out, pixels + (rows.begin * width + columns.begin) * channels,
                static_cast<size_t>(channels) * sizeof(float));
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      for (int64_t j = columns.begin; j < columns.end; ++j) {
        const float *from = pixels + (i * width + j) * channels;
        for (int64_t c = 0; c < channels; ++c) {
          out[c] = std::max(out[c], from[c]);
        }
      }
    }
  }

  // Of every `places`-th channel.
  static void Mean(const Window &rows,
                   const Window &columns,
                   const float *pixels,
                   int64_t row_elements,
                   int64_t channels,
                   int64_t places,
                   float *out) {
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      for (int64_t j = columns.begin; j < columns.end; ++j) {
        const float *from = pixels + i * row_elements + j * channels;
        for (int64_t d = 0; d * places < channels; ++d) {
          out[d] += from[d * places];
        }
      }
    }
    const auto area = static_cast<float>((rows.end - rows.begin) *
                                         (columns.end - columns.begin));
    for (int64_t d = 0; d * places < channels; ++d) out[d] /= area;
  }

  RoiPoolAttributes attributes_;
};

MACE_REGISTER_OP(RoiPool, CPU, RoiPoolOp);

}  // namespace
}  // namespace mace
