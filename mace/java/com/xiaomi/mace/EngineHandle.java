// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/**
 * The native engine behind a MaceEngine. Frees it when that is closed or, if nobody closes it, when
 * the garbage collector has found it and the next engine is created.
 */
final class EngineHandle extends PhantomReference<MaceEngine> {
  private static final ReferenceQueue<MaceEngine> LOST = new ReferenceQueue<>();
  // A reference that nobody reaches is never put into its queue.
  private static final Set<EngineHandle> ALL = Collections.synchronizedSet(new HashSet<>());

  /** Held by whoever uses the engine; a tutor and its pupils have one. */
  final Object lock;

  // Buffers of the model, and the tutor's, which the native engine refers to.
  private Object[] kept;
  private volatile long address;

  EngineHandle(MaceEngine owner, long address, Object lock, Object... kept) {
    super(owner, LOST);
    this.address = address;
    this.lock = lock;
    this.kept = kept;
    ALL.add(this);
  }

  static void freeLost() {
    for (Reference<?> lost = LOST.poll(); lost != null; lost = LOST.poll()) {
      ((EngineHandle) lost).free();
    }
  }

  void free() {
    synchronized (lock) {
      if (address != 0)
        MaceNative.destroy(address);
      address = 0;
      kept = null;
    }
    ALL.remove(this);
  }

  boolean isFree() {
    return address == 0;
  }

  /** The engine, for a caller that holds the lock. */
  long address() {
    if (address == 0)
      throw MaceException.invalid("the engine is closed");
    return address;
  }
}
