// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the DSP and accelerators (HTA, HTP, APU, and those of delegates of the
// application) are asked for, by functions of MaceEngineConfig. See
// docs/user/dsp.md and docs/user/accelerators.md.

#ifndef MACE_PUBLIC_MACE_ACCELERATORS_H_
#define MACE_PUBLIC_MACE_ACCELERATORS_H_

#include <string>

#include "mace/public/mace_status.h"

namespace mace {

// How fast the clock of the DSP runs, by the names of Qualcomm: from SVS2, the
// slowest, to TURBOPLUS. MaceEngineConfig::SetHexagonPower.
enum HexagonNNCornerType : int {
  HEXAGON_NN_CORNER_RELEASE = 0,  // no wish
  HEXAGON_NN_CORNER_TURBOPLUS,
  HEXAGON_NN_CORNER_TURBO,
  HEXAGON_NN_CORNER_NOMPLUS,
  HEXAGON_NN_CORNER_NOMINAL,
  HEXAGON_NN_CORNER_SVSPLUS,
  HEXAGON_NN_CORNER_SVS,
  HEXAGON_NN_CORNER_SVS2,
};

// What an engine does with the parts of a model that it compiled for an
// accelerator (HTA, HTP, APU, or a delegate of the application).
enum AcceleratorCachePolicy : int {
  // Compiles them, and stores nothing.
  ACCELERATOR_CACHE_NONE = 0,
  // Compiles them, and writes them to the storage file.
  ACCELERATOR_CACHE_STORE = 1,
  // Reads them from the binary file, compiles what the file lacks, and stores
  // nothing.
  ACCELERATOR_CACHE_LOAD = 2,
  // Reads them from the binary file; if it lacks some, compiles these, and
  // writes all to the storage file. If only one of the files is named, it is
  // both.
  APU_CACHE_LOAD_OR_STORE = 3,
};

// What an APU prefers, by the names of MediaTek: MaceEngineConfig::SetAPUHints.
enum APUPreferenceHint : int {
  NEURON_PREFER_LOW_POWER = 0,
  NEURON_PREFER_FAST_SINGLE_ANSWER = 1,
  NEURON_PREFER_SUSTAINED_SPEED = 2,
};

// The clock that an HTP is asked for, by the names of Qualcomm:
// MaceEngineConfig::SetQnnPerformance. HEXAGON_SYSTEM_SETTINGS asks for none.
enum HexagonPerformanceType : int {
  HEXAGON_BURST = 0,
  HEXAGON_SUSTAINED_HIGH_PERFORMANCE = 1,
  HEXAGON_HIGH_PERFORMANCE = 2,
  HEXAGON_BALANCED = 3,
  HEXAGON_LOW_BALANCED = 4,
  HEXAGON_POWER_SAVER = 5,
  HEXAGON_LOW_POWER_SAVER = 6,
  HEXAGON_HIGH_POWER_SAVER = 7,
  HEXAGON_SYSTEM_SETTINGS = 8,
};

class MaceEngineConfig;

// One setting of accelerators; what MaceEngineConfig hands to the library. Not
// for applications.
struct AcceleratorSetting {
  enum Kind { CACHE, APU_HINTS, QNN_PERFORMANCE } kind;
  int first;   // the policy, the boost, or the performance
  int second;  // the preference
  const std::string *binary_file;
  const std::string *storage_file;
};

namespace accelerator {

// What applies a setting. Null in a library without accelerators.
__attribute__((weak)) MACE_API MaceStatus
Configure(MaceEngineConfig *config, const AcceleratorSetting &setting);

}  // namespace accelerator

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_ACCELERATORS_H_
