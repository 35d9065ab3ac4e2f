/** Many merges and diffs beside git's own, and what must hold for any of them. */
import { besideGit } from './beside-git.ts';
import { mergeProperties } from './merge-properties.ts';

besideGit({ merges: 2000, diffs: 600 });
mergeProperties(3000);
