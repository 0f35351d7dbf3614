// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What each operator did in one run. */
public final class RunMetadata {
  /** One operator; as OperatorStats of mace.h. */
  public static final class Operator {
    private final String name;
    private final String type;
    private final long[] numbers;
    private final List<long[]> shapes = new ArrayList<>();

    Operator(byte[] name, byte[] type, long[] numbers) {
      this.name = new String(name, StandardCharsets.UTF_8);
      this.type = new String(type, StandardCharsets.UTF_8);
      this.numbers = numbers;
      int at = FIXED;
      for (long i = numbers[OUTPUTS]; i > 0; --i) {
        long[] shape = new long[(int) numbers[at++]];
        for (int axis = 0; axis < shape.length; ++axis) shape[axis] = numbers[at++];
        shapes.add(shape);
      }
    }

    public String getName() {
      return name;
    }

    public String getType() {
      return type;
    }

    /** Since the start of the run's clock. */
    public long getStartMicros() {
      return numbers[0];
    }

    public long getDurationNanos() {
      return numbers[1];
    }

    /** Multiply-accumulates; 0 if it has none. */
    public long getMacs() {
      return numbers[2];
    }

    /** Bytes of inputs, constants and outputs. */
    public long getBytes() {
      return numbers[3];
    }

    public RuntimeType getRuntime() {
      return RuntimeType.fromNumber((int) numbers[4]);
    }

    /** Computes in integers that stand for floats. */
    public boolean isQuantized() {
      return numbers[5] != 0;
    }

    /** The shape of each output. */
    public List<long[]> getOutputShapes() {
      return Collections.unmodifiableList(shapes);
    }
  }

  private static final int OUTPUTS = 6;
  private static final int FIXED = 7;

  private final List<Operator> operators = new ArrayList<>();

  /** What libmace_jni.so wrote: pairs of names and types, and the numbers of each operator. */
  RunMetadata(Object[] parts) {
    byte[][] texts = (byte[][]) parts[0];
    long[][] numbers = (long[][]) parts[1];
    for (int i = 0; i < numbers.length; ++i) {
      operators.add(new Operator(texts[2 * i], texts[2 * i + 1], numbers[i]));
    }
  }

  /** In the order of execution. */
  public List<Operator> getOperators() {
    return Collections.unmodifiableList(operators);
  }
}
