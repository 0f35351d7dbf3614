// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// How an engine runs: devices, threads, checks and limits.

#ifndef MACE_PUBLIC_MACE_CONFIG_H_
#define MACE_PUBLIC_MACE_CONFIG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace_accelerators.h"
#include "mace/public/mace_devices.h"
#include "mace/public/mace_gpu.h"
#include "mace/public/mace_status.h"

namespace mace {

// Which cores the worker threads are bound to. "Big" and "little" follow the
// maximum frequency that the system reports for each core. (CV-22)
enum CPUAffinityPolicy : int {
  AFFINITY_NONE = 0,
  AFFINITY_BIG_ONLY = 1,
  AFFINITY_LITTLE_ONLY = 2,
  AFFINITY_HIGH_PERFORMANCE = 3,
  AFFINITY_POWER_SAVE = 4,
};

// How an engine runs. Copyable; used only while the engine is created.
//
// A function that returns a status changes nothing if it fails. All of them
// return MACE_OUT_OF_RESOURCES if there was no memory for the object; other
// errors are named below. Whether the library and the machine have what is
// asked for shows when the engine is created.
class MACE_API MaceEngineConfig {
 public:
  MaceEngineConfig();  // the CPU
  // Older generation: as SetRuntimeType, for the whole model. (AP-06)
  explicit MaceEngineConfig(DeviceType device_type);
  MaceEngineConfig(const MaceEngineConfig &);
  MaceEngineConfig &operator=(const MaceEngineConfig &);
  ~MaceEngineConfig();

  // The device of the whole model, or of one subgraph by its name in the
  // deployment file; null and "" are the whole model. As SetRuntimeTypes with
  // one device. Default: RT_CPU. If the model has no such subgraph, creating
  // the engine returns MACE_INVALID_ARGS, which lists those that it has.
  MaceStatus SetRuntimeType(RuntimeType runtime_type,
                            const char *subgraph = "");

  // Several devices in order of preference: each operator runs on the first
  // device that can run it and makes the model faster. RT_CPU, which can run
  // every operator, is always the last, wherever it is named; even if it is not
  // named, the CPU runs the operators that no other device can run. If this
  // library lacks a device or the device does not start, creating the engine
  // fails, unless RT_CPU is named too: then the device is omitted with a
  // warning. MACE_INVALID_ARGS if the list is empty.
  MaceStatus SetRuntimeTypes(const std::vector<RuntimeType> &runtime_types,
                             const char *subgraph = "");

  // num_threads: -1 or 0 means as many threads as the policy selects cores; a
  // number above the number of available cores is lowered to it. Default: one
  // thread per big core, AFFINITY_NONE. MACE_INVALID_ARGS for numbers below -1,
  // and for a policy outside of the enumeration.
  MaceStatus SetCPUThreadPolicy(int num_threads, CPUAffinityPolicy policy);

  // What the GPU runtime stores and reads. One context may be given to several
  // engines. MACE_INVALID_ARGS if it is null, or if an argument of its builder
  // was wrong. No effect on engines that do not use the GPU. (AP-07)
  MaceStatus SetGPUContext(std::shared_ptr<GPUContext> context);

  // How fast the GPU's clock should run, and how urgent this engine's work is
  // compared with other programs' (drawing the screen, for example). Drivers
  // that know no hints ignore them; on Adreno, those of the first engine apply
  // to all engines of the process. Default: PERF_DEFAULT, PRIORITY_DEFAULT: as
  // the driver likes. MACE_INVALID_ARGS for a value outside of the
  // enumerations. (AP-08)
  MaceStatus SetGPUHints(GPUPerfHint perf_hint, GPUPriorityHint priority_hint);

  // Runs the DSP's code in a process for unsigned code; creating the engine
  // fails where the DSP has none. Without this call the DSP says whether it
  // has: if not, the code has to be signed. See docs/user/dsp.md. (AP-25)
  MaceStatus SetHexagonToUnsignedPD() { return SetHexagon(true, 0, false, 0); }

