// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/mma_conv.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/divide.h"
#include "mace/core/base/half.h"

namespace mace {
namespace {

constexpr int64_t kBlock = 32;  // channels of a warp, and of a step
constexpr int64_t kPacked = 16;

// Where the elements of a filter go: `taps` times `per_tap` channels are
// summed, in steps of 32.
struct FilterOrder {
  int64_t out;
  int64_t in;
  int64_t taps;
  int64_t per_tap;
  int64_t steps;

  FilterOrder(const Tensor &filter, bool few_channels)
      : out(filter.shape[0]),
        in(filter.shape.back()),
        taps(filter.shape.Elements(1, filter.shape.rank() - 1)),
        per_tap(few_channels ? kMmaFewChannels : RoundUp(in, kBlock)),
        steps(DivideUp(taps * per_tap, kBlock)) {}
  int64_t blocks() const { return DivideUp(out, kBlock); }
};

template <typename From, typename To, typename Convert>
void Rearrange(const Tensor &filter,
               const FilterOrder &order,
               Convert convert,
               To *to) {
  constexpr int64_t kPiece = 16 / sizeof(To);
  const From *from = filter.As<From>();
  for (int64_t block = 0; block < order.blocks(); ++block) {
    for (int64_t step = 0; step < order.steps; ++step) {
      int64_t taps[8 / kPiece][4];  // [piece][lane % 4]
      int64_t channels[8 / kPiece][4];
      for (int64_t piece = 0; piece < 8 / kPiece; ++piece) {
        for (int64_t t = 0; t < 4; ++t) {
          const int64_t k = step * kBlock + 8 * t + piece * kPiece;
          taps[piece][t] = k / order.per_tap;
          channels[piece][t] = k % order.per_tap;
        }
      }
      for (int64_t s = 0; s < 4; ++s) {
        for (int64_t piece = 0; piece < 8 / kPiece; ++piece) {
          for (int64_t lane = 0; lane < 32; ++lane) {
            const int64_t o = block * kBlock + 4 * (lane / 4) + s;
            const int64_t tap = taps[piece][lane % 4];
            const int64_t i0 = channels[piece][lane % 4];
            const From *source =
                from +
                ((o / kPacked * order.taps + tap) * order.in + i0) * kPacked +
                o % kPacked;
            if (o < order.out && tap < order.taps && i0 + kPiece <= order.in) {
              for (int64_t j = 0; j < kPiece; ++j) {
                to[j] = convert(source[j * kPacked]);
              }
              to += kPiece;
              continue;
            }
            for (int64_t j = 0; j < kPiece; ++j) {
              const bool next = i0 + j >= order.per_tap;
              const int64_t i = next ? i0 + j - order.per_tap : i0 + j;
              const bool inside =
                  o < order.out && tap + next < order.taps && i < order.in;
              const From *element =
                  source +
                  (j - (next ? order.per_tap - order.in : 0)) * kPacked;
              *to++ = inside ? convert(*element) : To{0};
            }
          }
        }
      }
    }
  }
}

template <typename To>
Result<To *> Allocate(const Tensor &filter,
                      const FilterOrder &order,
                      MappedMemory *bytes) {
  return AllocateForm<To>(
      filter, order.blocks() * order.steps * kBlock * kBlock, bytes);
}

template <bool few_channels>
MaceStatus MakeHalfFilter(const Tensor &filter, MappedMemory *bytes) {
  const FilterOrder order(filter, few_channels);
  MACE_ASSIGN_OR_RETURN(uint16_t *to, Allocate<uint16_t>(filter, order, bytes));
  if (filter.data_type == DataType::kFloat16) {
    Rearrange<uint16_t>(filter, order, [](uint16_t v) { return v; }, to);
  } else {
    Rearrange<float>(filter, order, FloatToHalf, to);
  }
  return MaceStatus();
}

template <bool few_channels>
MaceStatus MakeFloatFilter(const Tensor &filter, MappedMemory *bytes) {
  const FilterOrder order(filter, few_channels);
  MACE_ASSIGN_OR_RETURN(float *to, Allocate<float>(filter, order, bytes));
  if (filter.data_type == DataType::kFloat16) {
    Rearrange<uint16_t>(filter, order, HalfToFloat, to);
  } else {
    Rearrange<float>(filter, order, [](float v) { return v; }, to);
  }
  return MaceStatus();
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

namespace {

template <typename To, typename FromFloat, typename FromHalf>
MaceStatus MakeElements(const Tensor &constant,
                        FromFloat from_float,
                        FromHalf from_half,
                        MappedMemory *bytes) {
  const int64_t count = constant.elements();
  MACE_ASSIGN_OR_RETURN(To * to, AllocateForm<To>(constant, count, bytes));
  const bool is_half = constant.data_type == DataType::kFloat16;
  for (int64_t i = 0; i < count; ++i) {
    to[i] = is_half ? from_half(constant.As<uint16_t>()[i])
                    : from_float(constant.As<float>()[i]);
  }
  return MaceStatus();
}

MaceStatus MakeHalves(const Tensor &constant, MappedMemory *bytes) {
  return MakeElements<uint16_t>(
      constant, FloatToHalf, [](uint16_t v) { return v; }, bytes);
}

MaceStatus MakeFloats(const Tensor &constant, MappedMemory *bytes) {
  return MakeElements<float>(
      constant, [](float v) { return v; }, HalfToFloat, bytes);
}

const ConstantForm kHalves = {"halves", MakeHalves};
const ConstantForm kFloats = {"floats", MakeFloats};

}  // namespace

void AddMmaElements(const GpuTraits &gpu,
                    const char *name,
                    size_t port,
                    Launch *launch) {
  launch->Define(std::string("T_") + name, gpu.half_storage ? "CH" : "CF")
      .Constant(name, port, gpu.half_storage ? kHalves : kFloats);
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
