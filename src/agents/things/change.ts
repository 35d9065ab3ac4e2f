/**
 * ThingChanges things by their ids. The version that was read guards each change: a document by its version, a file by its
 * hash. ThingChanges of one thing made here follow one another, so that none of them meets another.
 */
import { planOnce } from '../../actors/once/calls.ts';
import { attempt } from '../../common/attempt.ts';
import { invalidField, Refusal } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { devDocChange, newDevDoc } from '../../documents/dev-docs/fields.ts';
import { docUri } from '../../documents/dev-docs/uri.ts';
import { newHandoff } from '../../documents/handoffs/fields.ts';
import { handoffId } from '../../documents/handoffs/thing.ts';
import { newPaper, paperChange } from '../../documents/papers/fields.ts';
import { paperUri } from '../../documents/papers/resources.ts';
import { readFields } from '../../fields/read.ts';
import { limits } from '../../limits/service.ts';
import { liveFile } from '../../sync/log/file-record.ts';
import { checkPath } from '../../sync/log/paths.ts';
import { fileUri } from '../../sync/tools/uri.ts';
import { foldCase } from '../../text/fold-case.ts';
import { categoryOf } from './category.ts';
import { applyEdit, type EditedText, type EditRequest } from './edit.ts';
import { folderNote, inExistingFolder } from './existing-folder.ts';
import { type PlaceInVault, type ThingPlace, thingPlaceOf } from './ids.ts';
import { isBareId, meantPlace } from './meant.ts';
import { fileName, handoffOf, openThingAt, referenceOf, vaultOf } from './open.ts';
import type { OpenedThing, Shelves, Written } from './thing.ts';

export interface EditDone extends Omit<EditedText, 'text'> {
  readonly written: Written;
}

/** What a paper has besides its text; the category by its name, empty or null for none. */
export interface PaperParts {
  readonly title?: string;
  readonly category?: string | null;
  readonly published?: boolean;
}

/** The version that a change replaces. */
type Base = Pick<OpenedThing, 'id' | 'version' | 'sha256'>;

function baseOf({ id, version, sha256 }: OpenedThing): Base {
  return { id, version, ...(sha256 === undefined ? {} : { sha256 }) };
}

