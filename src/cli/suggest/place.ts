/** Decides what is being typed, for completion: which kind of value belongs at the end of a line. Pure. */
import { type Completes, type FoundCommand, placeAt, plainPlace } from '../command.ts';

export interface TypedPlace {
  readonly completes: Completes;
  /** Values of the options that are typed already, by name without the dashes. */
  readonly options: Readonly<Record<string, string>>;
  /** The operands before. */
  readonly operands: readonly string[];
}

/** What belongs after a command and its words; undefined when it is an option, or no value that anybody knows. */
export function typedPlace({ command, rest }: FoundCommand, typed: string): TypedPlace | undefined {
  const { completes = {}, options: known = [], operands: places = [] } = command;
  const takesValue = (word: string) => known.some(({ name }) => `--${name}` === word);
  const options: Record<string, string> = {};
  const operands: string[] = [];
  let open: string | undefined;
  for (const word of rest) {
    if (open !== undefined) options[open] = word;
    else if (!word.startsWith('-')) operands.push(word);
    open = open === undefined && takesValue(word) ? word.slice(2) : undefined;
  }
  if (open === undefined && typed.startsWith('-')) return undefined;
  const kind = completes[open ?? plainPlace(placeAt(places, operands.length) ?? '')];
  return kind === undefined ? undefined : { completes: kind, options, operands };
}
