/** Finds the thing that an id names, over every kind that the capabilities declare. */
import { Refusal } from '../common/fault.ts';
import type { Thing, ThingKind, ThingKindName, ThingReader } from './thing.ts';
import { matchTemplate, placeOfUri, type Variables } from './uri.ts';

/** An id that has the form of one of the kinds. */
export interface NamedThing {
  readonly kind: ThingKindName;
  /** As in `Thing`. */
  readonly key: string;
}

export class Things {
  readonly #reader: ThingReader;
  readonly #kinds: readonly ThingKind[];

  constructor(reader: ThingReader, kinds: readonly ThingKind[]) {
    this.#reader = reader;
    this.#kinds = kinds;
  }

  /** What an id names, existing or not. Throws Refusal `not_found` when it has the form of no id. */
  name(accountId: string, id: string): NamedThing {
    const forms = this.#kinds.map((one) => ({
      templates: one.templates,
      placeOf: (variables: Variables): NamedThing | undefined => {
        const key = one.find(this.#reader, accountId, variables);
        return key === undefined ? undefined : { kind: one.kind, key };
      },
    }));
    const named = placeOfUri(forms, id);
    if (named === undefined) throw noThing(id, this.#kinds);
    return named;
  }

  /** Reads the thing with an id. Throws Refusal `not_found`. */
  open(accountId: string, id: string): Thing {
    const { kind, key } = this.name(accountId, id);
    const thing = this.read(accountId, kind, key);
    if (thing === undefined) throw noThing(id, this.#kinds);
    return thing;
  }

  /** Reads a thing by its kind and key; undefined when there is none. */
  read(accountId: string, kind: ThingKindName, key: string): Thing | undefined {
    return this.#kinds.find((one) => one.kind === kind)?.read(this.#reader, accountId, key);
  }
}

/** Says whether the id has a wrong form, or names nothing. */
function noThing(id: string, kinds: readonly ThingKind[]): Refusal {
  const next = 'search finds ids';
  const templates = kinds.flatMap((kind) => kind.templates);
  if (templates.some((one) => matchTemplate(one, id) !== undefined))
    return new Refusal({ kind: 'not_found', what: 'nothing has this id, or it is in the trash', next });
  const forms = templates.join(', ');
  return new Refusal({ kind: 'not_found', what: `this is no id; ids have the forms ${forms}`, next });
}
