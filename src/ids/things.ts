/** Finds the thing that an id names, over every kind that the capabilities declare. */
import { Refusal } from '../common/fault.ts';
import type { Thing, ThingKind, ThingKindName, ThingReader } from './thing.ts';
import { matchTemplate, type Variables } from './uri.ts';

/** A kind whose form an id has, with what the id says. */
interface Form {
  readonly kind: ThingKind;
  readonly variables: Variables;
}

export class Things {
  readonly #reader: ThingReader;
  readonly #kinds: readonly ThingKind[];

  constructor(reader: ThingReader, kinds: readonly ThingKind[]) {
    this.#reader = reader;
    this.#kinds = kinds;
  }

  /**
   * Opens the thing with an id. `version`: undefined for the current one. Throws Refusal `not_found`, and as
   * `ThingKind.read` does.
   */
  open(accountId: string, id: string, version?: number): Thing {
    const forms = this.#kinds.flatMap((kind) =>
      kind.templates.flatMap((template): Form[] => {
        const variables = matchTemplate(template, id);
        return variables === undefined ? [] : [{ kind, variables }];
      }),
    );
    return this.#open(accountId, forms, version);
  }

  /** As `open`, by what an id of a kind says. */
  openNamed(accountId: string, name: ThingKindName, variables: Variables, version?: number): Thing {
    const forms = this.#kinds.filter(({ kind }) => kind === name).map((kind) => ({ kind, variables }));
    return this.#open(accountId, forms, version);
  }

  #open(accountId: string, forms: readonly Form[], version: number | undefined): Thing {
    const reader = this.#reader;
    for (const { kind, variables } of forms) {
      const key = kind.find(reader, accountId, variables);
      const thing = key === undefined ? undefined : kind.read(reader, accountId, key, version);
      if (thing !== undefined) return thing;
    }
    for (const { kind, variables } of forms) {
      const unknown = kind.unknown?.(reader, accountId, variables);
      if (unknown !== undefined) throw unknown;
    }
    throw this.#nothing(forms.length > 0);
  }

  #nothing(isId: boolean): Refusal {
    const templates = this.#kinds.flatMap((kind) => kind.templates).join(', ');
    const what = isId
      ? 'nothing has this id, or it is in the trash (restore brings it back)'
      : `this is no id; ids have the forms ${templates}`;
    return new Refusal({ kind: 'not_found', what, next: 'search finds ids' });
  }
}
