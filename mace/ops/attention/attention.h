// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The sizes of Attention, in the order of the declaration.

#ifndef MACE_OPS_ATTENTION_ATTENTION_H_
#define MACE_OPS_ATTENTION_ATTENTION_H_

#include <cstdint>

#include "mace/core/base/shape.h"

namespace mace {

struct AttentionSizes {
  int64_t batch = 0;
  int64_t heads = 0;
  int64_t groups = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t depth = 0;
  int64_t width = 0;

  // Of shapes of four dimensions.
  static AttentionSizes Of(const Shape &query,
                           const Shape &key,
                           const Shape &value,
                           bool tokens_first) {
    const size_t head = tokens_first ? 2 : 1;
    const size_t token = tokens_first ? 1 : 2;
    return {query[0],   query[head], key[head], query[token],
            key[token], query[3],    value[3]};
  }

  int64_t Macs() const {
    return batch * heads * queries * keys * (depth + width);
  }
};

}  // namespace mace

#endif  // MACE_OPS_ATTENTION_ATTENTION_H_
