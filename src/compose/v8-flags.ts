/**
 * Configures V8's garbage collector in this process. Imported only for that effect, before any code is compiled.
 *
 * V8 tracks which literals in the code create long-lived objects and allocates those directly in the old generation
 * ("allocation-site pretenuring"). In a burst, every request waits for the disk, so V8 learns that the objects of a
 * request are long-lived. From then on each request leaves old objects, which keep young ones alive until the next full
 * collection, and half of the main thread's time went into copying them. Without it the collector's share is a
 * twentieth.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-allocation-site-pretenuring');
