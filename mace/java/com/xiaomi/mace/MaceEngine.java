// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.io.Closeable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A loaded model.
 *
 * <pre>
 * try (MaceEngine engine = MaceEngine.create(MaceModel.fromFiles("m.pb", "m.data"))) {
 *   MaceTensor image = engine.getInputs().get("image").allocate();
 *   image.getFloats().put(pixels);
 *   float[] probability =
 *       engine.run(Collections.singletonMap("image", image)).get("probability").toFloatArray();
 * }
 * </pre>
 *
 * <p>{@link #run(Map, Map)} writes to buffers of the caller, so that a run allocates nothing.
 *
 * <p>Every function may be called from any thread; calls on one engine wait for each other. A run
 * takes long: don't call it from the thread that draws. Close engines: their memory is not part of
 * Java's heap, so that the garbage collector does not know when it runs short.
 */
public final class MaceEngine implements Closeable {
  private final EngineHandle handle;

  private MaceEngine(long address, Object lock, Object[] kept) {
    handle = new EngineHandle(this, address, lock, kept);
  }

  /** With all inputs and outputs of the model, on the CPU. */
  public static MaceEngine create(MaceModel model) {
    return create(model, new MaceEngineConfig());
  }

  /** With all inputs and outputs of the model. */
  public static MaceEngine create(MaceModel model, MaceEngineConfig config) {
    return create(model, Collections.<String>emptyList(), Collections.<String>emptyList(), config);
  }

  /** With the inputs and outputs of these names; an empty collection means all. */
  public static MaceEngine create(MaceModel model,
      Collection<String> inputs,
      Collection<String> outputs,
      MaceEngineConfig config) {
    MaceException.notNull(model, "the model");
    MaceException.notNull(config, "the configuration");
    byte[][] inputNames = names(inputs, "input");
    byte[][] outputNames = names(outputs, "output");
    MaceNative.require();
    EngineHandle.freeLost();
    MaceEngine tutor = config.tutor();
    EngineHandle shared = tutor == null ? null : tutor.handle;
    Object lock = shared == null ? new Object() : shared.lock;
    synchronized (lock) {
      long address = MaceNative.create(model.parts(), inputNames, outputNames, config.settings(),
          config.texts(), shared == null ? 0 : shared.address());
      return new MaceEngine(address, lock, new Object[] {model, shared});
    }
  }

  private static byte[][] names(Collection<String> names, String what) {
    MaceException.notNull(names, "the collection of " + what + "s");
    byte[][] all = new byte[names.size()][];
    int count = 0;
    for (String name : names) {
      all[count++] =
          MaceException.notNull(name, "the name of an " + what).getBytes(StandardCharsets.UTF_8);
    }
    return all;
  }

  /** Version of the library, such as "1.0.0". */
  public static String getVersion() {
    MaceNative.require();
    return new String(MaceNative.version(), StandardCharsets.UTF_8);
  }

  /** The runtimes that the library has and that start on this device. */
  public static RuntimeType[] getRuntimeTypes() {
    MaceNative.require();
    int[] numbers = MaceNative.runtimes();
    RuntimeType[] types = new RuntimeType[numbers.length];
    for (int i = 0; i < types.length; ++i) types[i] = RuntimeType.fromNumber(numbers[i]);
    return types;
  }

  /** Runs the model: reads the inputs, and writes to the buffers of the outputs. */
  public void run(Map<String, MaceTensor> inputs, Map<String, MaceTensor> outputs) {
    run(inputs, outputs, null);
  }

  /** The same, and measures every operator, which costs a little. */
  public RunMetadata runWithMetadata(
      Map<String, MaceTensor> inputs, Map<String, MaceTensor> outputs) {
    Object[] metadata = new Object[2];
    run(inputs, outputs, metadata);
    return new RunMetadata(metadata);
  }

  private void run(
      Map<String, MaceTensor> inputs, Map<String, MaceTensor> outputs, Object[] metadata) {
    MaceException.notNull(inputs, "the map of inputs");
    MaceException.notNull(outputs, "the map of outputs");
    int count = inputs.size() + outputs.size();
    Ports ports = new Ports(count);
    ports.add(inputs, false);
    ports.add(outputs, true);
    long[][] shapes;
    synchronized (handle.lock) {
      shapes = MaceNative.run(handle.address(), ports.names, ports.memory, ports.shapes, metadata);
    }
    for (int i = 0; i < count; ++i) {
      if (shapes[i] != null)
        ports.tensors[i].setShape(shapes[i]);
    }
  }

  /** The inputs that a run takes, by name, with the shapes that the model declares. */
  public Map<String, TensorInfo> getInputs() {
    synchronized (handle.lock) {
      return TensorInfo.read(MaceNative.describe(handle.address(), null, null));
    }
  }

  /** The outputs of a run, by name; the model has to say the shapes of all inputs. */
  public Map<String, TensorInfo> getOutputs() {
    return getOutputs(Collections.<String, MaceTensor>emptyMap());
  }

  /**
   * The outputs of a run with inputs of these shapes, by name: the largest shapes where the run
   * determines them. Elements are not read, and what is left out has the shape that the model
   * declares.
   */
  public Map<String, TensorInfo> getOutputs(Map<String, MaceTensor> inputs) {
    MaceException.notNull(inputs, "the map of inputs");
    Ports ports = new Ports(inputs.size());
    ports.add(inputs, false);
    synchronized (handle.lock) {
      return TensorInfo.read(MaceNative.describe(handle.address(), ports.names, ports.shapes));
    }
  }

  /** Runs the model, and returns all outputs, in tensors of their own. */
  public Map<String, MaceTensor> run(Map<String, MaceTensor> inputs) {
    Map<String, MaceTensor> outputs = new LinkedHashMap<>();
    for (TensorInfo info : getOutputs(inputs).values()) {
      outputs.put(info.getName(), info.allocate());
    }
    run(inputs, outputs);
    return outputs;
  }

  /** The tensors of a run, as MaceNative.run takes them. */
  private static final class Ports {
    final MaceTensor[] tensors;
    final byte[][] names;
    final ByteBuffer[] memory;
    final long[][] shapes;
    private int used = 0;

    Ports(int count) {
      tensors = new MaceTensor[count];
      names = new byte[count][];
      memory = new ByteBuffer[count];
      shapes = new long[count][];
    }

    void add(Map<String, MaceTensor> ports, boolean output) {
      String what = output ? "output" : "input";
      for (Map.Entry<String, MaceTensor> port : ports.entrySet()) {
        String name = MaceException.notNull(port.getKey(), "the name of an " + what);
        MaceTensor tensor = MaceException.notNull(port.getValue(), what + " '" + name + "'");
        if (output && tensor.memory().isReadOnly()) {
          throw MaceException.invalid("the buffer of output '" + name + "' is read-only");
        }
        long[] shape = output ? tensor.room() : tensor.getShape();
        long[] numbers = Arrays.copyOf(shape, shape.length + 3);
        numbers[shape.length] = tensor.getType().number;
        numbers[shape.length + 1] = tensor.getFormat().ordinal();
        numbers[shape.length + 2] = output ? 1 : 0;
        tensors[used] = tensor;
        names[used] = name.getBytes(StandardCharsets.UTF_8);
        memory[used] = tensor.memory();
        shapes[used++] = numbers;
      }
    }
  }

  /** Frees the memory of intermediate tensors until the next run. */
  public void releaseIntermediateBuffer() {
    synchronized (handle.lock) {
      MaceNative.releaseIntermediateBuffer(handle.address());
    }
  }

  /** Sets all values that the model keeps from one run to the next to 0. */
  public void resetStates() {
    synchronized (handle.lock) {
      MaceNative.resetStates(handle.address());
    }
  }

  /** What runs where, one line for each operator. */
  public String explain() {
    synchronized (handle.lock) {
      return new String(MaceNative.explain(handle.address()), StandardCharsets.UTF_8);
    }
  }

  public EngineStats getStats() {
    synchronized (handle.lock) {
      return new EngineStats(MaceNative.stats(handle.address()));
    }
  }

  public boolean isClosed() {
    return handle.isFree();
  }

  /** Waits for a run that is in progress, and frees the engine. Closing it again has no effect. */
  @Override
  public void close() {
    handle.free();
  }
}
