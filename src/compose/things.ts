/** Lists every kind of thing that has an id. */
import { devDocThings } from '../documents/dev-docs/thing.ts';
import { handoffThings } from '../documents/handoffs/thing.ts';
import { paperThings } from '../documents/papers/thing.ts';
import type { ThingKind } from '../ids/thing.ts';
import { backupThings } from '../mirror/groups/thing.ts';
import { fileThings } from '../sync/tools/thing.ts';
import { categoryExists } from '../tasks/categories.ts';
import { taskThings } from '../tasks/thing.ts';

export const thingKinds: readonly ThingKind[] = [
  taskThings,
  devDocThings,
  handoffThings,
  paperThings(categoryExists),
  fileThings,
  backupThings,
];
