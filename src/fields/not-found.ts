/** The refusals of a record that a tool does not find, each with the tool that leads on. */
import { Refusal } from '../common/fault.ts';

/** `listTool` lists the records. */
export function recordNotFound(what: string, listTool: string): Refusal {
  return new Refusal({ kind: 'not_found', what, next: `${listTool} lists all` });
}

/** `updateTool` restores the record. */
export function recordInTrash(what: string, updateTool: string): Refusal {
  const next = `it is in the trash; ${updateTool} with restore: true brings it back`;
  return new Refusal({ kind: 'not_found', what, next, isInTrash: true });
}

/** Refusal of a change over REST of a record in the trash. `one`: what it is. */
export function changeInTrash(one: string): Refusal {
  const what = `${one} not found: it is in the trash, where PATCH with restore: true brings it back`;
  return new Refusal({ kind: 'not_found', what, isInTrash: true });
}
