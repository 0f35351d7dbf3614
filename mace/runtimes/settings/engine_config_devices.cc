// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of MaceEngineConfig that set what single devices are asked for.
// Every library has them, whatever its runtimes.

#include <memory>
#include <utility>

#include "mace/core/base/c_error.h"
#include "mace/core/base/status.h"
#include "mace/core/graph/engine_config.h"
#include "mace/public/mace_c.h"
#include "mace/public/mace_c_handles.h"
#include "mace/public/mace_config.h"
#include "mace/runtimes/settings/gpu_settings.h"
#include "mace/runtimes/settings/hexagon_settings.h"

namespace mace {
namespace {

// Changes one struct of settings.
template <typename T, typename Change>
MaceStatus ChangeSettings(EngineOptions *options, const Change &change) {
  try {
    T settings = options->device_settings.Get<T>();
    change(&settings);
    options->device_settings.Set(std::move(settings));
    return MaceStatus();
  } catch (...) {
    return CurrentExceptionStatus();
  }
}

}  // namespace

MaceStatus MaceEngineConfig::SetGPUContext(
    std::shared_ptr<GPUContext> context) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  if (context == nullptr) return InvalidArgs("the GPU context is null");
  if (!context->problem_.empty()) return InvalidArgs(context->problem_);
  return ChangeSettings<GpuSettings>(&impl_->options,
                                     [&context](GpuSettings *settings) {
                                       settings->context = std::move(context);
                                     });
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
  return ChangeSettings<GpuSettings>(
      &impl_->options, [perf_hint, priority_hint](GpuSettings *settings) {
        settings->perf_hint = perf_hint;
        settings->priority_hint = priority_hint;
      });
}

MaceStatus MaceEngineConfig::SetHexagon(bool unsigned_pd,
                                        int corner,
                                        bool dcvs_enable,
                                        int latency) {
  if (impl_ == nullptr) return MaceStatus::MACE_OUT_OF_RESOURCES;
  return ChangeSettings<HexagonOptions>(&impl_->options,
                                        [=](HexagonOptions *hexagon) {
                                          if (unsigned_pd) {
                                            hexagon->unsigned_pd = true;
                                            return;
                                          }
                                          hexagon->has_power = true;
                                          hexagon->corner = corner;
                                          hexagon->may_lower = dcvs_enable;
                                          hexagon->latency_us = latency;
                                        });
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
