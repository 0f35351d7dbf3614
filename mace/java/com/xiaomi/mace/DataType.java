// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/** Element type of a tensor; as IDataType of mace.h. */
public enum DataType {
  FLOAT32(1, 4),
  UINT8(2, 1),
  INT32(4, 4),
  FLOAT16(5, 2),
  BFLOAT16(6, 2),
  INT8(7, 1),
  BOOL(8, 1),
  INT16(9, 2);

  final int number;
  private final int bytes;

  DataType(int number, int bytes) {
    this.number = number;
    this.bytes = bytes;
  }

  /** Size of an element. */
  public int getBytes() {
    return bytes;
  }
}
