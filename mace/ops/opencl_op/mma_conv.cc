// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/mma_conv.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mace/core/base/divide.h"
#include "mace/core/base/half.h"
#include "mace/core/model/packed_filter.h"

namespace mace {
namespace {

constexpr int64_t kBlock = 32;  // channels of a warp, and of a step
constexpr int64_t kGroup = 4;   // channels of a lane
constexpr int64_t kUnit = 8;    // inputs of a lane
constexpr int64_t kStepUnits = 4;

// Where the elements of a filter go: each row of `units` times 8 inputs is one
// tap of the window, or with few channels, four channels of all taps.
struct FilterOrder {
  int64_t out;
  int64_t in;
  int64_t taps;
  int64_t rows;
  int64_t units;
  int64_t per_tap;  // inputs

  FilterOrder(const Tensor &filter, bool few_channels)
      : out(filter.shape[0]),
        in(filter.shape.back()),
        taps(filter.shape.Elements(1, filter.shape.rank() - 1)),
        rows(few_channels ? 1 : taps),
        units(DivideUp(few_channels ? taps * kMmaFewChannels : in, kUnit)),
        per_tap(few_channels ? kMmaFewChannels : units * kUnit) {}
  int64_t elements() const {
    return RoundUp(out, kGroup) * rows * units * kUnit;
  }
};

template <typename From, typename To, typename Convert>
class Rearrange {
 public:
  Rearrange(const Tensor &filter, const FilterOrder &order, Convert convert)
      : from_(filter.As<From>()),
        packed_(filter),
        order_(order),
        convert_(convert) {}

  void Run(To *to) {
    to_ = to;
    for (int64_t o = 0; o < order_.out; o += kBlock) {
      const int64_t groups = DivideUp(std::min(kBlock, order_.out - o), kGroup);
      for (int64_t row = 0; row < order_.rows; ++row) {
        for (int64_t unit = 0; unit < order_.units; unit += kStepUnits) {
          AddStep(o, groups, row, unit);
        }
      }
    }
  }

 private:
  static constexpr int64_t kPiece = 16 / sizeof(To);

  void AddStep(int64_t first, int64_t groups, int64_t row, int64_t unit) {
    const int64_t units = std::min(kStepUnits, order_.units - unit);
    for (int64_t s = 0; s < kGroup; ++s) {
      for (int64_t piece = 0; piece < kUnit; piece += kPiece) {
        for (int64_t g = 0; g < groups; ++g) {
          for (int64_t t = 0; t < units; ++t) {
            AddPiece(first + kGroup * g + s, row, (unit + t) * kUnit + piece);
          }
        }
      }
    }
  }

  // `k`: the number of the first input in its row.
  void AddPiece(int64_t o, int64_t row, int64_t k) {
    const int64_t tap = row + k / order_.per_tap;
    const int64_t i = k % order_.per_tap;
    if (o < order_.out && tap < order_.taps && i + kPiece <= order_.in) {
      const int64_t at = packed_.OfOutput(o);
      for (int64_t j = 0; j < kPiece; ++j) {
        *to_++ = convert_(from_[at + packed_.OfDepth(tap * order_.in + i + j)]);
      }
      return;
    }
    for (int64_t j = 0; j < kPiece; ++j) {
      const int64_t tap_j = row + (k + j) / order_.per_tap;
      const int64_t i_j = (k + j) % order_.per_tap;
      const bool inside =
          o < order_.out && tap_j < order_.taps && i_j < order_.in;
      *to_++ = inside ? convert_(from_[packed_.At(o, tap_j * order_.in + i_j)])
                      : To{0};
    }
  }

