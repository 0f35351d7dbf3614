// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/conv/quantized_strategy.h"
#include "mace/kernels/cpu/winograd/quantized_winograd.h"

namespace mace::conv {
namespace {

using winograd::kQuantizedPoints;
using winograd::kTilesTogether;

constexpr ptrdiff_t kTile = winograd::kQuantizedTile;
constexpr ptrdiff_t kEdge = kTile + 2;
constexpr size_t kPanel = gemm::kPanelColumns;

constexpr size_t DivideUp(size_t a, size_t b) { return (a + b - 1) / b; }
constexpr size_t RoundUp(size_t a, size_t b) { return DivideUp(a, b) * b; }

size_t TilesOf(ptrdiff_t out) {
  return static_cast<size_t>((out + kTile - 1) / kTile);
}

size_t TilesOf(const Shape &s) {
  return static_cast<size_t>(s.batch) * TilesOf(s.out_h) * TilesOf(s.out_w);
}

bool Fits(const Shape &s) {
  return s.kernel_h == 3 && s.kernel_w == 3 && s.stride_h == 1 &&
         s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1 &&
         s.groups == 1 && s.in_c % winograd::kChannelsTogether == 0;
}

// What each of them takes, in instructions; reading a byte of the filter from
// memory takes as long as so many.
#if defined(__x86_64__) || defined(__i386__)
// Of AVX2, by its times.
constexpr double kPerProduct = 0.11;
constexpr double kPerResult = 1.5;
constexpr double kPerPointProduct = 0.14;
constexpr double kPerPointSum = 0.3;
constexpr double kPerTileChannel = 18.0;
constexpr double kPerTileResult = 30.0;
constexpr double kPerByte = 1.0;
#else
// As counted on NEON.
constexpr double kPerProduct = 0.24;
constexpr double kPerResult = 3.0;
constexpr double kPerPointProduct = 0.069;
constexpr double kPerPointSum = 0.6;
constexpr double kPerTileChannel = 50.0;
constexpr double kPerTileResult = 80.0;
constexpr double kPerByte = 0.5;
#endif

// Whether it takes less than the direct product.
bool IsFaster(const Shape &s) {
  constexpr auto kPoints = static_cast<double>(kQuantizedPoints);
  const auto depth = static_cast<double>(s.in_c);
  const auto columns =
      static_cast<double>(RoundUp(static_cast<size_t>(s.out_c), kPanel));
  const auto pixels = static_cast<double>(s.batch * s.out_h * s.out_w);
  const auto tiles = static_cast<double>(RoundUp(TilesOf(s), kTilesTogether));
  const double weights = depth * columns;
  const double direct =
      pixels * (9 * weights * kPerProduct + columns * kPerResult) +
      9 * weights * kPerByte;
  const double by_points =
      tiles * (kPoints * (weights * kPerPointProduct + columns * kPerPointSum) +
               depth * kPerTileChannel + columns * kPerTileResult) +
      kPoints * 2 * weights * kPerByte;
  return by_points < direct;
}

class PlanOfQuantizedWinograd final : public Plan {
 public:
  PlanOfQuantizedWinograd(const Request &request,
                          const winograd::QuantizedKernels *kernels,
                          void **transformed)
      : shape_(request.shape),
        filter_(static_cast<const int8_t *>(request.filter)),
        layout_(request.layout),
        kernels_(kernels),
        transformed_(transformed),
        channels_(static_cast<size_t>(shape_.in_c)),
        panels_(gemm::PanelCount(static_cast<size_t>(shape_.out_c))) {
    const auto threads = static_cast<size_t>(request.threads);
    const size_t tiles = TilesOf(shape_);
    const size_t most = kBlockBytes / (kQuantizedPoints * channels_ * 2);
    size_t blocks = DivideUp(tiles, std::clamp(most, size_t{kMinBlockTiles},
                                               size_t{kMaxBlockTiles}));
    if (threads > 1) blocks = RoundUp(blocks, threads);
    block_tiles_ = RoundUp(DivideUp(tiles, blocks), kTilesTogether);
    blocks_ = DivideUp(tiles, block_tiles_);
    parts_ = std::min(panels_, DivideUp(threads, blocks_));
  }

  std::string Name() const override { return "winograd4x4, quantized"; }
  size_t ScratchBytes(int threads) const override {
    return static_cast<size_t>(threads) * ThreadBytes();
  }
  bool ResidualMayBeOutput() const override { return false; }
  size_t PreparedBytes() const override {
    return *transformed_ != nullptr ? 0 : Bytes();
  }
  MaceStatus TakePrepared(void *memory) override;
  void Run(const Args &args,
           const OutputActivation * /*activation*/,
           ThreadPool *pool,
           void *scratch) const override {
    pool->ParallelFor(static_cast<int64_t>(blocks_ * parts_), 1,
                      [&](int64_t begin, int64_t end, int thread) {
                        char *own = static_cast<char *>(scratch) +
                                    static_cast<size_t>(thread) * ThreadBytes();
                        for (int64_t i = begin; i < end; ++i) {
                          RunTask(args, static_cast<size_t>(i), own);
                        }
                      });
  }

