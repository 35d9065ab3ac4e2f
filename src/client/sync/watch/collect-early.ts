/** Keeps the heap of a program small that goes on for hours. */
import { setFlagsFromString } from 'node:v8';

/**
 * Collects garbage earlier than V8 would, which lets the heap of a program that goes on for hours grow to some three times of what it
 * holds, and its part for new objects to 32 MiB. To be called in each new thread as well: V8 raises the second to its least default
 * in the whole process whenever a thread starts.
 */
export function collectEarly(): void {
  setFlagsFromString('--heap-growing-percent=40');
  setFlagsFromString('--semi-space-growth-factor=1');
  // Other threads of V8 would take part in each collection of young objects: to divide so little work costs more than it saves.
  setFlagsFromString('--no-parallel-scavenge');
}
