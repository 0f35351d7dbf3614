// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/public/mace_async.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/pipeline/mace_pipeline.h"

namespace mace {
namespace {

using core_test::Diamond;
using core_test::DiamondResult;
using core_test::Floats;
using core_test::MadeEngine;
using core_test::Make;
using core_test::Ramp;
using core_test::Room;
using core_test::Tensors;
using core_test::Values;

// An engine that runs when it is told to.
class Gate {
 public:
  MaceStatus Run(const Tensors &, Tensors *) {
    std::unique_lock<std::mutex> lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
    return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR, "the gate's status");
  }
  void Open() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

TEST(AsyncTest, GivesTheResultsOfRuns) {
  const MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  MaceRunQueue queue;
  std::vector<MaceFence> fences;
  for (int i = 0; i < 5; ++i) {
    fences.push_back(queue.RunAsync(
        made.engine,
        {{"x", Floats({1, 2, 2, 3}, Ramp(12, static_cast<float>(i)))}},
        {{"s", Room(12)}}));
  }
  for (int i = 4; i >= 0; --i) {
    Tensors outputs;
    ASSERT_OK(fences[i].Wait(&outputs));
    EXPECT_TRUE(fences[i].done());
    EXPECT_EQ(Values(outputs["s"]),
              DiamondResult(Ramp(12, static_cast<float>(i))));
    EXPECT_EQ(outputs["s"].shape(), (core_test::Dims{1, 2, 2, 3}));
    ASSERT_OK(fences[i].Wait());
  }
}

TEST(AsyncTest, DoesNotBlockTheCaller) {
  const auto gate = std::make_shared<Gate>();
  MaceRunQueue queue;
  const MaceFence fence = queue.RunAsync(gate, {}, {});
  EXPECT_FALSE(fence.WaitFor(std::chrono::milliseconds(1)));
  EXPECT_FALSE(fence.done());
  gate->Open();
  EXPECT_TRUE(fence.WaitFor(std::chrono::minutes(1)));
  EXPECT_CODE(fence.Wait(), MACE_RUNTIME_ERROR);
}

TEST(AsyncTest, ErrorsArriveAtWait) {
  const MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  MaceRunQueue queue;
  MaceFence wrong = queue.RunAsync(made.engine, {}, {{"s", Room(12)}});
  EXPECT_CODE(wrong.Wait(), MACE_INVALID_ARGS);
  EXPECT_MENTIONS(wrong.Wait(), "'x' is missing");
  MaceFence null =
      queue.RunAsync(std::shared_ptr<MaceEngine>(), {}, {{"s", Room(12)}});
  EXPECT_TRUE(null.done());
  EXPECT_MENTIONS(null.Wait(), "`engine` is null");
  const MaceFence none;
  EXPECT_TRUE(none.done());
  EXPECT_TRUE(none.WaitFor(std::chrono::milliseconds(0)));
  EXPECT_CODE(none.Wait(), MACE_INVALID_ARGS);
}

// Nobody else holds the engine and the input.
TEST(AsyncTest, ARunKeepsWhatItNeedsAndDropsItBeforeWaitReturns) {
  MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  const std::weak_ptr<MaceEngine> engine = made.engine;
  MaceTensor x = Floats({1, 2, 2, 3}, Ramp(12));
  const std::weak_ptr<float> input = x.data();
  const auto gate = std::make_shared<Gate>();
  MaceRunQueue queue;
  queue.RunAsync(gate, {}, {});
  const MaceFence fence = queue.RunAsync(
      std::move(made.engine), {{"x", std::move(x)}}, {{"s", Room(12)}});
  EXPECT_FALSE(engine.expired());
  EXPECT_FALSE(input.expired());
  gate->Open();
  ASSERT_OK(fence.Wait());
  EXPECT_TRUE(engine.expired());
  EXPECT_TRUE(input.expired());
}

TEST(AsyncTest, TheEndOfAQueueWaitsForItsRuns) {
  const MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  std::vector<MaceFence> fences;
  {
    MaceRunQueue queue;
    for (int i = 0; i < 20; ++i) {
      fences.push_back(queue.RunAsync(made.engine,
                                      {{"x", Floats({1, 2, 2, 3}, Ramp(12))}},
                                      {{"s", Room(12)}}));
    }
  }
  for (const MaceFence &fence : fences) {
    EXPECT_TRUE(fence.done());
    ASSERT_OK(fence.Wait());
  }
}

TEST(AsyncTest, ManyThreadsMayUseAQueueAndAFence) {
  const MadeEngine made = Make(Diamond());
  ASSERT_OK(made.status);
  MaceRunQueue queue;
  const auto gate = std::make_shared<Gate>();
  const MaceFence shared = queue.RunAsync(gate, {}, {{"none", Room(1)}});
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const std::vector<float> x = Ramp(12, static_cast<float>(10 * t + i));
        const MaceFence fence = queue.RunAsync(
            made.engine, {{"x", Floats({1, 2, 2, 3}, x)}}, {{"s", Room(12)}});
        Tensors outputs;
        shared.Wait(&outputs);
        if (fence.Wait(&outputs) == MaceStatus::MACE_SUCCESS &&
            Values(outputs["s"]) == DiamondResult(x)) {
          ++right[t];
        }
      }
    });
  }
  gate->Open();
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 10));
}

TEST(AsyncTest, RunsPipelines) {
  const MadeEngine first = Make(Diamond());
  const MadeEngine second = Make(Diamond());
  const auto pipeline = std::make_shared<MacePipeline>();
  ASSERT_OK(pipeline->AddEngine("a", first.engine));
  ASSERT_OK(pipeline->AddEngine("b", second.engine));
  ASSERT_OK(pipeline->Connect("a", "s", "b", "x"));
  MaceRunQueue queue;
  const MaceFence fence = queue.RunAsync(
      pipeline, {{"x", Floats({1, 2, 2, 3}, Ramp(12))}}, {{"s", Room(12)}});
  Tensors outputs;
  ASSERT_OK(fence.Wait(&outputs));
  EXPECT_EQ(Values(outputs["s"]), DiamondResult(DiamondResult(Ramp(12))));
}

}  // namespace
}  // namespace mace
