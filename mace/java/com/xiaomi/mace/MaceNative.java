// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.nio.ByteBuffer;

/**
 * What libmace_jni.so defines. All text is UTF-8, since JNI's own functions for strings use another
 * encoding, and end the process when they are given anything else.
 */
final class MaceNative {
  /** Why the libraries can't be used; null if they can. */
  private static final String PROBLEM = load();

  private MaceNative() {}

  private static String load() {
    try {
      // Android before 6 does not look for what a library needs in the application's folder.
      System.loadLibrary("mace");
      System.loadLibrary("mace_jni");
      return null;
    } catch (UnsatisfiedLinkError | SecurityException error) {
      return "libmace.so and libmace_jni.so can't be loaded: " + error.getMessage()
          + "; the application needs both for the ABI of the device";
    }
  }

  /** Throws if there are no libraries. */
  static void require() {
    if (PROBLEM != null)
      throw new MaceException(MaceException.Code.UNSUPPORTED, PROBLEM);
  }

  static native byte[] version();

  static native int[] runtimes();

  /**
   * Creates an engine.
   *
   * @param model graph and weights, each a direct ByteBuffer or the path as byte[]
   * @param settings see MaceEngineConfig.settings()
   * @param texts see MaceEngineConfig.texts()
   * @param tutor another engine, or 0
   */
  static native long create(Object[] model,
      byte[][] inputs,
      byte[][] outputs,
      long[] settings,
      byte[][] texts,
      long tutor);

  static native void destroy(long engine);

  /**
   * Runs an engine. For each tensor: its name, memory, and in shapes the dimensions, followed by
   * type, format, and 1 if it is an output.
   *
   * @param metadata null, or two elements for the parts of RunMetadata
   * @return the shapes of the outputs; null for inputs
   */
  static native long[][] run(
      long engine, byte[][] names, ByteBuffer[] memory, long[][] shapes, Object[] metadata);

  /**
   * Says what a run takes and gives.
   *
   * @param names null: describe the inputs; else, the outputs of a run with these inputs
   * @param shapes of these inputs, as for run
   * @return names as byte[][], and as long[][] for each the dimensions, followed by type and format
   */
  static native Object[] describe(long engine, byte[][] names, long[][] shapes);

  static native void releaseIntermediateBuffer(long engine);

  static native void resetStates(long engine);

  static native byte[] explain(long engine);

  static native long[] stats(long engine);
}
