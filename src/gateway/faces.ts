/** Decides which tools a list shows, and in what form: the two faces of one gateway. Pure. */
import { invalidField } from '../common/fault.ts';
import { isForReaders, TOOL_SETS, type Tool, type ToolSet } from './tool.ts';

export interface Face {
  /** Only tools of these sets; undefined: all. */
  readonly sets: readonly ToolSet[] | undefined;
  /** Only tools that read. */
  readonly readOnly: boolean;
  /** `whole`: with output schemas, for programs; `models`: as short as possible. */
  readonly form: 'whole' | 'models';
}

/** A door of the gateway: for programs, with whole results, or for models. */
export type Door = Pick<Face, 'form' | 'sets'>;

/** A door with sets of its own. */
export interface OwnDoor extends Door {
  readonly sets: readonly ToolSet[];
}

/** The door for programs: every set but that of models, which is listed on request. */
export const PROGRAM_DOOR: OwnDoor = { form: 'whole', sets: TOOL_SETS.filter((set) => set !== 'models') };
/** The door for models: their own tools. */
export const MODEL_DOOR: OwnDoor = { form: 'models', sets: ['models'] };

/** A door with the sets of `?toolsets=` too. Throws Refusal `invalid_fields`. */
export function doorWith({ form, sets }: OwnDoor, query: URLSearchParams): Door {
  return { form, sets: withAsked(sets, query) };
}

/** The sets and those asked for; undefined: all. Throws Refusal `invalid_fields` for an unknown one. */
function withAsked(own: readonly ToolSet[], query: URLSearchParams): readonly ToolSet[] | undefined {
  const asked = query
    .getAll('toolsets')
    .flatMap((value) => value.split(','))
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '');
  if (asked.includes('all')) return undefined;
  const known: readonly string[] = TOOL_SETS;
  const unknown = asked.filter((one) => !known.includes(one));
  if (unknown.length > 0) {
    const sentence = `toolsets has no set ${unknown.join(', ')}; there are ${TOOL_SETS.join(', ')} and all`;
    throw invalidField('toolsets', sentence);
  }
  return TOOL_SETS.filter((set) => own.includes(set) || asked.includes(set));
}

/** A caller without a credential sees all: it decides with them whether to sign up. */
export function isListed(tool: Tool, face: Face): boolean {
  const { sets = [], access } = tool;
  if (face.sets !== undefined && !sets.some((set) => face.sets?.includes(set))) return false;
  return !face.readOnly || isForReaders(tool) || access === 'open';
}
