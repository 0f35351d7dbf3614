// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs that do not block the caller.
//
//   mace::MaceRunQueue queue;
//   mace::MaceFence fence = queue.RunAsync(engine, inputs, outputs);
//   // ... other work; the buffers belong to the run meanwhile ...
//   status = fence.Wait(&outputs);
//
// A queue has one thread, which its first run starts, and runs everything in
// the order of the calls. For engines that shall run at the same time, use a
// queue for each. This is code of the application: it needs std::thread.

#ifndef MACE_PUBLIC_MACE_ASYNC_H_
#define MACE_PUBLIC_MACE_ASYNC_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "mace/public/mace.h"
#include "mace/public/mace_buffers.h"

namespace mace {

// Says when a run of a queue is done, and how it ended. Copies stand for the
// same run. All functions may be called from any thread, also from several at
// once. A fence may outlive its queue; destroying it neither waits nor cancels.
class MaceFence {
 public:
  using Tensors = std::map<std::string, MaceTensor>;

  // Of no run: done, and Wait fails.
  MaceFence() = default;

  // Never blocks.
  bool done() const {
    if (state_ == nullptr) return true;
    std::lock_guard<std::mutex> lock(state_->mutex);
    return state_->done;
  }

  // Blocks until the run is done, and returns its status. `outputs`, which may
  // be null, then has the run's outputs with their shapes, also if it failed.
  MaceStatus Wait(Tensors *outputs = nullptr) const {
    if (state_ == nullptr) {
      return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                        "the fence belongs to no run, or there was no memory "
                        "for one");
    }
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->changed.wait(lock, [this] { return state_->done; });
    return internal::Guard([this, outputs] {
      if (outputs != nullptr) *outputs = state_->outputs;
      return state_->status;
    });
  }

  // Blocks until the run is done or the time is over; true if it is done.
  bool WaitFor(std::chrono::milliseconds time) const {
    if (state_ == nullptr) return true;
    std::unique_lock<std::mutex> lock(state_->mutex);
    return state_->changed.wait_for(lock, time,
                                    [this] { return state_->done; });
  }

 private:
  friend class MaceRunQueue;
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    MaceStatus status;
    Tensors outputs;  // of the run alone until it is done

    void Finish(const MaceStatus &result) {
      {
        std::lock_guard<std::mutex> lock(mutex);
        status = result;
        done = true;
      }
      changed.notify_all();
    }
  };

  std::shared_ptr<State> state_;
};

// RunAsync may be called from any thread, also from several at once. After
// fork(), the child must not use or destroy the parent's queues.
class MaceRunQueue {
 public:
  using Tensors = MaceFence::Tensors;

  MaceRunQueue() = default;
  MaceRunQueue(const MaceRunQueue &) = delete;
  MaceRunQueue &operator=(const MaceRunQueue &) = delete;
  // Waits until all runs are done.
  ~MaceRunQueue() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  // Queues engine->Run(inputs, &outputs). `Engine` is MaceEngine, MacePipeline
  // or a class with such a function. Every error, also that there is no memory
  // or thread, is the status that Wait returns.
  //
  // The run shares the ownership of the engine and of the buffers until it is
  // done, and drops it before Wait returns. Until then the caller neither
  // changes inputs, nor reads outputs, nor uses the engine otherwise, except by
  // further runs of the same queue.
  template <typename Engine>
  MaceFence RunAsync(std::shared_ptr<Engine> engine,
                     Tensors inputs,
                     Tensors outputs) {
    MaceFence fence;
    const MaceStatus status = internal::Guard([&]() -> MaceStatus {
      fence.state_ = std::make_shared<MaceFence::State>();
      if (engine == nullptr) {
        return MaceStatus(MaceStatus::MACE_INVALID_ARGS, "`engine` is null");
      }
      fence.state_->outputs = std::move(outputs);
      auto run = std::make_shared<Pending<Engine>>();
      run->engine = std::move(engine);
      run->inputs = std::move(inputs);
      return Add([run, state = fence.state_] {
        const MaceStatus result = internal::Guard([&run, &state] {
          return run->engine->Run(run->inputs, &state->outputs);
        });
        run->engine.reset();
        run->inputs.clear();
        state->Finish(result);
      });
    });
    if (status != MaceStatus::MACE_SUCCESS && fence.state_ != nullptr) {
      fence.state_->Finish(status);
    }
    return fence;
  }

 private:
  template <typename Engine>
  struct Pending {
    std::shared_ptr<Engine> engine;
    Tensors inputs;
  };

  MaceStatus Add(std::function<void()> run) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!thread_.joinable()) {
      const MaceStatus status = internal::Guard([this] {
        thread_ = std::thread([this] { Work(); });
        return MaceStatus();
      });
      if (status != MaceStatus::MACE_SUCCESS) {
        return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                          "the thread of the queue could not be started");
      }
    }
    runs_.push_back(std::move(run));
    changed_.notify_one();
    return MaceStatus();
  }

  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ends_ || !runs_.empty(); });
      if (runs_.empty()) return;
      const std::function<void()> run = std::move(runs_.front());
      runs_.pop_front();
      lock.unlock();
      run();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> runs_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_ASYNC_H_
