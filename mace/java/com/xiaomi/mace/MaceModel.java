// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;

/** A converted model: where its graph (.pb) and its weights (.data) are. */
public final class MaceModel {
  // Each a direct buffer, or the bytes of a path.
  private final Object graph;
  private final Object weights;

  private MaceModel(Object graph, Object weights) {
    this.graph = graph;
    this.weights = weights;
  }

  /** Two files. The weights stay mapped: the file must not be changed while an engine lives. */
  public static MaceModel fromFiles(String graph, String weights) {
    return new MaceModel(path(graph, "graph"), path(weights, "weights"));
  }

  /**
   * Two buffers, from position to limit. The weights must be direct and must not change; engines
   * use them in place if their address is a multiple of 64, and copy the constants otherwise.
   */
  public static MaceModel fromBuffers(ByteBuffer graph, ByteBuffer weights) {
    MaceException.notNull(graph, "the buffer of the graph");
    MaceException.notNull(weights, "the buffer of the weights");
    if (!weights.isDirect()) {
      throw MaceException.invalid(
          "the buffer of the weights is not direct; map the file, or use allocateDirect");
    }
    ByteBuffer direct = graph.slice();
    if (!direct.isDirect()) {
      direct = ByteBuffer.allocateDirect(graph.remaining());
      direct.put(graph.duplicate());
      direct.flip();
    }
    return new MaceModel(direct, weights.slice());
  }

  /**
   * Maps a part of a file, for {@link #fromBuffers}. The descriptor may be closed afterwards.
   *
   * <p>For an asset, which must not be compressed in the APK (noCompress in build.gradle):
   *
   * <pre>
   * try (AssetFileDescriptor asset = context.getAssets().openFd("model.data")) {
   *   weights = MaceModel.map(
   *       asset.getFileDescriptor(), asset.getStartOffset(), asset.getLength());
   * }
   * </pre>
   */
  public static ByteBuffer map(FileDescriptor descriptor, long offset, long length) {
    MaceException.notNull(descriptor, "the file descriptor");
    if (offset < 0 || length < 0 || length > Integer.MAX_VALUE) {
      throw MaceException.invalid("can't map " + length + " bytes at " + offset
          + "; a part of a file begins at 0 or later and has up to 2^31 - 1 bytes");
    }
    // Closing the stream would close the caller's descriptor.
    FileChannel channel = new FileInputStream(descriptor).getChannel();
    try {
      long size = channel.size();
      if (length > size - offset) {
        throw MaceException.invalid(
            "can't map " + length + " bytes at " + offset + " of a file that has " + size);
      }
      return channel.map(FileChannel.MapMode.READ_ONLY, offset, length);
    } catch (IOException error) {
      throw new MaceException(
          MaceException.Code.RUNTIME_ERROR, "can't map the file: " + error.getMessage());
    }
  }

  private static byte[] path(String path, String what) {
    MaceException.notNull(path, "the path of the " + what);
    if (path.isEmpty() || path.indexOf('\0') >= 0) {
      throw MaceException.invalid("the path of the " + what + " is empty or contains a NUL");
    }
    return path.getBytes(StandardCharsets.UTF_8);
  }

  Object[] parts() {
    return new Object[] {graph, weights};
  }
}
