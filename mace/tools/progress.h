// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Progress of long series of runs, on standard error: one line that is
// rewritten on a terminal, and one line now and then in files and pipes.

#ifndef MACE_TOOLS_PROGRESS_H_
#define MACE_TOOLS_PROGRESS_H_

#include <cstdint>
#include <string>

namespace mace {
namespace tools {

// How long a series is: it ends when one of the limits is reached.
struct SeriesLimit {
  int64_t rounds = 0;  // 0: no limit
  double seconds = 0;  // 0: no limit
};

// "30 of 100 rounds, about 12 s left"; "30 rounds, 12 s left" without a limit
// of rounds.
std::string ProgressText(int64_t done,
                         double elapsed_s,
                         const SeriesLimit &limit);

class Progress {
 public:
  // `every_s`: seconds between lines; 0: none.
  Progress(std::string title, const SeriesLimit &limit, double every_s);
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  // Clears the line on a terminal.
  ~Progress();

  // Called between runs.
  void Update(int64_t done);
  // Whether the series is over after so many rounds.
  bool Finished(int64_t done) const;

 private:
  const std::string title_;
  const SeriesLimit limit_;
  const bool on_terminal_;
  const double every_ms_;
  const double begin_ms_;
  double shown_ms_;
  bool visible_ = false;
};

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_PROGRESS_H_
