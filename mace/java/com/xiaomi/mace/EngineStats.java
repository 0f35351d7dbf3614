// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/** Sizes of an engine; as EngineStats of mace.h. */
public final class EngineStats {
  private final long[] numbers;

  EngineStats(long[] numbers) {
    this.numbers = numbers;
  }

  /** Intermediate memory that the engine holds now. */
  public long getArenaBytes() {
    return numbers[0];
  }

  /** Constants that are used in place. */
  public long getConstantBytes() {
    return numbers[1];
  }

  /** Constants that were copied or transformed. */
  public long getPreparedBytes() {
    return numbers[2];
  }

  public long getOperatorCount() {
    return numbers[3];
  }

  /** Values that are kept from one run to the next. */
  public long getStateBytes() {
    return numbers[4];
  }

  /** The sum of all intermediate tensors, if they shared no memory. */
  public long getTensorBytes() {
    return numbers[5];
  }
}
