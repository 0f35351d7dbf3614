// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/** Where a model runs; as RuntimeType of mace.h. */
public enum RuntimeType {
  CPU(0),
  /** By OpenCL. */
  GPU(2),
  HEXAGON(3),
  HTA(4),
  APU(5),
  HTP(6),
  /** The accelerator of a delegate of the application's native code. */
  NPU(7);

  final int number;

  RuntimeType(int number) {
    this.number = number;
  }

  static RuntimeType fromNumber(int number) {
    for (RuntimeType type : values()) {
      if (type.number == number)
        return type;
    }
    throw MaceException.invalid("the library has the unknown runtime " + number);
  }
}