 private:
  // Inputs of a block stay in the level 2 cache, and so do its products.
  static constexpr size_t kBlockBytes = size_t{512} * 1024;
  static constexpr size_t kMinBlockTiles = 8;
  static constexpr size_t kMaxBlockTiles = 32;
  // No points in the same set of a cache.
  static constexpr size_t kGap = 32;

  struct Place {
    ptrdiff_t image;
    ptrdiff_t row;
    ptrdiff_t column;
  };
  Place PlaceOf(size_t tile) const {
    const size_t wide = TilesOf(shape_.out_w);
    const size_t high = TilesOf(shape_.out_h);
    return {static_cast<ptrdiff_t>(tile / wide / high),
            static_cast<ptrdiff_t>(tile / wide % high) * kTile,
            static_cast<ptrdiff_t>(tile % wide) * kTile};
  }

  size_t PointBytes() const { return channels_ * kPanel * sizeof(int16_t); }
  size_t PanelBytes() const { return kQuantizedPoints * PointBytes(); }
  size_t Bytes() const { return panels_ * PanelBytes(); }

  size_t InputStride() const { return block_tiles_ * channels_ + kGap; }
  size_t InputBytes() const {
    return RoundUp(kQuantizedPoints * InputStride() * sizeof(int16_t), 64);
  }
  size_t ProductBytes() const {
    return block_tiles_ / kTilesTogether * winograd::kBlockSums *
           sizeof(int32_t);
  }
  size_t ThreadBytes() const {
    return InputBytes() + ProductBytes() + RoundUp(channels_, 64);
  }

  void RunTask(const Args &args, size_t task, char *scratch) const;
  void TransformTile(const Args &args,
                     size_t tile,
                     const char *padding,
                     int16_t *to) const;
  void FinishTile(const Args &args,
                  size_t tile,
                  size_t panel,
                  const int32_t *products) const;

