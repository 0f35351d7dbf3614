// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of MaceEngineConfig, and of the C interface, that set options
// of single devices.

#include <memory>
#include <utility>

#include "mace/core/base/c_error.h"
#include "mace/core/base/status.h"
#include "mace/public/mace_c_handles.h"
#include "mace/runtimes/devices/device_options.h"

namespace mace {

MaceStatus MaceEngineConfig::SetGPUContext(
    std::shared_ptr<GPUContext> context) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  if (context == nullptr) return InvalidArgs("the GPU context is null");
  if (!context->problem_.empty()) return InvalidArgs(context->problem_);
  return impl_->options.device_options.Set<GPUContext>(kGpuContext,
                                                       std::move(context));
}

MaceStatus MaceEngineConfig::SetGPUHints(GPUPerfHint perf_hint,
                                         GPUPriorityHint priority_hint) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  if (perf_hint < PERF_DEFAULT || perf_hint > PERF_HIGH ||
      priority_hint < PRIORITY_DEFAULT || priority_hint > PRIORITY_HIGH) {
    return InvalidArgs(
        "GPU hints ", static_cast<int>(perf_hint), " and ",
        static_cast<int>(priority_hint),
        "; each is 0 (default), 1 (low), 2 (normal) or 3 (high)");
  }
  return impl_->options.device_options.Set(kGpuOptions,
                                           {perf_hint, priority_hint});
}

MaceStatus MaceEngineConfig::SetHexagon(bool unsigned_pd,
                                        int corner,
                                        bool dcvs_enable,
                                        int latency) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  HexagonOptions hexagon = impl_->options.device_options.Get(kHexagonOptions);
  if (unsigned_pd) {
    hexagon.unsigned_pd = true;
  } else {
    hexagon = {hexagon.unsigned_pd, true, corner, dcvs_enable, latency};
  }
  return impl_->options.device_options.Set(kHexagonOptions, hexagon);
}

}  // namespace mace

mace_code mace_config_set_gpu(mace_config *config, const mace_gpu *gpu) {
  return mace::GuardWith(config, "config", [config, gpu]() -> mace::MaceStatus {
    if (gpu == nullptr) return mace::InvalidArgs("`gpu` is NULL");
    MACE_RETURN_IF_ERROR(config->config.SetGPUHints(
        static_cast<mace::GPUPerfHint>(gpu->perf_hint),
        static_cast<mace::GPUPriorityHint>(gpu->priority_hint)));
    if (mace::MakeGpuContext == nullptr) return mace::MaceStatus();
    return config->config.SetGPUContext(mace::MakeGpuContext(*gpu));
  });
}
