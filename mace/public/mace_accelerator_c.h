/* Copyright 2026 The MACE Authors */
/* SPDX-License-Identifier: Apache-2.0 */

/* What the DSP and accelerators are asked for, in C: the functions of
 * MaceEngineConfig for them. Like those, they are code of the application, and
 * have no effect in a library without such a runtime (-runtimes of
 * tools/build-standalone-lib.sh).
 *
 *   mace_device devices[] = {MACE_DEVICE_HTP, MACE_DEVICE_CPU};
 *   mace_config_set_devices(config, devices, 2);
 *   mace_config_set_qnn_performance(config, MACE_PERFORMANCE_BALANCED);
 *
 * Errors are those of mace_c.h. */

#ifndef MACE_PUBLIC_MACE_ACCELERATOR_C_H_
#define MACE_PUBLIC_MACE_ACCELERATOR_C_H_

#include <stddef.h>

#include "mace/public/mace_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* More of mace_device. */
enum { MACE_DEVICE_HTP = 6, MACE_DEVICE_NPU = 7 };

/* Numbers as in HexagonNNCornerType. */
typedef int mace_hexagon_corner;
enum {
  MACE_CORNER_RELEASE = 0,
  MACE_CORNER_TURBOPLUS = 1,
  MACE_CORNER_TURBO = 2,
  MACE_CORNER_NOMPLUS = 3,
  MACE_CORNER_NOMINAL = 4,
  MACE_CORNER_SVSPLUS = 5,
  MACE_CORNER_SVS = 6,
  MACE_CORNER_SVS2 = 7
};

/* Numbers as in AcceleratorCachePolicy. */
typedef int mace_cache_policy;
enum {
  MACE_CACHE_NONE = 0,
  MACE_CACHE_STORE = 1,
  MACE_CACHE_LOAD = 2,
  MACE_CACHE_LOAD_OR_STORE = 3
};

/* Numbers as in APUPreferenceHint. */
typedef int mace_apu_preference;
enum {
  MACE_PREFER_LOW_POWER = 0,
  MACE_PREFER_FAST_SINGLE_ANSWER = 1,
  MACE_PREFER_SUSTAINED_SPEED = 2
};

/* Numbers as in HexagonPerformanceType. */
typedef int mace_performance;
enum {
  MACE_PERFORMANCE_BURST = 0,
  MACE_PERFORMANCE_SUSTAINED_HIGH = 1,
  MACE_PERFORMANCE_HIGH = 2,
  MACE_PERFORMANCE_BALANCED = 3,
  MACE_PERFORMANCE_LOW_BALANCED = 4,
  MACE_PERFORMANCE_POWER_SAVER = 5,
  MACE_PERFORMANCE_LOW_POWER_SAVER = 6,
  MACE_PERFORMANCE_HIGH_POWER_SAVER = 7,
  MACE_PERFORMANCE_SYSTEM_SETTINGS = 8
};

/* What the functions below call; not for applications. Each is NULL in a
 * library without that runtime. */
__attribute__((weak)) MACE_API mace_code mace_hexagon_configure(
    mace_config *config, int unsigned_pd, int corner, int dcvs, int latency);
/* `setting`: of AcceleratorSetting::Kind. */
__attribute__((weak)) MACE_API mace_code
mace_accelerator_configure(mace_config *config,
                           int setting,
                           int first,
                           int second,
                           const char *binary_file,
                           const char *storage_file);

/* As MaceEngineConfig::SetHexagonToUnsignedPD. */
__attribute__((unused)) static inline mace_code
mace_config_set_hexagon_to_unsigned_pd(mace_config *config) {
  if (mace_hexagon_configure == NULL) return MACE_OK;
  return mace_hexagon_configure(config, 1, 0, 0, 0);
}

/* As MaceEngineConfig::SetHexagonPower; `latency` is in microseconds. */
__attribute__((unused)) static inline mace_code mace_config_set_hexagon_power(
    mace_config *config,
    mace_hexagon_corner corner,
    int dcvs_enable,
    int latency) {
  if (mace_hexagon_configure == NULL) return MACE_OK;
  return mace_hexagon_configure(config, 0, corner, dcvs_enable, latency);
}

/* As MaceEngineConfig::SetAcceleratorCache; NULL is a file without a name. */
__attribute__((unused)) static inline mace_code
mace_config_set_accelerator_cache(mace_config *config,
                                  mace_cache_policy policy,
                                  const char *binary_file,
                                  const char *storage_file) {
  if (mace_accelerator_configure == NULL) return MACE_OK;
  return mace_accelerator_configure(config, 0, policy, 0, binary_file,
                                    storage_file);
}

/* As MaceEngineConfig::SetAPUHints: `boost_hint` is from 0 to 100, anything
 * else is MACE_ERROR_INVALID_ARGS. */
__attribute__((unused)) static inline mace_code mace_config_set_apu_hints(
    mace_config *config, int boost_hint, mace_apu_preference preference) {
  if (mace_accelerator_configure == NULL) return MACE_OK;
  return mace_accelerator_configure(config, 1, boost_hint, preference, NULL,
                                    NULL);
}

/* As MaceEngineConfig::SetQnnPerformance. */
__attribute__((unused)) static inline mace_code mace_config_set_qnn_performance(
    mace_config *config, mace_performance performance) {
  if (mace_accelerator_configure == NULL) return MACE_OK;
  return mace_accelerator_configure(config, 2, performance, 0, NULL, NULL);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MACE_PUBLIC_MACE_ACCELERATOR_C_H_ */
