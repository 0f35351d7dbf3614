// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
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
  private long memoryLimit = 0;
  // By subgraph; those of the whole model have no name.
  private final Map<String, RuntimeType[]> runtimes = new LinkedHashMap<>();
  private String storagePath = "";
  private String cachePath = "";
  private boolean cacheReuse = true;
  private String parameterPath = "";
  private List<String> binaryPaths = new ArrayList<>();
  private byte[] binary = {};
  private byte[] parameter = {};
  private boolean hexagonUnsigned = false;
  private HexagonCorner hexagonCorner = null;
  private boolean hexagonDcvs = false;
  private int hexagonLatency = 0;
  private AcceleratorCache acceleratorCache = null;
  private String acceleratorBinary = "";
  private String acceleratorStorage = "";
  private int apuBoost = 0;
  private ApuPreference apuPreference = null;
  private HtpPerformance htpPerformance = null;
  private MaceEngine tutor = null;

  /**
   * Devices in order of preference: each operator runs on the first device that can run it and
   * makes the model faster. If CPU is among them, a device that is missing or does not start is
   * left out; otherwise creating the engine fails. Default: the CPU.
   */
  public MaceEngineConfig setRuntimeTypes(RuntimeType... types) {
    runtimes.put("", distinct(types, "setRuntimeTypes"));
    return this;
  }

  /** The same for one subgraph of the deployment file; others keep those of the whole model. */
  public MaceEngineConfig setSubgraphRuntimeTypes(String subgraph, RuntimeType... types) {
    MaceException.notNull(subgraph, "the name of a subgraph");
    if (subgraph.isEmpty() || subgraph.indexOf('\0') >= 0) {
      throw MaceException.invalid("setSubgraphRuntimeTypes: the name is empty or contains a NUL");
    }
    runtimes.put(subgraph, distinct(types, "setSubgraphRuntimeTypes"));
    return this;
  }

  private static RuntimeType[] distinct(RuntimeType[] types, String function) {
    MaceException.notNull(types, "the list of runtimes");
    Set<RuntimeType> once = new LinkedHashSet<>();
    for (RuntimeType type : types) once.add(MaceException.notNull(type, "a runtime"));
    if (once.isEmpty())
      throw MaceException.invalid(function + ": name a runtime");
    return once.toArray(new RuntimeType[0]);
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

  /** The contents of such a file, used instead of the files of setOpenCLBinaryPaths. */
  public MaceEngineConfig setOpenCLBinary(byte[] contents) {
    binary = MaceException.notNull(contents, "the OpenCL binary").clone();
    return this;
  }

  /** A file with parameters that were tuned for this GPU. */
  public MaceEngineConfig setOpenCLParameterPath(String path) {
    parameterPath = MaceException.notNull(path, "the parameter path");
    return this;
  }

  /** The contents of such a file, used instead of the file of setOpenCLParameterPath. */
  public MaceEngineConfig setOpenCLParameter(byte[] contents) {
    parameter = MaceException.notNull(contents, "the OpenCL parameters").clone();
    return this;
  }

  /** The file of the compiled kernels, instead of one in the folder of setGpuStoragePath. */
  public MaceEngineConfig setOpenCLCacheFullPath(String path) {
    cachePath = MaceException.notNull(path, "the path of the OpenCL cache");
    return this;
  }

  /**
   * Whether kernels are used that the same GPU and driver compiled before; otherwise they are
   * compiled again. Default: true.
   */
  public MaceEngineConfig setOpenCLCacheReuse(boolean enabled) {
    cacheReuse = enabled;
    return this;
  }

  /** How fast the GPU's clock should run, and how urgent the work is. */
  public MaceEngineConfig setGpuHints(GpuHint performance, GpuHint priority) {
    this.performance = MaceException.notNull(performance, "the performance hint");
    this.priority = MaceException.notNull(priority, "the priority hint");
    return this;
  }

  /**
   * Runs the DSP's code in a process for unsigned code; creating the engine fails where the DSP has
   * none. Without this call the DSP says whether it has: if not, the code has to be signed.
   */
  public MaceEngineConfig setHexagonToUnsignedPd() {
    hexagonUnsigned = true;
    return this;
  }

  /**
   * What the DSP's clock should do: the corner as long as an engine uses the DSP, or that at most
   * as the DSP likes it (dcvs), and how many microseconds it may take to wake up (0: no wish). The
   * last engine's wish applies to all engines of the process.
   */
  public MaceEngineConfig setHexagonPower(HexagonCorner corner, boolean dcvs, int latencyMicros) {
    MaceException.notNull(corner, "the corner");
    if (latencyMicros < 0) {
      throw MaceException.invalid(
          "setHexagonPower: a latency of " + latencyMicros + " us; 0 is the lowest");
    }
    hexagonCorner = corner;
    hexagonDcvs = dcvs;
    hexagonLatency = latencyMicros;
    return this;
  }

  /**
   * Where accelerators (HTP, APU, delegates) keep what they compiled, which makes the next start
   * faster. A path may be empty if the policy does not need it; with one of the two,
   * LOAD_OR_STORE uses that file for both. No effect in a library without accelerators.
   */
  public MaceEngineConfig setAcceleratorCache(
      AcceleratorCache policy, String binaryFile, String storageFile) {
    MaceException.notNull(policy, "the policy of the cache");
    acceleratorBinary = MaceException.notNull(binaryFile, "the binary file");
    acceleratorStorage = MaceException.notNull(storageFile, "the storage file");
    acceleratorCache = policy;
    return this;
  }

  /** How fast the APU's clock should run, from 0 to 100, and what it prefers. */
  public MaceEngineConfig setApuHints(int boost, ApuPreference preference) {
    if (boost < 0 || boost > 100) {
      throw MaceException.invalid("setApuHints: a boost of " + boost + "; 0 to 100 are accepted");
    }
    apuPreference = MaceException.notNull(preference, "the preference");
    apuBoost = boost;
    return this;
  }

  /** The clock of the HTP. Default: BURST. */
  public MaceEngineConfig setHtpPerformance(HtpPerformance performance) {
    htpPerformance = MaceException.notNull(performance, "the performance");
    return this;
  }

  /**
   * The most memory in bytes that the engine may hold: intermediate tensors with scratch memory,
   * weights, and states. Creating an engine that needs more, or a run that does, throws a
   * MaceException with the code OUT_OF_RESOURCES, which tells the bytes. 0: any, the default.
   */
  public MaceEngineConfig setMemoryLimit(long bytes) {
    if (bytes < 0) {
      throw MaceException.invalid("setMemoryLimit: " + bytes + " bytes; 0, any, is the lowest");
    }
    memoryLimit = bytes;
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

  private static long ordinal(Enum<?> value) {
    return value == null ? -1 : value.ordinal();
  }

  /** In the order of `enum Setting` in mace_jni.cc. */
  long[] settings() {
    long[] fixed = {threads, ordinal(affinity), performance.ordinal(), priority.ordinal(),
        outOfRangeCheck ? 1 : 0, weightsCheck ? 1 : 0, fakeWarmup ? 1 : 0, memoryLimit,
        cacheReuse ? 1 : 0, hexagonUnsigned ? 1 : 0, ordinal(hexagonCorner), hexagonDcvs ? 1 : 0,
        hexagonLatency, ordinal(acceleratorCache), apuBoost, ordinal(apuPreference),
        ordinal(htpPerformance), binaryPaths.size()};
    int count = fixed.length;
    for (RuntimeType[] types : runtimes.values()) count += 1 + types.length;
    long[] all = Arrays.copyOf(fixed, count);
    int used = fixed.length;
    for (RuntimeType[] types : runtimes.values()) {
      all[used++] = types.length;
      for (RuntimeType type : types) all[used++] = type.number;
    }
    return all;
  }

  /** In the order of `enum Text` in mace_jni.cc. */
  byte[][] texts() {
    List<byte[]> all = new ArrayList<>();
    for (String path : new String[] {
             storagePath, parameterPath, cachePath, acceleratorBinary, acceleratorStorage}) {
      all.add(path.getBytes(StandardCharsets.UTF_8));
    }
    all.add(binary);
    all.add(parameter);
    for (String path : binaryPaths) all.add(path.getBytes(StandardCharsets.UTF_8));
    for (String subgraph : runtimes.keySet()) all.add(subgraph.getBytes(StandardCharsets.UTF_8));
    return all.toArray(new byte[0][]);
  }
}
