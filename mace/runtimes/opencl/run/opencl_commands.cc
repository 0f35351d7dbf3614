// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/opencl_commands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/core/base/logging.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"
#include "mace/runtimes/opencl/driver/gpu_queues.h"

namespace mace {
namespace {

// A replay costs the driver more than a launch does, and pays if it replaces
// several. (One reading was published: on an Adreno 830, a replay of one launch
// took 32 us, and a launch 9 us.)
constexpr size_t kLeastRecorded = 4;

WorkGroup ChooseWorkGroup(const PlannedLaunch &planned,
                          size_t index,
                          const WorkGroupLimits &limits,
                          const TunedValues *tuned,
                          std::vector<TuningChoice> *choices) {
  const WorkGroup &items = planned.launch.items();
  if (tuned == nullptr) return GuessWorkGroup(items, limits);
  const std::vector<WorkGroup> groups = CandidateWorkGroups(items, limits);
  TuningChoice choice;
  choice.key = MakeString(planned.launch.source().name, " ",
                          HashDigits(HashText(planned.program.options)), " ",
                          WorkGroupText(items), " work group");
  choice.source = HashDigits(HashSource(planned.launch.source()));
  for (const WorkGroup &group : groups) {
    choice.values.push_back(WorkGroupText(group));
  }
  choice.begin = index;
  choice.end = index + 1;
  tuned->Apply(&choice);
  choices->push_back(std::move(choice));
  return groups[choices->back().chosen];
}

}  // namespace

MaceStatus OpenclCommands::Add(const PlannedLaunch &planned,
                               std::string text,
                               double nanos,
                               const TunedValues *tuned,
                               std::vector<TuningChoice> *choices) {
  BoundLaunch bound;
  bound.text = std::move(text);
  MACE_ASSIGN_OR_RETURN(
      bound.kernel,
      queues_->runtime()->MakeKernel(planned.program, planned.launch.kernel()));
  MACE_RETURN_IF_ERROR(MakeTables(planned.launch, &bound));
  MACE_RETURN_IF_ERROR(ChooseGroups(planned, tuned, choices, &bound));
  if (limits_.kernel_nanos > 0) {
    bound.part_size =
        PartSize(bound.range.groups(), nanos, limits_.kernel_nanos);
  }
  Split(&bound);
  launches_.push_back(std::move(bound));
  return MaceStatus();
}

MaceStatus OpenclCommands::MakeTables(const Launch &launch,
                                      BoundLaunch *bound) const {
  OpenclRuntime *runtime = queues_->runtime();
  for (const LaunchArgument &argument : launch.arguments()) {
    if (argument.table == nullptr) continue;
    const std::vector<int32_t> &values = *argument.table;
    const bool written = argument.kind == LaunchArgument::Kind::kZeros;
    const cl_mem_flags access = written ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY;
    MACE_ASSIGN_OR_RETURN(
        ClMemory table,
        runtime->MakeBuffer(
            access | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(int32_t),
            MakeString("table '", argument.name, "'"), values.data()));
    bound->tables.push_back(std::move(table));
  }
  return MaceStatus();
}

MaceStatus OpenclCommands::ChooseGroups(const PlannedLaunch &planned,
                                        const TunedValues *tuned,
                                        std::vector<TuningChoice> *choices,
                                        BoundLaunch *bound) {
  const OpenclRuntime &runtime = *queues_->runtime();
  const GpuDevice &device = runtime.device();
  const Launch &launch = planned.launch;
  const char *name = launch.kernel();
  WorkGroupLimits limits;
  std::copy_n(device.max_items, 3, limits.sizes.begin());
  MACE_CL_CHECK("clGetKernelWorkGroupInfo", name,
                runtime.api().clGetKernelWorkGroupInfo(
                    bound->kernel.get(), device.id, CL_KERNEL_WORK_GROUP_SIZE,
                    sizeof(limits.items), &limits.items, nullptr));
  WorkGroup group = launch.work_group();
  if (group[0] == 0) {
    group = ChooseWorkGroup(planned, launches_.size(), limits, tuned, choices);
  } else if (!Fits(group, limits)) {
    work_group_limit_ = limits.items;
    return Unsupported("kernel ", name, " needs work groups of ",
                       WorkGroupText(group), " items, the GPU can run ",
                       limits.items);
  }
  for (size_t i = 0; i < 3; ++i) {
    const int64_t items = launch.items()[i];
    bound->range.local[i] = static_cast<size_t>(group[i]);
    bound->range.global[i] = static_cast<size_t>(RoundUp(items, group[i]));
  }
  return MaceStatus();
}

void OpenclCommands::Split(BoundLaunch *bound) const {
  const size_t most =
      limits_.kernel_nanos > 0 ? bound->part_size.groups() : SIZE_MAX;
  bound->parts =
      SplitRange(bound->range, most, queues_->device().facts.max_groups);
  if (bound->parts.size() > 1) {
    VLOG(2) << "GPU: " << bound->text << " in " << bound->parts.size()
            << " parts";
  }
}

Result<std::unique_ptr<ClRecording>> OpenclCommands::RecordLaunches(
    size_t begin, size_t end) const {
  MACE_ASSIGN_OR_RETURN(std::unique_ptr<ClRecording> recording,
                        queues_->recorder()->Begin());
  for (size_t i = begin; i < end; ++i) {
    for (const KernelRange &part : launches_[i].parts) {
      MACE_RETURN_IF_ERROR(recording->Add(launches_[i].kernel.get(), part));
    }
  }
  MACE_RETURN_IF_ERROR(recording->Finish());
  return recording;
}

void OpenclCommands::Record() {
  recordings_.clear();
  if (!limits_.records || queues_->recorder() == nullptr || !problem_.empty() ||
      limits_.window > 0 || limits_.kernel_nanos > 0) {
    return;
  }
  recordings_.resize(begin_.size() - 1);
  for (size_t segment = 0; segment + 1 < begin_.size(); ++segment) {
    if (begin_[segment + 1] - begin_[segment] < kLeastRecorded) continue;
    auto recording = RecordLaunches(begin_[segment], begin_[segment + 1]);
    if (!recording.ok()) {
      problem_ = "not recorded: " + StatusMessage(recording.status());
      VLOG(1) << "GPU: launches are " << problem_;
      recordings_.clear();
      return;
    }
    recordings_[segment] = std::move(recording.value());
  }
}

// Waits for a launch, and releases its event.
MaceStatus OpenclCommands::WaitFor(cl_event event,
                                   cl_command_queue queue) const {
  const ClApi &api = queues_->api();
  MACE_CL_CHECK("clFlush", "", api.clFlush(queue));
  MACE_CL_CHECK("clWaitForEvents", "", api.clWaitForEvents(1, &event));
  return MaceStatus();
}

MaceStatus OpenclCommands::EnqueuePart(const BoundLaunch &launch,
                                       const KernelRange &part,
                                       cl_command_queue queue,
                                       cl_event *event) const {
  MACE_CL_CHECK("clEnqueueNDRangeKernel", launch.text,
                queues_->api().clEnqueueNDRangeKernel(
                    queue, launch.kernel.get(), 3, part.start(),
                    part.global.data(), part.local.data(), 0, nullptr, event));
  return MaceStatus();
}

// `events`: receives one of each part; null: nobody needs them.
MaceStatus OpenclCommands::EnqueueParts(size_t segment,
                                        cl_command_queue queue,
                                        std::vector<ClEvent> *events) {
  const ClApi &api = queues_->api();
  const size_t period = queues_->device().facts.flush_period;
  size_t count = 0;
  for (size_t i = begin_[segment]; i < begin_[segment + 1]; ++i) {
    const BoundLaunch &launch = launches_[i];
    for (const KernelRange &part : launch.parts) {
      ++count;
      const bool full = limits_.window > 0 && count % limits_.window == 0;
      cl_event event = nullptr;
      MACE_RETURN_IF_ERROR(EnqueuePart(
          launch, part, queue, full || events != nullptr ? &event : nullptr));
      ClEvent owner(event, api.clReleaseEvent);
      if (full) {
        MACE_RETURN_IF_ERROR(WaitFor(event, queue));
      } else if (period > 0 && count % period == 0) {
        MACE_CL_CHECK("clFlush", "", api.clFlush(queue));
      }
      if (events != nullptr) events->push_back(std::move(owner));
    }
  }
  return MaceStatus();
}

MaceStatus OpenclCommands::RunLaunch(size_t index) {
  const BoundLaunch &launch = launches_[index];
  for (const KernelRange &part : launch.parts) {
    MACE_RETURN_IF_ERROR(EnqueuePart(launch, part, queues_->queue(), nullptr));
  }
  MACE_CL_CHECK("clFinish", launch.text,
                queues_->api().clFinish(queues_->queue()));
  return MaceStatus();
}

bool OpenclCommands::NeedsTimes(size_t begin, size_t end) const {
  if (limits_.kernel_nanos <= 0) return false;
  return std::any_of(
      launches_.begin() + static_cast<std::ptrdiff_t>(begin),
      launches_.begin() + static_cast<std::ptrdiff_t>(end),
      [](const BoundLaunch &launch) { return launch.part_size.is_open(); });
}

MaceStatus OpenclCommands::Enqueue(size_t segment) {
  if (segment < recordings_.size() && recordings_[segment] != nullptr) {
    const MaceStatus status = recordings_[segment]->Enqueue();
    if (status == MaceStatus::MACE_SUCCESS) return status;
    // Nothing of it was launched.
    problem_ = "not replayed: " + StatusMessage(status);
    VLOG(1) << "GPU: launches are " << problem_;
    recordings_[segment].reset();
  }
  if (NeedsTimes(begin_[segment], begin_[segment + 1])) {
    auto queue = queues_->TimingQueue();
    if (queue.ok()) return Measure(segment, queue.value());
    CloseEstimates(queue.status());
  }
  return EnqueueParts(segment, queues_->queue(), nullptr);
}

// The GPU can't tell times: the parts stay as they were estimated.
void OpenclCommands::CloseEstimates(const MaceStatus &status) {
  problem_ = "times are estimated: " + StatusMessage(status);
  VLOG(1) << "GPU: " << problem_;
  for (BoundLaunch &launch : launches_) launch.part_size.Close();
}

MaceStatus OpenclCommands::RunWithEvents(size_t segment,
                                         cl_command_queue queue,
                                         std::vector<ClEvent> *events) {
  MACE_RETURN_IF_ERROR(EnqueueParts(segment, queue, events));
  MACE_CL_CHECK("clFinish", "", queues_->api().clFinish(queue));
  return MaceStatus();
}

// Runs a segment, and chooses the parts of its launches for the next run.
MaceStatus OpenclCommands::Measure(size_t segment, cl_command_queue queue) {
  MACE_CL_CHECK("clFinish", "", queues_->api().clFinish(queues_->queue()));
  std::vector<ClEvent> events;
  MACE_RETURN_IF_ERROR(RunWithEvents(segment, queue, &events));
  const auto times = ReadTimes(segment, events);
  if (times.ok()) {
    Settle(segment, times.value());
  } else {
    CloseEstimates(times.status());
  }
  return MaceStatus();
}

void OpenclCommands::Settle(size_t segment,
                            const std::vector<KernelTime> &times) {
  if (limits_.kernel_nanos <= 0) return;
  const size_t begin = begin_[segment];
  for (size_t i = begin; i < begin_[segment + 1]; ++i) {
    BoundLaunch &launch = launches_[i];
    if (!launch.part_size.is_open()) continue;
    const KernelTime &time = times[i - begin];
    for (size_t p = 0; p < launch.parts.size(); ++p) {
      launch.part_size.Measured(launch.parts[p].groups(),
                                static_cast<double>(time.parts[p]));
    }
    launch.part_size.Settle();
    Split(&launch);
  }
}

Result<std::vector<KernelTime>> OpenclCommands::ReadTimes(
    size_t segment, const std::vector<ClEvent> &events) const {
  const ClApi &api = queues_->api();
  std::vector<KernelTime> times;
  size_t at = 0;
  for (size_t i = begin_[segment]; i < begin_[segment + 1]; ++i) {
    const BoundLaunch &launch = launches_[i];
    KernelTime time;
    for (size_t p = 0; p < launch.parts.size(); ++p) {
      const cl_event event = events[at++].get();
      cl_ulong start = 0;
      MACE_CL_CHECK(
          "clGetEventProfilingInfo", launch.text,
          api.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START,
                                      sizeof(cl_ulong), &start, nullptr));
      MACE_CL_CHECK(
          "clGetEventProfilingInfo", launch.text,
          api.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END,
                                      sizeof(cl_ulong), &time.end, nullptr));
      if (p == 0) time.start = start;
      time.parts.push_back(time.end - start);
    }
    times.push_back(std::move(time));
  }
  return times;
}

Result<std::vector<KernelTime>> OpenclCommands::RunTimed(size_t segment) {
  MACE_ASSIGN_OR_RETURN(const cl_command_queue queue, queues_->TimingQueue());
  std::vector<ClEvent> events;
  MACE_RETURN_IF_ERROR(RunWithEvents(segment, queue, &events));
  MACE_ASSIGN_OR_RETURN(std::vector<KernelTime> times,
                        ReadTimes(segment, events));
  Settle(segment, times);
  return times;
}

std::string OpenclCommands::Remark(size_t segment) const {
  if (!problem_.empty()) return problem_;
  const bool recorded =
      segment < recordings_.size() && recordings_[segment] != nullptr;
  return recorded ? "recorded with the rest of the segment" : "";
}

}  // namespace mace