  // What the DSP's clock should do: `corner` as long as an engine uses the DSP,
  // or that at most as the DSP likes it (`dcvs_enable`), and how many
  // microseconds it may take to wake up (0: no wish). The last engine's wish
  // applies to all engines of the process. Default: as the system likes.
  // MACE_INVALID_ARGS for a value outside of the enumeration, and a latency
  // below 0. (AP-25)
  MaceStatus SetHexagonPower(HexagonNNCornerType corner,
                             bool dcvs_enable,
                             int latency) {
    if (corner < HEXAGON_NN_CORNER_RELEASE || corner > HEXAGON_NN_CORNER_SVS2 ||
        latency < 0) {
      return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                        "SetHexagonPower: the corner is one of "
                        "HexagonNNCornerType, and the latency is not below 0");
    }
    return SetHexagon(false, corner, dcvs_enable, latency);
  }

  // Run fails with MACE_RUNTIME_ERROR at the first operator that produces NaN
  // or infinity, and names the operator. Costs a pass over every tensor.
  // Default: off, or on if the environment has MACE_OUT_OF_RANGE_CHECK=1.
  MaceStatus SetOutOfRangeCheck(bool enabled);

  // Creating the engine reads all weights once and compares their checksum with
  // the one in the model. Default: off (the size is always compared).
  MaceStatus SetWeightsCheck(bool enabled);

  // The most memory that the engine may hold: intermediate tensors with scratch
  // memory, weights, read in place or prepared, and states (EngineStats).
  // Default: 0, any. Creating an engine whose weights and states need more, or
  // a run (or fake_warmup) whose plan does, returns MACE_OUT_OF_RESOURCES,
  // which tells the bytes; no intermediate memory is then allocated. A run with
  // smaller inputs may succeed afterwards. Intermediate memory that a tutor has
  // allocated already may be larger. On the GPU, small buffers that the first
  // run of a shape prepares do not count.
  MaceStatus SetMemoryLimit(size_t bytes);

  // The three functions below are for accelerators. They are code of the
  // application, and have no effect in a library without accelerators, nor on
  // engines that use none.

  // Where accelerators keep what they compiled, so that the next start is
  // faster. What was compiled for another model, other shapes, another
  // accelerator or another version of its driver is compiled again. Default:
  // ACCELERATOR_CACHE_NONE. MACE_INVALID_ARGS if the policy is none of the
  // enumeration, or needs a file that has no name. (AP-25)
  MaceStatus SetAcceleratorCache(AcceleratorCachePolicy policy,
                                 const std::string &binary_file,
                                 const std::string &storage_file);

  // `boost_hint`: how fast the APU's clock should run, from 0 to 100. Default:
  // 100, NEURON_PREFER_FAST_SINGLE_ANSWER. MACE_INVALID_ARGS for other values.
  // (AP-25)
  MaceStatus SetAPUHints(uint8_t boost_hint, APUPreferenceHint preference_hint);

  // Default: HEXAGON_BURST. MACE_INVALID_ARGS for other values than those of
  // the enumeration. (AP-25)
  MaceStatus SetQnnPerformance(HexagonPerformanceType type);

  // For the library.
  class Impl;
  const Impl *impl() const;

 private:
  friend struct MaceEngineConfigAccess;
  MaceStatus SetHexagon(bool unsigned_pd,
                        int corner,
                        bool dcvs_enable,
                        int latency);

  std::unique_ptr<Impl> impl_;
};

inline MaceStatus MaceEngineConfig::SetAcceleratorCache(
    AcceleratorCachePolicy policy,
    const std::string &binary_file,
    const std::string &storage_file) {
  if (accelerator::Configure == nullptr) return MaceStatus();
  return accelerator::Configure(this, {AcceleratorSetting::CACHE, policy, 0,
                                       &binary_file, &storage_file});
}

inline MaceStatus MaceEngineConfig::SetAPUHints(
    uint8_t boost_hint, APUPreferenceHint preference_hint) {
  if (accelerator::Configure == nullptr) return MaceStatus();
  return accelerator::Configure(
      this, {AcceleratorSetting::APU_HINTS, boost_hint, preference_hint,
             nullptr, nullptr});
}

inline MaceStatus MaceEngineConfig::SetQnnPerformance(
    HexagonPerformanceType type) {
  if (accelerator::Configure == nullptr) return MaceStatus();
  return accelerator::Configure(
      this, {AcceleratorSetting::QNN_PERFORMANCE, type, 0, nullptr, nullptr});
}

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_CONFIG_H_
