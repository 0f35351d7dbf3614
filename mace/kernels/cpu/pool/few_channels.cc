// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Links the pooling of images with few channels by their lines.

#include "mace/kernels/cpu/optional_kernels.h"
#include "mace/kernels/cpu/pool/lines.h"

namespace mace::pool {
namespace {

constexpr FewChannelsPart kPart = {&LineKernelsFor};

const OptionalKernels<FewChannelsPart> registration(&kPart);

}  // namespace
}  // namespace mace::pool
