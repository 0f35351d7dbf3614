// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/watched_calls.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace mace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRescue{1000};
constexpr int64_t kDefaultSeconds = 120;

}  // namespace

const char kHexagonTimeout[] = "MACE_HEXAGON_TIMEOUT";

struct WatchedCalls::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<int()> call;  // null unless the thread is to take one
  bool is_busy = false;       // there is one, until it has returned
  bool is_over = false;       // the thread is to end
  int result = 0;

  // What the thread does, which has a part in this object.
  void Work() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return is_over || call != nullptr; });
      if (call == nullptr) return;
      // What it owns is released before anyone is told that it returned.
      std::function<int()> now = std::move(call);
      lock.unlock();
      const int returned = now();
      now = nullptr;
      lock.lock();
      result = returned;
      is_busy = false;
      changed.notify_all();
    }
  }
};

std::unique_ptr<WatchedCalls> WatchedCalls::Create(int64_t millis) {
  auto state = std::make_shared<State>();
  try {
    std::thread([state] { state->Work(); }).detach();
  } catch (const std::system_error &) {
    return nullptr;
  }
  return std::unique_ptr<WatchedCalls>(
      new WatchedCalls(millis, std::move(state)));
}

WatchedCalls::WatchedCalls(int64_t millis, std::shared_ptr<State> state)
    : millis_(millis), state_(std::move(state)) {}

WatchedCalls::~WatchedCalls() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->is_over = true;
  state_->changed.notify_all();
}

bool WatchedCalls::is_stuck() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->is_busy;
}

WatchedCalls::Reply WatchedCalls::Run(std::function<int()> call,
                                      const std::function<void()> &rescue) {
  State &state = *state_;
  const auto returned = [&state] { return !state.is_busy; };
  std::unique_lock<std::mutex> lock(state.mutex);
  state.call = std::move(call);
  state.is_busy = true;
  state.changed.notify_all();
  if (state.changed.wait_for(lock, milliseconds(millis_), returned)) {
    return {Outcome::kReturned, state.result};
  }
  lock.unlock();
  rescue();
  lock.lock();
  if (state.changed.wait_for(lock, kRescue, returned)) {
    return {Outcome::kLate, state.result};
  }
  return {Outcome::kStuck, 0};
}

Result<int64_t> ReadHexagonTimeout() {
  const char *set = std::getenv(kHexagonTimeout);
  if (set == nullptr || *set == 0) return kDefaultSeconds * 1000;
  char *end = nullptr;
  const double seconds = std::strtod(set, &end);
  constexpr double kMost = 1e6;
  if (*end != 0 || !(seconds > 0) || seconds > kMost) {
    return InvalidArgs(kHexagonTimeout, " is '", set,
                       "'; it takes seconds, more than 0 and up to ", kMost);
  }
  return static_cast<int64_t>(seconds * 1000) + 1;
}

}  // namespace mace
