/** Configures V8's garbage collector and the C library's allocator. Imported only for that effect, before other code. */
import { setFlagsFromString } from 'node:v8';
import { MessageChannel } from 'node:worker_threads';
import { limits } from '../limits/service.ts';

/*
 * V8 tracks which literals in the code create long-lived objects and allocates those directly in the old generation
 * ("allocation-site pretenuring"). In a burst, every request waits for the disk, so V8 learns that the objects of a
 * request are long-lived. From then on each request leaves old objects, which keep young ones alive until the next full
 * collection, and half of the main thread's time went into copying them. Without it the collector's share is a
 * twentieth.
 */
setFlagsFromString('--no-allocation-site-pretenuring');

/*
 * V8's own threads collect young objects beside the thread that made them, at the priority of the main thread, and for any
 * thread: beside a pool thread that makes much garbage, the main thread waited for a core mostly behind them. A thread
 * does it alone now. What survives a collection is little, so the main thread needs no more time for a request.
 */
setFlagsFromString('--no-parallel-scavenge');

/*
 * LMDB allocates a buffer for each large value and frees it after the commit. glibc returns such memory to the system,
 * and the next value pays for new pages: a fifth of the time of the store's thread during large uploads. glibc adapts
 * its threshold to the largest block it had to map and that was freed (mallopt(3), M_MMAP_THRESHOLD), so one such block
 * is allocated and freed here, without ever touching it. Afterwards a thread keeps up to twice its size: a commit and the next.
 */
const { port1, port2 } = new MessageChannel();
// Closing the receiving port frees its messages, without waiting for the garbage collector.
port1.postMessage(undefined, [new ArrayBuffer(2 * limits.stagingBytesMax)]);
port2.close();
