/** Reads and writes the ids by which agents name things: `cairn://…`, or the path of a file in the primary vault. Pure. */
import { invalidField } from '../../common/fault.ts';

/** A dev doc by its number, or by its name. */
export type DocName = { readonly id: number } | { readonly category: string; readonly title: string };

/** One handoff by its number, or the latest of a topic. */
export type HandoffRef = { readonly id: number } | { readonly project: string; readonly topic: string };

export type ThingPlace =
  | { readonly kind: 'task'; readonly id: number }
  | ({ readonly kind: 'doc' } & DocName)
  | ({ readonly kind: 'handoff' } & HandoffRef)
  /** Undefined id: a paper to be created. */
  | { readonly kind: 'paper'; readonly id: number | undefined }
  | { readonly kind: 'conflict'; readonly id: string }
  /** `vault`: an id or a name; undefined: the primary one. `path` is empty for the whole vault. */
  | { readonly kind: 'file'; readonly vault: string | undefined; readonly path: string };

const SCHEME = 'cairn://';
const FORMS =
  'cairn://docs/{category}/{title}, cairn://handoffs/{project}/{topic}, cairn://papers/{number}, cairn://tasks/{number}, cairn://vaults/{vault}/{path}, or a path in the primary vault';

/** Throws Refusal `invalid_fields` (`field`) for an id of no known form. */
export function thingPlaceOf(id: string, field = 'id'): ThingPlace {
  if (!id.startsWith(SCHEME)) return { kind: 'file', vault: undefined, path: id.replace(/^\/+/, '') };
  const [room = '', ...rest] = id.slice(SCHEME.length).split('/');
  const parts = rest.map(decoded);
  const place = parts.every((part) => part !== undefined) ? placeIn(room, parts) : undefined;
  if (place !== undefined) return place;
  throw invalidField(field, `${field} must be one of ${FORMS}; search and list show ids`);
}

function placeIn(room: string, parts: readonly string[]): ThingPlace | undefined {
  const [first = '', second = ''] = parts;
  const number = parts.length === 1 && /^[1-9]\d{0,14}$/.test(first) ? Number(first) : undefined;
  const isName = parts.length === 2 && first !== '' && second !== '';
  switch (room) {
    case 'tasks':
      return number === undefined ? undefined : { kind: 'task', id: number };
    case 'papers':
      return number !== undefined || first === 'new' ? { kind: 'paper', id: number } : undefined;
    case 'docs':
      if (number !== undefined) return { kind: 'doc', id: number };
      return isName ? { kind: 'doc', category: first, title: second } : undefined;
    case 'handoffs':
      if (number !== undefined) return { kind: 'handoff', id: number };
      return isName ? { kind: 'handoff', project: first, topic: second } : undefined;
    case 'conflicts':
      return parts.length === 1 && first !== '' ? { kind: 'conflict', id: first } : undefined;
    case 'vaults':
      return first === '' ? undefined : { kind: 'file', vault: first, path: parts.slice(1).join('/') };
    default:
      return undefined;
  }
}

/** Undefined when the percent-encoding is invalid. */
function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

export function taskUri(id: number): string {
  return `${SCHEME}tasks/${id}`;
}

/** The id of one handoff, also when a later one has the same topic. */
export function handoffId({ id }: { readonly id: number }): string {
  return `${SCHEME}handoffs/${id}`;
}

export function conflictUri(id: string): string {
  return `${SCHEME}conflicts/${id}`;
}
