// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_OPS_POOLING_VOLUME_POOLING_H_
#define MACE_OPS_POOLING_VOLUME_POOLING_H_

#include "mace/ops/pooling/volume_pooling_schema.h"
#include "mace/ops/window/window.h"

namespace mace {

// The windows along depth, height and width.
struct VolumeWindows {
  WindowAxis axis[3];
};

Result<VolumeWindows> WindowsOfVolume(const VolumePoolingAttributes &attributes,
                                      const Shape &input);

}  // namespace mace

#endif  // MACE_OPS_POOLING_VOLUME_POOLING_H_
