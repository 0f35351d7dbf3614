// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>

#include "mace/tools/console.h"
#include "mace/tools/machine.h"

namespace mace {
namespace tools {
namespace {

constexpr double kTerminalMs = 500;

}  // namespace

std::string ProgressText(int64_t done,
                         double elapsed_s,
                         const SeriesLimit &limit) {
  std::string text = std::to_string(done);
  double left = std::numeric_limits<double>::infinity();
  if (limit.seconds > 0) left = limit.seconds - elapsed_s;
  bool estimated = false;
  if (limit.rounds > 0) {
    text += " of " + std::to_string(limit.rounds);
    const double by_rounds = elapsed_s / static_cast<double>(done) *
                             static_cast<double>(limit.rounds - done);
    estimated = by_rounds < left;
    left = std::min(left, by_rounds);
  }
  return text + " rounds, " + (estimated ? "about " : "") +
         std::to_string(std::lround(std::ceil(std::max(0.0, left)))) +
         " s left";
}

Progress::Progress(std::string title, const SeriesLimit &limit, double every_s)
    : title_(std::move(title)),
      limit_(limit),
      on_terminal_(isatty(STDERR_FILENO) == 1),
      every_ms_(on_terminal_ ? std::min(every_s * 1e3, kTerminalMs)
                             : every_s * 1e3),
      begin_ms_(NowMs()),
      shown_ms_(begin_ms_) {}

Progress::~Progress() {
  if (!visible_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

void Progress::Update(int64_t done) {
  const double now = NowMs();
  if (every_ms_ <= 0 || now - shown_ms_ < every_ms_ || Finished(done)) return;
  shown_ms_ = now;
  const std::string text =
      title_ + ": " + ProgressText(done, (now - begin_ms_) * 1e-3, limit_);
  if (on_terminal_) {
    std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
    std::fflush(stderr);
    visible_ = true;
  } else {
    MACE_TOOL_PROGRESS(text);
  }
}

bool Progress::Finished(int64_t done) const {
  return (limit_.rounds > 0 && done >= limit_.rounds) ||
         (limit_.seconds > 0 && NowMs() - begin_ms_ >= limit_.seconds * 1e3);
}

}  // namespace tools
}  // namespace mace
