// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** An input or output of a model. */
public final class TensorInfo {
  private final String name;
  private final DataType type;
  private final DataFormat format;
  private final long[] shape;

  /** What libmace_jni.so wrote: the dimensions, followed by type and format. */
  private TensorInfo(byte[] name, long[] numbers) {
    int rank = numbers.length - 2;
    this.name = new String(name, StandardCharsets.UTF_8);
    shape = Arrays.copyOf(numbers, rank);
    type = typeOf(numbers[rank]);
    format = DataFormat.values()[(int) numbers[rank + 1]];
  }

  static Map<String, TensorInfo> read(Object[] parts) {
    byte[][] names = (byte[][]) parts[0];
    long[][] numbers = (long[][]) parts[1];
    Map<String, TensorInfo> found = new LinkedHashMap<>();
    for (int i = 0; i < names.length; ++i) {
      TensorInfo info = new TensorInfo(names[i], numbers[i]);
      found.put(info.name, info);
    }
    return found;
  }

  private static DataType typeOf(long number) {
    for (DataType type : DataType.values()) {
      if (type.number == number)
        return type;
    }
    throw MaceException.invalid("the library has an element type of the number " + number
        + ", which these classes do not know: take both of one version");
  }

  public String getName() {
    return name;
  }

  public DataType getType() {
    return type;
  }

  public DataFormat getFormat() {
    return format;
  }

  /** -1 for a dimension that each run decides. */
  public long[] getShape() {
    return shape.clone();
  }

  /** Whether the model says all of the shape. */
  public boolean isStatic() {
    for (long dim : shape) {
      if (dim < 0)
        return false;
    }
    return true;
  }

  /** A tensor of this type, shape and format, with zeros. */
  public MaceTensor allocate() {
    if (!isStatic()) {
      throw MaceException.invalid("'" + name + "' has the shape " + Arrays.toString(shape)
          + ", of which each run decides what is -1: allocate a tensor of the shape that it has");
    }
    return MaceTensor.allocate(type, format, shape);
  }

  @Override
  public String toString() {
    return name + " " + type + Arrays.toString(shape) + " " + format;
  }
}
