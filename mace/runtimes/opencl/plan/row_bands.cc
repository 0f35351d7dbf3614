// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/plan/row_bands.h"

#include <algorithm>
#include <utility>

namespace mace {
namespace {

constexpr size_t kMostLaunches = 5;
constexpr int kMostBands = 4;
constexpr int kMostRounds = 8;
// Launches that may be added: so many, or one for so many of those without
// bands.
constexpr int kMostAdded = 6;
constexpr int kMostShare = 8;

size_t BytesOfRows(const GpuTensor &tensor, int64_t rows) {
  GpuTensor part = tensor;
  part.dims.h = rows;
  return part.Bytes();
}

// Per launch: bytes of the tensors that are in use during it.
std::vector<size_t> BytesInUse(const OpenclPlan &plan) {
  std::vector<size_t> bytes(plan.launches.size(), 0);
  for (const GpuTensor &tensor : plan.tensors) {
    if (tensor.alias_of >= 0 || tensor.is_constant || tensor.caller >= 0 ||
        tensor.first < 0) {
      continue;
    }
    const auto last = static_cast<size_t>(tensor.last);
    for (auto i = static_cast<size_t>(tensor.first);
         i <= last && i < bytes.size(); ++i) {
      bytes[i] += tensor.Bytes();
    }
  }
  return bytes;
}

// Chooses by the bytes in use, which a plan of the memory can hardly exceed.
class Chooser {
 public:
  Chooser(const OpenclPlan &plan,
          const std::vector<BandLaunch> &launches,
          const BandLimits &limits)
      : plan_(plan),
        launches_(launches),
        limits_(limits),
        whole_(BytesInUse(plan)) {
    for (size_t i = 0; i < launches.size(); ++i) {
      const BandLaunch &launch = launches[i];
      follows_.push_back(i > 0 && launch.follows &&
                         launches[i - 1].step + 1 == launch.step);
    }
  }

  std::vector<std::vector<DividedChain>> Run() const {
    std::vector<std::vector<DividedChain>> choices;
    size_t peak = Peak(whole_);
    if (peak < limits_.least_bytes) return choices;
    const int most =
        std::max(kMostAdded, static_cast<int>(whole_.size()) / kMostShare);
    for (int added = 1; added <= most; ++added) {
      std::vector<DividedChain> chosen = WithAtMost(added);
      const size_t now = Peak(InUse(chosen));
      if (now >= peak) continue;
      peak = now;
      for (DividedChain &chain : chosen) {
        chain.first = launches_[chain.first].step;
        chain.last = launches_[chain.last].step;
      }
      choices.push_back(std::move(chosen));
    }
    return choices;
  }

 private:
  static size_t Peak(const std::vector<size_t> &bytes) {
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
  }

  // Adds at most so many launches.
  std::vector<DividedChain> WithAtMost(int added) const {
    std::vector<DividedChain> chosen;
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<DividedChain> better = Better(chosen, added);
      if (better.empty()) break;
      chosen = std::move(better);
    }
    return chosen;
  }

  // Divides one chain more, or one otherwise: what saves most bytes for each
  // additional launch, and enough of them. Empty if there is none.
  std::vector<DividedChain> Better(const std::vector<DividedChain> &chosen,
                                   double most_added) const {
    const std::vector<size_t> in_use = InUse(chosen);
    const size_t now = Peak(in_use);
    double least = limits_.least_saved * static_cast<double>(Peak(whole_));
    std::vector<DividedChain> best;
    const auto consider = [&](const DividedChain &chain) {
      std::vector<DividedChain> with = With(chosen, chain);
      const size_t peak = Peak(InUse(with));
      const double launches = Launches(with) - Launches(chosen);
      if (peak >= now || launches <= 0 || Launches(with) > most_added) return;
      const double saved = static_cast<double>(now - peak) / launches;
      if (saved < least) return;
      least = saved;
      best = std::move(with);
    };
    for (size_t first = 0; first < launches_.size(); ++first) {
      for (size_t last = first + 1;
           last < launches_.size() && last < first + kMostLaunches; ++last) {
        if (!follows_[last]) break;
        if (!launches_[last].ends) continue;
        if (!CoversPeak(in_use, now, first, last)) continue;
        const int64_t rows = launches_[last].rows.output;
        for (int bands = 2; bands <= kMostBands && bands <= rows; ++bands) {
          consider({first, last, bands});
        }
      }
    }
    return best;
  }

