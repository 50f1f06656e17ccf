// SPDX-License-Identifier: Apache-2.0
// Well-known names of runtimes and C libraries: functions that collect garbage, take locks, or allocate. They are the
// outermost or the telling ones; whatever they call counts with them.

const garbage = [
  /* Go */ String.raw`^runtime\.(gcBgMarkWorker|gcDrain\w*|gcAssistAlloc\w*|gcStart|gcMarkDone|gcMarkTermination|bgsweep|bgscavenge|sweepone|scanobject|markroot|gcWriteBarrier\d*|wbBufFlush\w*|\(\*gcWork\)\.\w+)(\.|$)`,
  /* JVM */ String.raw`\b(G1(CollectedHeap|ParTask|ParScanThreadState|ConcurrentMark|CMTask|RemSet|YoungCollector|FullCollector|EvacuateRegions|Concurrent\w+)|ParallelScavengeHeap|PSPromotionManager|PSParallelCompact|GenCollectedHeap|DefNewGeneration|SerialHeap|ZMark|ZRelocate|ZDriver\w*|ZCollectedHeap|ShenandoahHeap|ShenandoahConcurrent\w+|GCTaskThread|VM_(G1|GenCollect|CollectForAllocation)\w*)(::|$)`,
  /* CPython */ String.raw`^(gc_collect_main|gc_collect_generations|gc_collect_region|deduce_unreachable|subtract_refs|move_unreachable|_PyGC_Collect\w*|PyGC_Collect|gc\.collect)$`,
  /* V8 */ String.raw`v8::internal::(Heap::(CollectGarbage|Scavenge|MarkCompact|PerformGarbageCollection)|MarkCompactCollector|MinorMarkSweep|Scavenger|ScavengerCollector|ConcurrentMarking|MainMarkingVisitor|Sweeper|IncrementalMarking)|^\(garbage collector\)$`,
  /* Ruby, PHP, .NET, BEAM, Lua, OCaml, Perl */ String.raw`^(gc_(marks?|sweep|start|enter|mark_children|marks_rest|sweep_step)|rb_gc\w*|garbage_collect|zend_gc_\w+|gc_possible_root|erts_garbage_collect\w*|luaC_\w+|lj_gc_\w+|caml_(major_collection|minor_collection|empty_minor_heap|gc_dispatch)\w*)$`,
  String.raw`\b(WKS|SVR)::(gc_heap|GCHeap)::`,
];

const locks = [
  /* glibc, C++ */ String.raw`^_*(pthread_(mutex_(lock|timedlock|cond_lock)\w*|rwlock_(rd|wr)lock\w*|spin_lock)|GI___pthread_mutex_lock|lll_(lock_wait|mutex_lock)\w*|futex_(wait|abstimed_wait|lock_pi)\w*)$`,
  String.raw`^(std::(__1::)?(recursive_|shared_)?mutex::lock|absl::.*Mutex::(Lock|ReaderLock)|folly::.*Mutex\w*::lock)\w*`,
  /* Linux */ String.raw`^(do_futex|futex_wait|futex_wait_queue|futex_wake|futex_hash|native_queued_spin_lock_slowpath|queued_(read|write)_lock_slowpath|_raw_spin_lock\w*|mutex_lock|__mutex_lock\w*|osq_lock|rwsem_(down_\w+|optimistic_spin)|(down|up)_(read|write)\w*|rt_spin_lock)$`,
  /* Go */ String.raw`^(sync\.\(\*(RW)?Mutex\)\.\w*(Lock|lockSlow|RLock)\w*|internal/sync\.\(\*Mutex\)\.\w+|runtime\.(lock2|semacquire1|lockWithRank))$`,
  /* JVM, .NET */ String.raw`\b(ObjectMonitor::(enter|EnterI|TrySpin\w*)|ObjectSynchronizer::enter|Unsafe_Park|java\.util\.concurrent\.locks\.\S+(lock|acquire\w*|park)|System\.Threading\.Monitor\.(Enter|ReliableEnter)\w*)\b`,
  /* CPython, Rust */ String.raw`^(take_gil|PyMutex_LockTimed|_PyMutex_\w+|acquire_timed|lock_PyThread_acquire_lock)$|\b(parking_lot\S*::lock\w*|std::sys::\S*futex::(Mutex|RwLock)::lock_contended)`,
];

const allocation = [
  /* malloc and friends */ String.raw`^_*(libc_)?(malloc|calloc|realloc|reallocarray|free|cfree|memalign|posix_memalign|aligned_alloc|int_malloc|int_free\w*|int_realloc|sysmalloc|systrim|malloc_consolidate|unlink_chunk\w*|tcache_\w+|GI___libc_(malloc|free|calloc|realloc))(\.\w+)*$`,
  String.raw`^operator (new|delete)|^_Zn[wa]|^_Zd[la]|^(je_|mi_|tc_|tcmalloc::|scudo)\w*(malloc|free|alloc|new|delete)\w*`,
  /* Go */ String.raw`^runtime\.(mallocgc\w*|newobject|newarray|makeslice\w*|growslice|makemap\w*|makechan|concatstrings?\d*|rawstring\w*|rawbyteslice|slicebytetostring|stringtoslicebyte)$`,
  /* CPython */ String.raw`^_*(PyObject_(Malloc|Calloc|Realloc|Free)|PyMem_\w*(Malloc|Calloc|Realloc|Free)|pymalloc_(alloc|free)|PyObject_GC_(New|NewVar|Del)|PyType_GenericAlloc|gc_alloc)$`,
  /* JVM, V8, Rust, Ruby, PHP */ String.raw`\b(MemAllocator::\w+|CollectedHeap::\w*allocate\w*|OptoRuntime::new_\w+|InterpreterRuntime::_?\w*new\w*|v8::internal::(Factory|Heap|HeapAllocator)\w*::(Allocate|New)\w*|__rustc?::?_*rust_(alloc|dealloc|realloc)\w*|__rust_(alloc|dealloc|realloc)\w*|__rdl_\w+|alloc::raw_vec::\w*|newobj_\w+|_?e(malloc|free|realloc)|zend_mm_\w+)`,
];

export type RuntimeWork = "garbage" | "locks" | "allocation";

const patterns: Record<RuntimeWork, RegExp> = {
  garbage: new RegExp(garbage.join("|")),
  locks: new RegExp(locks.join("|")),
  allocation: new RegExp(allocation.join("|")),
};

/** Whether a function of this name does this work for the runtime. */
export function isRuntimeWork(work: RuntimeWork, name: string): boolean {
  return name.length < 1000 && patterns[work].test(name);
}
