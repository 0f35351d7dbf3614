// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * How an engine runs; as MaceEngineConfig of mace.h. Used only while an engine is created, any
 * number of times. Every setting is optional.
 */
public final class MaceEngineConfig {
  private int threads = 0;
  private CpuAffinity affinity = null;
  private GpuHint performance = GpuHint.DEFAULT;
  private GpuHint priority = GpuHint.DEFAULT;
  private boolean outOfRangeCheck = false;
  private boolean weightsCheck = false;
  private boolean fakeWarmup = false;
  private RuntimeType[] runtimes = {};
  private String storagePath = "";
  private String parameterPath = "";
  private List<String> binaryPaths = new ArrayList<>();
  private MaceEngine tutor = null;

  /**
   * Devices in order of preference: each operator runs on the first device that can run it and
   * makes the model faster. If CPU is among them, a device that is missing or does not start is
   * left out; otherwise creating the engine fails. Default: the CPU.
   */
  public MaceEngineConfig setRuntimeTypes(RuntimeType... types) {
    MaceException.notNull(types, "the list of runtimes");
    Set<RuntimeType> once = new LinkedHashSet<>();
    for (RuntimeType type : types) once.add(MaceException.notNull(type, "a runtime"));
    if (once.isEmpty())
      throw MaceException.invalid("setRuntimeTypes: name a runtime");
    runtimes = once.toArray(new RuntimeType[0]);
    return this;
  }

  /** -1 or 0 threads: as many as the policy selects cores. Default: one for each big core. */
  public MaceEngineConfig setCpuThreadPolicy(int threads, CpuAffinity affinity) {
    if (threads < -1) {
      throw MaceException.invalid("setCpuThreadPolicy: " + threads + " threads; -1 is the lowest");
    }
    this.affinity = MaceException.notNull(affinity, "the affinity");
    this.threads = threads;
    return this;
  }

  /**
   * A folder that exists and that the application may read and write, such as
   * Context.getFilesDir(): the GPU's compiled kernels are kept there, which makes the next start
   * faster.
   */
  public MaceEngineConfig setGpuStoragePath(String path) {
    storagePath = MaceException.notNull(path, "the storage path");
    return this;
  }

  /** Files with kernels that were compiled for this GPU before; the first one that can be read. */
  public MaceEngineConfig setOpenCLBinaryPaths(String... paths) {
    MaceException.notNull(paths, "the list of paths");
    for (String path : paths) MaceException.notNull(path, "a path of OpenCL binaries");
    binaryPaths = new ArrayList<>(Arrays.asList(paths));
    return this;
  }

  /** A file with parameters that were tuned for this GPU. */
  public MaceEngineConfig setOpenCLParameterPath(String path) {
    parameterPath = MaceException.notNull(path, "the parameter path");
    return this;
  }

  /** How fast the GPU's clock should run, and how urgent the work is. */
  public MaceEngineConfig setGpuHints(GpuHint performance, GpuHint priority) {
    this.performance = MaceException.notNull(performance, "the performance hint");
    this.priority = MaceException.notNull(priority, "the priority hint");
    return this;
  }

  /** A run fails at the first operator that produces NaN or infinity. */
  public MaceEngineConfig setOutOfRangeCheck(boolean enabled) {
    outOfRangeCheck = enabled;
    return this;
  }

  /** Creating the engine compares the checksum of all weights with that of the model. */
  public MaceEngineConfig setWeightsCheck(boolean enabled) {
    weightsCheck = enabled;
    return this;
  }

  /** Creating the engine prepares all that the first run would prepare. */
  public MaceEngineConfig setFakeWarmup(boolean enabled) {
    fakeWarmup = enabled;
    return this;
  }

  /**
   * An engine whose intermediate memory the new one shares. Runs of the two wait for each other,
   * and the memory stays until both are closed. Null: none.
   */
  public MaceEngineConfig setTutor(MaceEngine tutor) {
    this.tutor = tutor;
    return this;
  }

  MaceEngine tutor() {
    return tutor;
  }

  /** In the order of `enum Setting` in mace_jni.cc. */
  int[] settings() {
    int[] fixed = {threads, affinity == null ? -1 : affinity.ordinal(), performance.ordinal(),
        priority.ordinal(), outOfRangeCheck ? 1 : 0, weightsCheck ? 1 : 0, fakeWarmup ? 1 : 0};
    int[] all = Arrays.copyOf(fixed, fixed.length + runtimes.length);
    for (int i = 0; i < runtimes.length; ++i) all[fixed.length + i] = runtimes[i].number;
    return all;
  }

  /** The storage path, the parameter path, and then the binary paths. */
  byte[][] gpuPaths() {
    List<String> all = new ArrayList<>(Arrays.asList(storagePath, parameterPath));
    all.addAll(binaryPaths);
    byte[][] paths = new byte[all.size()][];
    for (int i = 0; i < paths.length; ++i) {
      paths[i] = all.get(i).getBytes(StandardCharsets.UTF_8);
    }
    return paths;
  }
}
