// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How the launches of a plan reach the GPU.

#ifndef MACE_RUNTIMES_OPENCL_RUN_OPENCL_COMMANDS_H_
#define MACE_RUNTIMES_OPENCL_RUN_OPENCL_COMMANDS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mace/core/base/status.h"
#include "mace/runtimes/opencl/driver/cl_api.h"
#include "mace/runtimes/opencl/driver/cl_recording.h"
#include "mace/runtimes/opencl/driver/launch_split.h"
#include "mace/runtimes/opencl/plan/opencl_plan.h"
#include "mace/runtimes/opencl/plan/tuned_values.h"
#include "mace/runtimes/opencl/run/work_groups.h"

namespace mace {

class GpuQueues;

// A kernel with the range that it runs over. Its arguments are in `kernel`.
struct BoundLaunch {
  ClKernel kernel;
  KernelRange range;
  // What is launched: parts of the range, one after the other.
  std::vector<KernelRange> parts;
  PartSize part_size;
  std::vector<ClMemory> tables;  // per kTable or kZeros argument
  std::string text;              // "kernel softmax of operator 'prob'"

  BoundLaunch() : part_size(1, 0, 0) {}
};

// When a launch began and ended, by the clock of the GPU, and how long its
// parts took, all in nanoseconds.
struct KernelTime {
  cl_ulong start = 0;
  cl_ulong end = 0;
  std::vector<cl_ulong> parts;
};

// How launches may be put into the queue: a user may ask for limits, so that
// other programs get the GPU in between.
struct CommandLimits {
  size_t window = 0;        // launches that wait in the queue; 0: any number
  double kernel_nanos = 0;  // longest time of a launch; 0: no limit
  bool records = true;      // the driver may record launches
};

// The launches of one plan, in segments.
class OpenclCommands {
 public:
  OpenclCommands(GpuQueues *queues, const CommandLimits &limits)
      : queues_(queues), limits_(limits) {}

  // Makes the kernel and its tables, and chooses work groups. `text` names it
  // in errors. `nanos`: its estimated time. A choice of work groups is a guess
  // if `tuned` is null; otherwise it is added to `choices`.
  MaceStatus Add(const PlannedLaunch &planned,
                 std::string text,
                 double nanos,
                 const TunedValues *tuned,
                 std::vector<TuningChoice> *choices);
  // The items that a kernel can run, after Add failed because its operator
  // wanted larger work groups; 0 after other failures.
  size_t work_group_limit() const { return work_group_limit_; }
  size_t size() const { return launches_.size(); }
  const BoundLaunch &launch(size_t index) const { return launches_[index]; }

  // `begin`: the first launch of each segment, and the number of launches.
  void SetSegments(const std::vector<size_t> &begin) { begin_ = begin; }
  // To be called after arguments were set. Has the driver record the segments
  // if it can, and if nothing needs single launches.
  void Record();
  // Before arguments are set.
  void Forget() { recordings_.clear(); }

  // Adds a segment to the queue: the launches run after what is
  // there. If there is a limit for their time, the first runs measure them, and
  // wait until they are done.
  MaceStatus Enqueue(size_t segment);
  // Runs one launch, and waits.
  MaceStatus RunLaunch(size_t index);
  // Runs a segment on the queue that measures times, and waits. The other queue
  // must be idle.
  Result<std::vector<KernelTime>> RunTimed(size_t segment);

  // What is to be said of a segment: "in a recording"; may be empty.
  std::string Remark(size_t segment) const;

 private:
  MaceStatus MakeTables(const Launch &launch, BoundLaunch *bound) const;
  MaceStatus ChooseGroups(const PlannedLaunch &planned,
                          const TunedValues *tuned,
                          std::vector<TuningChoice> *choices,
                          BoundLaunch *bound);
  void Split(BoundLaunch *bound) const;
  Result<std::unique_ptr<ClRecording>> RecordLaunches(size_t begin,
                                                      size_t end) const;
  bool NeedsTimes(size_t begin, size_t end) const;
  MaceStatus EnqueuePart(const BoundLaunch &launch,
                         const KernelRange &part,
                         cl_command_queue queue,
                         cl_event *event) const;
  MaceStatus EnqueueParts(size_t segment,
                          cl_command_queue queue,
                          std::vector<ClEvent> *events);
  MaceStatus RunWithEvents(size_t segment,
                           cl_command_queue queue,
                           std::vector<ClEvent> *events);
  MaceStatus WaitFor(cl_event event, cl_command_queue queue) const;
  void CloseEstimates(const MaceStatus &status);
  MaceStatus Measure(size_t segment, cl_command_queue queue);
  void Settle(size_t segment, const std::vector<KernelTime> &times);
  Result<std::vector<KernelTime>> ReadTimes(
      size_t segment, const std::vector<ClEvent> &events) const;

  GpuQueues *queues_;
  CommandLimits limits_;
  std::vector<BoundLaunch> launches_;
  size_t work_group_limit_ = 0;
  std::vector<size_t> begin_;  // per segment, and the end
  // Per segment; null for one that is launched. Empty: none is recorded.
  std::vector<std::unique_ptr<ClRecording>> recordings_;
  std::string problem_;  // why there is no recording, or no clock
};

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_RUN_OPENCL_COMMANDS_H_
