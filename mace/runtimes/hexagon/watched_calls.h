// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Calls that may never return, as those to a DSP that hangs. A thread of this
// class makes them, so that whoever waits for one can give it up.

#ifndef MACE_RUNTIMES_HEXAGON_WATCHED_CALLS_H_
#define MACE_RUNTIMES_HEXAGON_WATCHED_CALLS_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "mace/core/base/status.h"

namespace mace {

class WatchedCalls {
 public:
  enum class Outcome {
    kReturned,
    kLate,   // it took too long, and returned after `rescue`
    kStuck,  // it took too long, and still runs
  };
  struct Reply {
    Outcome outcome = Outcome::kReturned;
    int result = 0;  // unless it is stuck
  };

  // Null if there is no thread for it.
  static std::unique_ptr<WatchedCalls> Create(int64_t millis);
  // Does not wait for a call that is stuck: its thread ends when it returns.
  ~WatchedCalls();
  WatchedCalls(const WatchedCalls &) = delete;
  WatchedCalls &operator=(const WatchedCalls &) = delete;

  int64_t millis() const { return millis_; }
  // Whether a call that was given up still runs.
  bool is_stuck() const;
  // Makes a call; one at a time, and none while one is stuck. `call` owns all
  // that it uses, which is released once it has returned. After `millis`,
  // `rescue` is called by the calling thread: it tries to make the call
  // return, for which that has another second.
  Reply Run(std::function<int()> call, const std::function<void()> &rescue);

 private:
  struct State;
  WatchedCalls(int64_t millis, std::shared_ptr<State> state);
  int64_t millis_;
  std::shared_ptr<State> state_;
};

// How long a call to a DSP may take: MACE_HEXAGON_TIMEOUT, or the default.
// INVALID_ARGS if it is no such time.
Result<int64_t> ReadHexagonTimeout();
extern const char kHexagonTimeout[];  // its name

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_WATCHED_CALLS_H_