export class ThingChanges {
  readonly #shelves: Shelves;
  /** The last change of each thing that is being changed. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(shelves: Shelves) {
    this.#shelves = shelves;
  }

  /**
   * Edits a text. `version`: the one that the caller read; undefined: any. Throws Refusal `invalid_fields` when the edit
   * does not match, and as `openThingAt` and the writes of the capabilities do.
   */
  async edit(by: Principal, id: string, request: EditRequest, version?: number): Promise<EditDone> {
    const place = thingPlaceOf(id);
    return await this.#inTurn(by.accountId, place, async () => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await planOnce(
            ['edit'],
            () => this.#edited(by.accountId, place, request, version),
            async ({ before, ...edited }) => {
              const { text, changes, line, now, gone } = edited;
              const written: Written =
                text === undefined
                  ? { id: before.id, version: before.version, status: 'unchanged' }
                  : await this.#replace(by, place, before, text);
              return {
                changes,
                line,
                written,
                ...(now === undefined ? {} : { now }),
                ...(gone === undefined ? {} : { gone }),
              };
            },
          );
        } catch (error) {
          // Changed since it was read a moment ago: apply the edit to what is there now.
          const isStale = error instanceof Refusal && error.fault.kind === 'stale_version';
          if (!isStale || version !== undefined || tries >= limits.editTriesMax) throw error;
        }
      }
    });
  }

  /** The text after an edit, and the version it was made of. The text is undefined when it is the same as before. */
  async #edited(accountId: string, place: ThingPlace, request: EditRequest, version: number | undefined) {
    const before = await this.#toEdit(accountId, place);
    checkVersion(before, version);
    if (before.text === undefined)
      throw invalidField('id', `${before.id} is not text; only a client with its bytes can change it`);
    if (place.kind === 'task') throw invalidField('id', 'change_tasks changes tasks');
    if (place.kind === 'conflict') throw invalidField('id', 'settle_conflict settles conflicts');
    const { text, ...edited } = applyEdit(before.text, request);
    return { before: baseOf(before), text: text === before.text ? undefined : text, ...edited };
  }

  /** What an edit changes. Throws Refusal; that of what can be new names the tool that makes it, also beside a like name. */
  async #toEdit(accountId: string, place: ThingPlace): Promise<OpenedThing> {
    const opened = await attempt(() => openThingAt(this.#shelves, accountId, place));
    if (opened.ok) return opened.value;
    const { fault } = opened;
    if (fault.kind !== 'not_found' || !canBeNew(place)) throw new Refusal(fault);
    const next = [...(fault.next === undefined ? [] : [fault.next]), 'write makes a new one'].join('; ');
    throw new Refusal({ ...fault, next });
  }

  /**
   * Creates a thing, or replaces the version that the caller read; a paper also gets other fields. Throws Refusal
   * `stale_version` for another version.
   */
  async write(
    by: Principal,
    id: string,
    { text, ofPaper = {} }: { readonly text?: string | undefined; readonly ofPaper?: PaperParts },
    version: number | undefined,
  ): Promise<Written> {
    const place = thingPlaceOf(id);
    const parts = Object.entries(ofPaper);
    if (place.kind === 'paper' && parts.length > 0)
      return await this.#writePaper(by, place.id, { text, ofPaper }, version);
    // No category is what all others have.
    const [part] = parts.find(([, value]) => value !== null) ?? [];
    if (part !== undefined) throw invalidField(part, `${part} is only for papers`);
    if (text === undefined) throw invalidField('content', 'content is required');
    return await this.#inTurn(by.accountId, place, () =>
      planOnce(
        ['write'],
        () => this.#toReplace(by.accountId, place, id, text, version),
        async ({ before, isSame }): Promise<Written> => {
          if (before === undefined) return await this.#create(by, place, text);
          return isSame
            ? { id: before.id, version: before.version, status: 'unchanged' }
            : await this.#replace(by, place, before, text);
        },
      ),
    );
  }

  /** Creates a paper, or changes its fields, with a new text or as it is. */
  async #writePaper(
    by: Principal,
    id: number | undefined,
    { text, ofPaper: { category, ...parts } }: { readonly text?: string | undefined; readonly ofPaper: PaperParts },
    version: number | undefined,
  ): Promise<Written> {
    const { papers, tasks, nameOf } = this.#shelves;
    // Only now: a refused call leaves no category behind.
    const named = async () =>
      category === undefined ? {} : { category_id: (await categoryOf(tasks, by, category ?? undefined)) ?? null };
    if (id === undefined) {
      if (text === undefined) throw invalidField('content', 'content is required for a new paper');
      return await this.#newPaper(by, text, { ...parts, ...(await named()) });
    }
    return await planOnce(
      ['publish'],
      () => {
        const { version: now, updated_at: before } = papers.get(by.accountId, id).paper;
        const what = `${paperUri(id)} exists (version ${now}); write with version: ${now} to replace its text`;
        if (text !== undefined && version === undefined) throw stale(what, 0, now);
        return { now, before };
      },
      async ({ now, before }): Promise<Written> => {
        const content = text === undefined ? {} : { content: text };
        const expected = version === undefined ? {} : { expected_version: version };
        const change = readFields(paperChange, { ...content, ...expected, ...parts, ...(await named()) });
        const { paper } = await papers.patch(by.accountId, id, change, nameOf(by));
        const isSame = paper.version === now && paper.updated_at === before;
        return { id: paperUri(id), version: paper.version, status: isSame ? 'unchanged' : 'updated' };
      },
    );
  }

  async #newPaper(by: Principal, content: string, parts: Omit<PaperParts, 'category'> = {}): Promise<Written> {
    const { papers, nameOf } = this.#shelves;
    const fields = { title: parts.title ?? titleOf(content), content, ...parts };
    const { paper } = await papers.create(by.accountId, readFields(newPaper, fields), nameOf(by));
    return { id: paperUri(paper.id), version: paper.version, status: 'created' };
  }

  /** What a write replaces; undefined: nothing, so it creates. Throws Refusal `stale_version`. */
  async #toReplace(accountId: string, place: ThingPlace, id: string, text: string, version: number | undefined) {
    const before = await this.#existing(accountId, place);
    if (before === undefined) {
      if (version !== undefined) throw stale(`${id} is not there; write without version creates it`, version, 0);
      return { before, isSame: false };
    }
    const isSame = before.text === text;
    if (!isSame && version === undefined) {
      const what = `${before.id} exists (version ${before.version}, ${before.sizeBytes} bytes, changed ${before.changedAt}); nothing was written. Read it, then edit it, or write with version: ${before.version} to replace it`;
      throw stale(what, 0, before.version);
    }
    if (!isSame) checkVersion(before, version);
    return { before: baseOf(before), isSame };
  }

  async #existing(accountId: string, place: ThingPlace): Promise<OpenedThing | undefined> {
    if (place.kind === 'paper' && place.id === undefined) return undefined;
    if (place.kind === 'task') throw invalidField('id', 'add_tasks and change_tasks write tasks');
    if (place.kind === 'conflict') throw invalidField('id', 'settle_conflict settles conflicts');
    try {
      return await openThingAt(this.#shelves, accountId, place);
    } catch (error) {
      if (!(error instanceof Refusal) || error.fault.kind !== 'not_found') {
        // An unknown category is created with its first document.
        const isNewCategory = place.kind === 'doc' && error instanceof Refusal && error.fault.kind === 'invalid_fields';
        if (!isNewCategory) throw error;
      }
      if (place.kind === 'paper') throw error;
      return undefined;
    }
  }

  async #create(by: Principal, place: ThingPlace, content: string): Promise<Written> {
    const { docs, handoffs, nameOf } = this.#shelves;
    const { accountId } = by;
    const name = nameOf(by);
    switch (place.kind) {
      case 'doc': {
        if (!('title' in place)) throw invalidField('id', 'a new dev doc needs cairn://docs/{category}/{title}');
        const { category, title } = place;
        const made = await docs.create(
          accountId,
          readFields(newDevDoc, { title, category, content, create_category: true }),
          name,
        );
        return { id: docUri(made), version: made.version, status: 'created' };
      }
      case 'handoff': {
        if (!('project' in place)) throw invalidField('id', 'a new handoff needs cairn://handoffs/{project}/{topic}');
        const { project, topic } = place;
        const made = await handoffs.save(
          accountId,
          { ...readFields(newHandoff, { project, topic, content }), expected_version: 0 },
          name,
        );
        return { id: handoffId(made), version: made.version, status: 'created' };
      }
      case 'paper':
        return await this.#newPaper(by, content);
      case 'file':
        return this.#inPrimary(accountId, place, await this.#push(by, place, content, undefined));
      default:
        throw new Error(`${place.kind} is not created here`);
    }
  }

  /** Tells of other vaults when a path without a vault makes the first file of the primary one. */
  #inPrimary(accountId: string, place: PlaceInVault, made: Written): Written {
    const written = this.#withNote(accountId, place, made);
    const { vaults } = this.#shelves.sync;
    if (place.vault !== undefined || made.version !== 1 || written.note !== undefined) return written;
    const all = vaults.list(accountId);
    const name = all.find(({ record }) => record.is_primary)?.record.name ?? '';
    const others = all
      .filter(({ record }) => !record.is_primary)
      .map((one) => `${fileUri(one.id, '')} (${one.record.name})`);
    if (others.length === 0) return written;
    const note = `the first file of the vault ${name}, where paths without a vault go; others: ${others.slice(0, 3).join(', ')}`;
    return { ...written, note };
  }

  /** Tells of another vault, or of documents, when the first file of a new folder is under their name. */
  #withNote(accountId: string, place: PlaceInVault, written: Written): Written {
    const { reader } = this.#shelves.sync;
    const [top = '', ...inside] = place.path.split('/');
    if (place.vault !== undefined || inside.length === 0) return written;
    const isId = isBareId(place.path);
    const meant = isId ? { id: `cairn://${place.path}` } : meantPlace(this.#shelves, accountId, place.path);
    const primary = reader.primaryOf(accountId);
    if (meant === undefined || primary === undefined || reader.childrenOf(primary, foldCase(top)) !== 1) return written;
    return {
      ...written,
      note: `in the folder ${top} of the primary vault; ${isId ? 'as no file' : 'in the vault of this name'} it would be ${meant.id}`,
    };
  }

  async #replace(by: Principal, place: ThingPlace, before: Base, content: string): Promise<Written> {
    const { docs, handoffs, papers, nameOf } = this.#shelves;
    const { accountId } = by;
    const name = nameOf(by);
    const expected_version = before.version;
    switch (place.kind) {
      case 'doc': {
        const made = await docs.update(
          accountId,
          readFields(devDocChange, { ...referenceOf(place), content, expected_version }),
          name,
        );
        return { id: docUri(made), version: made.version, status: 'updated' };
      }
      case 'handoff': {
        const { record } = handoffOf(handoffs, accountId, place);
        const { project, topic, date, time } = record;
        const named = { project, topic, date, ...(time === null ? {} : { time }) };
        const made = await handoffs.save(
          accountId,
          { ...readFields(newHandoff, { ...named, content }), expected_version },
          name,
        );
        return { id: handoffId(made), version: made.version, status: 'updated' };
      }
      case 'paper': {
        const { paper } = await papers.patch(
          accountId,
          place.id ?? 0,
          readFields(paperChange, { content, expected_version }),
          name,
        );
        return { id: paperUri(paper.id), version: paper.version, status: 'updated' };
      }
      case 'file':
        return await this.#push(by, place, content, before.sha256);
      default:
        throw new Error(`${place.kind} is not replaced here`);
    }
  }

  async #push(by: Principal, place: PlaceInVault, content: string, base: string | undefined): Promise<Written> {
    const { sync, nameOf } = this.#shelves;
    const { vault, path } = place;
    if (path === '' || path.endsWith('/')) throw invalidField('id', 'id must name a file, not a folder');
    const { accountId } = by;
    const vaultId =
      vault === undefined ? await sync.vaults.idOf(accountId, vault) : await vaultOf(this.#shelves, accountId, place);
    const checked = checkPath(path, 'id');
    const file = liveFile(sync.reader.file(vaultId, checked.folded));
    const target = file?.path ?? (await inExistingFolder(sync, { accountId, vaultId }, checked));
    const push = () =>
      sync.push.push(accountId, {
        path: target,
        content,
        base_sha: base,
        vault_id: vaultId,
        device_id: nameOf(by),
        mustHash: false,
        isRetried: base !== undefined,
      });
    const { record, status } = await push().catch((error: unknown) => {
      const isChanged = base !== undefined && error instanceof Refusal && error.fault.kind === 'sync_conflict';
      throw isChanged ? stale(`${target} was changed a moment ago; read it again`, file?.seq ?? 0, 0) : error;
    });
    const done = status === 'created' || status === 'unchanged' ? status : 'updated';
    const note = target === (file?.path ?? checked.path) ? undefined : folderNote(target);
    const id = fileName(this.#shelves, accountId, vaultId, record.path);
    return { id, version: record.seq, status: done, ...(note === undefined ? {} : { note }) };
  }

  async #inTurn<T>(accountId: string, place: ThingPlace, run: () => Promise<T>): Promise<T> {
    const key = foldCase(JSON.stringify([accountId, place]));
    const made = (this.#queues.get(key) ?? Promise.resolve()).then(run, run);
    this.#queues.set(key, made);
    try {
      return await made;
    } finally {
      if (this.#queues.get(key) === made) this.#queues.delete(key);
    }
  }
}

/** True for a name under which write makes something. */
function canBeNew(place: ThingPlace): boolean {
  return (
    place.kind === 'file' ||
    (place.kind === 'doc' && 'title' in place) ||
    (place.kind === 'handoff' && 'topic' in place)
  );
}

/** What a cut in the middle of a character leaves. */
const HALF_A_PAIR = /\p{Cs}$/u;

/** The title of a new paper: its first heading, or its first line. */
function titleOf(content: string): string {
  const line = /^#\s+(.+)$/m.exec(content)?.[1] ?? content.split('\n').find((one) => one.trim() !== '');
  const title = line?.trim().slice(0, limits.documentTitleCharsMax).replace(HALF_A_PAIR, '');
  if (title === undefined || title === '')
    throw invalidField('content', 'content of a paper must begin with its title: # Title');
  return title;
}

function checkVersion({ id, version, changedAt, changedBy }: OpenedThing, expected: number | undefined): void {
  if (expected === undefined || expected === version) return;
  const who = changedBy === undefined ? '' : ` by ${changedBy}`;
  throw stale(
    `${id} is at version ${version} now, not ${expected}: changed ${changedAt}${who}; read it again`,
    expected,
    version,
  );
}

function stale(detail: string, expected: number, current: number): Refusal {
  return new Refusal({ kind: 'stale_version', detail, expected, current, record: undefined });
}
