/**
 * Sets how V8's garbage collector works in this process; imported for that effect only, before anything is compiled.
 *
 * V8 watches which literals of the code make long-lived objects and allocates those in the old generation at once
 * ("allocation-site pretenuring"). A burst, in which every request waits for the disk, teaches it that what belongs to a
 * request lives long. From then on each request leaves old objects, these keep young ones until the next full collection,
 * and half of the main thread's time went into copying them. Without it the collector's share is a twentieth.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-allocation-site-pretenuring');