  // Whether all the steps at the peak are those of the chain: no other one
  // makes it lower.
  bool CoversPeak(const std::vector<size_t> &in_use,
                  size_t peak,
                  size_t first,
                  size_t last) const {
    for (size_t step = 0; step < in_use.size(); ++step) {
      const bool inside =
          launches_[first].step <= step && step <= launches_[last].step;
      if (in_use[step] == peak && !inside) return false;
    }
    return true;
  }

  // More than the plan has.
  static double Launches(const std::vector<DividedChain> &chains) {
    double launches = 0;
    for (const DividedChain &chain : chains) {
      launches += static_cast<double>(chain.bands - 1) *
                  static_cast<double>(chain.last - chain.first + 1);
    }
    return launches;
  }

  // Instead of those that have launches of it.
  static std::vector<DividedChain> With(const std::vector<DividedChain> &chains,
                                        const DividedChain &added) {
    std::vector<DividedChain> with = {added};
    for (const DividedChain &chain : chains) {
      if (chain.last < added.first || added.last < chain.first) {
        with.push_back(chain);
      }
    }
    return with;
  }

  std::vector<size_t> InUse(const std::vector<DividedChain> &chains) const {
    std::vector<size_t> bytes = whole_;
    for (const DividedChain &chain : chains) SetChain(chain, &bytes);
    return bytes;
  }

  // Sets the bytes in use during the launches of a chain.
  void SetChain(const DividedChain &chain, std::vector<size_t> *bytes) const {
    std::vector<WindowAxis> axes;
    for (size_t i = chain.first; i <= chain.last; ++i) {
      axes.push_back(launches_[i].rows);
    }
    const auto ranges = DivideRows(axes, chain.bands);
    // The same for all its launches: its input, its output and the tensors that
    // it does not use.
    const GpuTensor &input = plan_.Root(launches_[chain.first].input);
    const GpuTensor &output = plan_.Root(launches_[chain.last].output);
    const size_t begin = launches_[chain.first].step;
    const size_t between = plan_.Root(launches_[chain.first].output).Bytes();
    size_t others = whole_[begin] - between;
    if (!InUseAt(output, begin)) others += Owned(output);
    if (!InUseAt(input, begin)) others += Owned(input);
    for (size_t i = chain.first; i <= chain.last; ++i) {
      size_t own = 0;
      for (const std::vector<RowRange> &rows : ranges) {
        size_t band = 0;
        if (i > chain.first) {
          const GpuTensor &read = plan_.Root(launches_[i - 1].output);
          band += BytesOfRows(read, rows[i - 1 - chain.first].count());
        }
        if (i < chain.last) {
          const GpuTensor &written = plan_.Root(launches_[i].output);
          band += BytesOfRows(written, rows[i - chain.first].count());
        }
        own = std::max(own, band);
      }
      (*bytes)[launches_[i].step] = others + own;
    }
  }

  static bool InUseAt(const GpuTensor &tensor, size_t step) {
    const auto at = static_cast<int>(step);
    return tensor.first >= 0 && tensor.first <= at && at <= tensor.last;
  }
  static size_t Owned(const GpuTensor &tensor) {
    return tensor.caller >= 0 || tensor.is_constant ? 0 : tensor.Bytes();
  }

  const OpenclPlan &plan_;
  const std::vector<BandLaunch> &launches_;
  const BandLimits limits_;
  const std::vector<size_t> whole_;
  std::vector<char> follows_;
};

}  // namespace

std::vector<std::vector<RowRange>> DivideRows(
    const std::vector<WindowAxis> &axes, int bands) {
  std::vector<std::vector<RowRange>> all;
  const int64_t rows = axes.back().output;
  for (int band = 0; band < bands; ++band) {
    std::vector<RowRange> ranges(axes.size());
    ranges.back() = {rows * band / bands, rows * (band + 1) / bands};
    for (size_t i = axes.size() - 1; i > 0; --i) {
      ranges[i - 1] = RowsUnder(axes[i], ranges[i]);
    }
    all.push_back(std::move(ranges));
  }
  return all;
}

std::vector<std::vector<DividedChain>> ChooseBands(
    const OpenclPlan &plan,
    const std::vector<BandLaunch> &launches,
    const BandLimits &limits) {
  return Chooser(plan, launches, limits).Run();
}

}  // namespace mace
