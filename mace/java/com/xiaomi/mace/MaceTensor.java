// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * One input or output: a shape, and a direct buffer that the engine reads or writes in place.
 *
 * <p>The buffer holds the elements dense and row-major, with the dimensions in the order of the
 * format, in the byte order of the processor. An output's shape says how much room there is: after
 * a run, {@link #getShape} is that of the result, which may be smaller.
 */
public final class MaceTensor {
  private static final int MAX_RANK = 8;

  private final ByteBuffer buffer; // at 0, up to the last element of `room`
  private final DataType type;
  private final DataFormat format;
  private final long[] room;
  private volatile long[] shape;

  private MaceTensor(ByteBuffer buffer, DataType type, DataFormat format, long[] shape) {
    this.buffer = buffer;
    this.type = type;
    this.format = format;
    this.room = shape;
    this.shape = shape;
  }

  /** A tensor of floats that are 0, in the format NHWC. */
  public static MaceTensor allocate(long... shape) {
    return allocate(DataType.FLOAT32, DataFormat.NHWC, shape);
  }

  /** A tensor with memory of its own, which is 0. */
  public static MaceTensor allocate(DataType type, DataFormat format, long... shape) {
    MaceException.notNull(type, "the type of a tensor");
    MaceException.notNull(format, "the format of a tensor");
    long[] copy = copyOf(shape);
    long bytes = countBytes(type, copy);
    try {
      ByteBuffer buffer = ByteBuffer.allocateDirect((int) bytes);
      return new MaceTensor(buffer, type, format, copy);
    } catch (OutOfMemoryError error) {
      throw new MaceException(MaceException.Code.OUT_OF_RESOURCES,
          "no memory for a tensor of " + bytes + " bytes: " + error.getMessage());
    }
  }

  /** A tensor with a copy of these elements, in the format NHWC. */
  public static MaceTensor ofFloats(float[] elements, long... shape) {
    MaceException.notNull(elements, "the array of elements");
    MaceTensor tensor = allocate(shape);
    int count = tensor.getFloats().remaining();
    if (count != elements.length) {
      throw MaceException.invalid(
          "the array has " + elements.length + " elements, but the shape has " + count);
    }
    tensor.getFloats().put(elements);
    return tensor;
  }

  /**
   * A tensor over the caller's memory, from the buffer's position on. The buffer must be direct,
   * and in the byte order of the processor if elements have several bytes: {@code
   * ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder())}.
   */
  public static MaceTensor wrap(
      ByteBuffer buffer, DataType type, DataFormat format, long... shape) {
    MaceException.notNull(buffer, "the buffer of a tensor");
    MaceException.notNull(type, "the type of a tensor");
    MaceException.notNull(format, "the format of a tensor");
    if (!buffer.isDirect()) {
      throw MaceException.invalid(
          "the buffer of a tensor is not direct; make it with ByteBuffer.allocateDirect");
    }
    if (type.getBytes() > 1 && buffer.order() != ByteOrder.nativeOrder()) {
      throw MaceException.invalid("the buffer of a tensor is in the byte order " + buffer.order()
          + "; call order(ByteOrder.nativeOrder()) before you write to it");
    }
    long[] copy = copyOf(shape);
    long bytes = countBytes(type, copy);
    if (bytes > buffer.remaining()) {
      throw MaceException.invalid("a tensor of this shape and type has " + bytes
          + " bytes, but its buffer has " + buffer.remaining());
    }
    ByteBuffer slice = buffer.slice();
    slice.limit((int) bytes);
    return new MaceTensor(slice, type, format, copy);
  }

  private static long[] copyOf(long[] shape) {
    MaceException.notNull(shape, "the shape of a tensor");
    if (shape.length > MAX_RANK) {
      throw MaceException.invalid(
          "a tensor has " + shape.length + " dimensions; at most " + MAX_RANK + " are possible");
    }
    return shape.clone();
  }

  private static long countBytes(DataType type, long[] shape) {
    boolean empty = false;
    long bytes = type.getBytes();
    for (long dimension : shape) {
      if (dimension < 0) {
        throw MaceException.invalid("a tensor has the dimension " + dimension + ", below 0");
      }
      if (dimension == 0)
        empty = true;
      // A product of two factors below 2^31 does not overflow.
      if (dimension > Integer.MAX_VALUE || bytes * Math.max(dimension, 1) > Integer.MAX_VALUE) {
        throw MaceException.invalid("a tensor has more bytes than a ByteBuffer holds, 2^31 - 1");
      }
      bytes *= Math.max(dimension, 1);
    }
    return empty ? 0 : bytes;
  }

  /** For an output after a run: the shape of the result. */
  public long[] getShape() {
    return shape.clone();
  }

  public DataType getType() {
    return type;
  }

  public DataFormat getFormat() {
    return format;
  }

  /** The bytes of the elements; not a copy. */
  public ByteBuffer getBuffer() {
    ByteBuffer view = buffer.duplicate();
    view.limit((int) countBytes(type, shape));
    return view.order(ByteOrder.nativeOrder());
  }

  /** The elements of a tensor of FLOAT32; not a copy. */
  public FloatBuffer getFloats() {
    if (type != DataType.FLOAT32) {
      throw MaceException.invalid("the tensor's elements are of the type " + type);
    }
    return getBuffer().asFloatBuffer();
  }

  /** A copy of the elements of a tensor of FLOAT32. */
  public float[] toFloatArray() {
    FloatBuffer floats = getFloats();
    float[] copy = new float[floats.remaining()];
    floats.get(copy);
    return copy;
  }

  ByteBuffer memory() {
    return buffer;
  }

  long[] room() {
    return room;
  }

  void setShape(long[] result) {
    shape = result;
  }
}