  const From *from_;
  const PackedFilter packed_;
  const FilterOrder &order_;
  Convert convert_;
  To *to_ = nullptr;
};

template <typename From, typename To, typename Convert>
MaceStatus MakeFilter(const Tensor &filter,
                      bool few_channels,
                      Convert convert,
                      MappedMemory *bytes) {
  const FilterOrder order(filter, few_channels);
  MACE_ASSIGN_OR_RETURN(To * to,
                        AllocateForm<To>(filter, order.elements(), bytes));
  Rearrange<From, To, Convert>(filter, order, convert).Run(to);
  return MaceStatus();
}

template <bool few_channels>
MaceStatus MakeHalfFilter(const Tensor &filter, MappedMemory *bytes) {
  if (filter.data_type == DataType::kFloat16) {
    return MakeFilter<uint16_t, uint16_t>(
        filter, few_channels, [](uint16_t v) { return v; }, bytes);
  }
  return MakeFilter<float, uint16_t>(filter, few_channels, FloatToHalf, bytes);
}

template <bool few_channels>
MaceStatus MakeFloatFilter(const Tensor &filter, MappedMemory *bytes) {
  if (filter.data_type == DataType::kFloat16) {
    return MakeFilter<uint16_t, float>(filter, few_channels, HalfToFloat,
                                       bytes);
  }
  return MakeFilter<float, float>(
      filter, few_channels, [](float v) { return v; }, bytes);
}

// [few channels][float]
const ConstantForm kFilters[2][2] = {
    {{"mma", MakeHalfFilter<false>}, {"mma_float", MakeFloatFilter<false>}},
    {{"mma_few", MakeHalfFilter<true>},
     {"mma_few_float", MakeFloatFilter<true>}}};

// Warps of a work group.
constexpr int kWarps = 8;

// How many warps a work group has in each direction, and how many tiles of 8
// pixels a warp computes.
struct Division {
  int tiles;
  int warps_o;
  int warps_p;
  int warps_k;
};

// Of output channels.
int64_t BlocksOf(const MmaProduct &product) {
  return DivideUp(product.channels, kBlock);
}

// Of these, the fastest by the model, tuning finds the fastest.
constexpr size_t kOffered = 8;

// A model of the time of the slowest multiprocessor, in cycles, fitted to
// measurements of an H200: a warp waits for its loads, and a multiprocessor can
// hide that behind other warps.
double Cycles(const GpuTraits &gpu,
              const MmaProduct &product,
              const Division &d) {
  constexpr double kLatency =
      600;                      // of a step: loads that wait for nothing else
  constexpr double kStep = 32;  // of issue, with the weights
  constexpr double kTile = 20;
  constexpr double kDepthwise = 160;  // of a tile
  constexpr double kSplit = 120;
  const auto groups = static_cast<double>(
      DivideUp(product.pixels, int64_t{8} * d.tiles * d.warps_p) *
      DivideUp(BlocksOf(product), d.warps_o));
  const auto rounds = static_cast<double>(DivideUp(product.steps, d.warps_k));
  double issue = kStep + kTile * d.tiles;
  if (product.depthwise) {
    issue += kDepthwise * static_cast<double>(DivideUp(d.tiles, d.warps_o));
  }
  const double groups_of_one =
      std::ceil(groups / static_cast<double>(gpu.compute_units));
  // Four schedulers issue the warps of a multiprocessor.
  const double busy = groups_of_one * kWarps / 4 * issue * rounds;
  const double latency = (product.depthwise ? 2 : 1) * kLatency * rounds;
  double cycles = std::max(busy, latency) + 0.2 * std::min(busy, latency);
  if (d.warps_k > 1) cycles += kSplit + 16 * d.warps_k;
  return cycles;
}

}  // namespace

const ConstantForm &MmaFilter(const GpuTraits &gpu, bool few_channels) {
  return kFilters[few_channels ? 1 : 0][gpu.half_storage ? 0 : 1];
}

void AddMmaInput(const GpuTraits &gpu, size_t port, Launch *launch) {
  if (gpu.half_storage) {
    launch->RoundedInput("input", port);
  } else {
    launch->Input("input", port);
  }
}

void DivideMma(const OpenclPlanContext &context,
               const MmaProduct &product,
               Launch *launch) {
  const GpuTraits &gpu = context.gpu();
  std::vector<Division> divisions;
  std::vector<std::pair<double, size_t>> order;
  const int most_tiles = gpu.half_storage ? 4 : 2;  // TILES of conv_mma.cl
  for (int t = 1; t <= most_tiles; ++t) {
    for (int o = 1; o <= kWarps; o *= 2) {
      for (int k = 1; o * k <= kWarps; k *= 2) {
        divisions.push_back({t, o, kWarps / (o * k), k});
        order.emplace_back(Cycles(gpu, product, divisions.back()),
                           order.size());
      }
    }
  }
  std::sort(order.begin(), order.end());
  order.resize(kOffered);
  // 481: 4 tiles, all warps next to each other in channels.
  std::vector<int> codes;
  for (const auto &[cycles, index] : order) {
    const Division &d = divisions[index];
    codes.push_back((d.tiles * 10 + d.warps_o) * 10 + d.warps_k);
  }
  const int code =
      context.Choose(launch->source(), "DIVISION", codes, codes.front());
  const auto found = std::find(codes.begin(), codes.end(), code);
  const Division &d =
      divisions[order[static_cast<size_t>(found - codes.begin())].second];
  if (!gpu.half_storage) launch->Define("MMA_FLOAT");
  launch->Ints(d.warps_o, d.warps_p, d.warps_k, d.tiles)
      .Items(DivideUp(product.pixels, int64_t{8} * d.tiles * d.warps_p) * 32,
             DivideUp(BlocksOf(product), d.warps_o) * kWarps)
      .WorkGroup(32, kWarps);
}

}  // namespace mace