  const Shape shape_;
  const int8_t *const filter_;
  const FilterLayout layout_;
  const winograd::QuantizedKernels *const kernels_;
  void **const transformed_;
  const size_t channels_;
  const size_t panels_;
  size_t block_tiles_ = 0;
  size_t blocks_ = 0;
  size_t parts_ = 0;  // of the panels, for threads that have no blocks
};

MaceStatus PlanOfQuantizedWinograd::TakePrepared(void *memory) {
  MACE_RETURN_IF_ERROR(CheckPrepared(memory, Bytes()));
  winograd::QuantizedFilter args;
  args.channels = channels_;
  if (layout_ == FilterLayout::kFours) {
    args.column_stride = 4;
    args.tap_stride = channels_ * kPanel;
    args.four_stride = 4 * kPanel;
  } else {
    args.column_stride = 9 * channels_;
    args.tap_stride = channels_;
    args.four_stride = 4;
  }
  const auto columns = static_cast<size_t>(shape_.out_c);
  for (size_t panel = 0; panel < panels_; ++panel) {
    args.from = filter_ + panel * kPanel * 9 * channels_;
    args.columns = std::min(kPanel, columns - panel * kPanel);
    args.to = reinterpret_cast<int16_t *>(static_cast<char *>(memory) +
                                          panel * PanelBytes());
    winograd::TransformFilter(*kernels_, args);
  }
  *transformed_ = memory;
  return MaceStatus();
}

void PlanOfQuantizedWinograd::TransformTile(const Args &args,
                                            size_t tile,
                                            const char *padding,
                                            int16_t *to) const {
  const Place place = PlaceOf(tile);
  const void *pixels[kQuantizedPoints];
  const void **next = pixels;
  const auto *image = static_cast<const char *>(args.input) +
                      place.image * shape_.in_h * shape_.in_w * shape_.in_c;
  // Those inside the image.
  const ptrdiff_t left = place.column - shape_.pad_left;
  const ptrdiff_t first = std::clamp(-left, ptrdiff_t{0}, kEdge);
  const ptrdiff_t last = std::clamp(shape_.in_w - left, first, kEdge);
  for (ptrdiff_t i = 0; i < kEdge; ++i) {
    const ptrdiff_t h = place.row - shape_.pad_top + i;
    std::fill_n(next, kEdge, padding);
    if (h >= 0 && h < shape_.in_h) {
      const char *pixel =
          image + (h * shape_.in_w + left + first) * shape_.in_c;
      for (ptrdiff_t j = first; j < last; ++j, pixel += shape_.in_c) {
        next[j] = pixel;
      }
    }
    next += kEdge;
  }
  winograd::QuantizedInput input;
  input.pixels = pixels;
  input.channels = channels_;
  input.to = to;
  input.to_stride = InputStride();
  kernels_->input(input);
}

void PlanOfQuantizedWinograd::FinishTile(const Args &args,
                                         size_t tile,
                                         size_t panel,
                                         const int32_t *products) const {
  const Place place = PlaceOf(tile);
  const auto column = static_cast<ptrdiff_t>(panel * kPanel);
  const auto pixel_stride = static_cast<ptrdiff_t>(args.output_stride);
  const ptrdiff_t pixel =
      (place.image * shape_.out_h + place.row) * shape_.out_w + place.column;
  winograd::QuantizedOutput output;
  output.from = products;
  output.columns = static_cast<size_t>(shape_.out_c - column);
  output.rows = static_cast<size_t>(std::min(kTile, shape_.out_h - place.row));
  output.cols =
      static_cast<size_t>(std::min(kTile, shape_.out_w - place.column));
  output.to =
      static_cast<uint8_t *>(args.output) + pixel * pixel_stride + column;
  output.pixel_stride = args.output_stride;
  output.row_stride = args.output_stride * static_cast<size_t>(shape_.out_w);
  output.requantization = args.epilogue.requantization;
  output.scale = output.requantization->scale + column;
  kernels_->output(output);
}

void PlanOfQuantizedWinograd::RunTask(const Args &args,
                                      size_t task,
                                      char *scratch) const {
  auto *inputs = reinterpret_cast<int16_t *>(scratch);
  auto *products = reinterpret_cast<int32_t *>(scratch + InputBytes());
  char *padding = scratch + InputBytes() + ProductBytes();
  std::memset(padding, args.padding & 0xff, channels_);
  const size_t begin = task / parts_ * block_tiles_;
  const size_t end = std::min(begin + block_tiles_, TilesOf(shape_));
  const size_t part = task % parts_;
  // What the last tiles of four lack is multiplied, too, and never used.
  if ((end - begin) % kTilesTogether != 0) {
    std::memset(inputs, 0, InputBytes());
  }
  for (size_t tile = begin; tile < end; ++tile) {
    const size_t at = tile - begin;
    TransformTile(args, tile, padding,
                  inputs + at / kTilesTogether * kTilesTogether * channels_ +
                      at % kTilesTogether * winograd::kChannelsTogether);
  }
  winograd::QuantizedProduct product;
  product.blocks = DivideUp(end - begin, kTilesTogether);
  product.channels = channels_;
  const int32_t zeros[kPanel] = {};
  const size_t panel_end = panels_ * (part + 1) / parts_;
  for (size_t panel = panels_ * part / parts_; panel < panel_end; ++panel) {
    int32_t start[kPanel];
    for (size_t n = 0; n < kPanel; ++n) {
      const int32_t bias =
          args.epilogue.requantization->bias[panel * kPanel + n];
      start[n] = static_cast<int32_t>(static_cast<uint32_t>(bias) *
                                      winograd::kQuantizedScale);
    }
    const auto *weights = reinterpret_cast<const int16_t *>(
        static_cast<const char *>(*transformed_) + panel * PanelBytes());
    for (size_t point = 0; point < kQuantizedPoints; ++point) {
      product.a = inputs + point * InputStride();
      product.w = weights + point * channels_ * kPanel;
      // Panels lie side by side.
      const bool is_last =
          point + 1 == kQuantizedPoints && panel + 1 == panel_end;
      product.next_w = is_last ? nullptr : product.w + channels_ * kPanel;
      product.start = point == winograd::kBiasPoint ? start : zeros;
      product.c = products + point * winograd::kPointSums;
      kernels_->multiply(product);
    }
    for (size_t tile = begin; tile < end; ++tile) {
      const size_t at = tile - begin;
      FinishTile(args, tile, panel,
                 products + at / kTilesTogether * winograd::kBlockSums +
                     at % kTilesTogether * kPanel);
    }
  }
}

class QuantizedWinograd final : public Strategy {
 public:
  explicit QuantizedWinograd(const winograd::QuantizedKernels *kernels)
      : kernels_(kernels) {}

  std::unique_ptr<Plan> MakePlan(const Request &request) override {
    if (request.layout == FilterLayout::kTaps || !request.small_sums ||
        !Fits(request.shape) || !IsFaster(request.shape)) {
      return nullptr;
    }
    return std::make_unique<PlanOfQuantizedWinograd>(request, kernels_,
                                                     &transformed_);
  }

 private:
  const winograd::QuantizedKernels *const kernels_;
  void *transformed_ = nullptr;
};

}  // namespace

std::unique_ptr<Strategy> MakeQuantizedWinograd(CpuIsa isa, int max_tile) {
  const winograd::QuantizedKernels *kernels =
      max_tile < kTile ? nullptr : winograd::QuantizedKernelsFor(isa);
  if (kernels == nullptr) return nullptr;
  return std::make_unique<QuantizedWinograd>(kernels);
}

}  // namespace mace::conv
