/** A device as a client of file sync: its own tree, what it last had in common with the hub, its own clock. */
import { sha256Of } from '../../support/sync.ts';
import { DeviceClock } from './clock.ts';
import { fold, nfc, type Push } from './hub-model.ts';
import { BEGINNING, type Page, type Place } from './reads.ts';
import type { Outcome, Stage } from './stage.ts';

interface LocalFile {
  readonly text: string;
  /** The hash that the hub had when both were the same; undefined: the hub never had it. */
  readonly base: string | undefined;
  /** The path that the hub knows it under. */
  readonly from: string | undefined;
}

export class SimulatedDevice {
  readonly name: string;
  readonly clock: DeviceClock;
  /** By path in NFC: a file system that takes both spellings of a letter for one name. */
  readonly files = new Map<string, LocalFile>();
  /** What was removed here and not yet there: the hash that the hub had. */
  readonly gone = new Map<string, string>();
  /** By path: the conflict that the last push of it ended in. */
  readonly conflicts = new Map<string, string>();
  place: Place = BEGINNING;
  /** It sent something and was never told what became of it, or was told of something that it could not take in. */
  isUnsure = false;

  constructor(at: number, skewMs: number) {
    this.name = `device ${at}`;
    this.clock = new DeviceClock(`${at}`.padStart(16, 'a'), skewMs);
  }

  /** One of the files here, whatever the number. */
  pathOf(which: number): string | undefined {
    return [...this.files.keys()][which % Math.max(this.files.size, 1)];
  }

  write(path: string, change: (text: string | undefined) => string): void {
    const file = this.files.get(nfc(path));
    const base = file?.base ?? this.gone.get(nfc(path));
    this.gone.delete(nfc(path));
    this.files.set(nfc(path), { base, from: file?.from, text: change(file?.text) });
  }

  remove(path: string): void {
    const file = this.files.get(nfc(path));
    this.files.delete(nfc(path));
    if (file?.base !== undefined) this.gone.set(file.from ?? nfc(path), file.base);
  }

  rename(from: string, to: string): void {
    const file = this.files.get(nfc(from));
    if (file === undefined || this.files.has(nfc(to)) || this.gone.has(nfc(to))) return;
    this.files.delete(nfc(from));
    const known = file.base === undefined ? undefined : (file.from ?? nfc(from));
    // Back to the name that the hub has it under is no rename at all.
    this.files.set(nfc(to), { ...file, from: known === nfc(to) ? undefined : known });
  }

  /** What a push of a path would say; undefined: there is nothing to say. */
  pushOf(path: string): Push | undefined {
    const common = { path, hlc: '', device: this.name, resolves: this.conflicts.get(nfc(path)) };
    const file = this.files.get(nfc(path));
    const removed = this.gone.get(nfc(path));
    if (file !== undefined) return { ...common, content: file.text, base: file.base ?? '', from: file.from };
    return removed === undefined ? undefined : { ...common, content: undefined, base: removed, from: undefined };
  }

  /** Takes in what the hub answered to a push. */
  learn(push: Push, outcome: Outcome): void {
    const path = nfc(push.path);
    if (outcome.kind === 'conflict') this.conflicts.set(path, outcome.id);
    if (outcome.kind !== 'taken') return;
    this.clock.receive(outcome.hlc);
    this.conflicts.delete(path);
    if (push.content === undefined) this.gone.delete(path);
    const file = this.files.get(path);
    if (file === undefined || push.content === undefined) return;
    // It was to be renamed, and this push did not say so: what is left to say is that the old name is gone.
    if (file.from !== undefined && push.from === undefined && file.base !== undefined)
      this.gone.set(file.from, file.base);
    this.files.set(path, { ...file, base: outcome.sha, from: undefined });
  }

  /** Takes in a page of changes. What was changed here as well stays as it is, for a push to meet. */
  apply(page: Page): void {
    this.place = page.next;
    for (const record of page.records) {
      this.clock.receive(record.hlc);
      const { path, sha256: sha, content } = record;
      this.#dropOtherSpellings(path);
      const file = this.files.get(path);
      const isClean = file !== undefined && sha256Of(file.text) === file.base && file.from === undefined;
      if (record.type === 'deleted') {
        this.gone.delete(path);
        if (isClean) this.files.delete(path);
        else if (file !== undefined && file.from === undefined) this.files.set(path, { ...file, base: undefined });
        continue;
      }
      // Renamed away here, and nobody was told yet: what the hub has under the old name is the same file.
      if (file === undefined && this.#isRenamedAway(path, sha)) continue;
      const isRemoved = this.gone.has(path);
      // A change that this device did not know of beats its delete.
      if (isRemoved && this.gone.get(path) !== sha) this.gone.delete(path);
      const isTaken = file === undefined ? !this.gone.has(path) : isClean || sha256Of(file.text) === sha;
      if (!isTaken) {
        // Nobody tells it again, and what stands in the way here may go before it is pushed.
        this.isUnsure = true;
        continue;
      }
      // It was to be renamed to what is there by now: what is left to say is that the old name is gone.
      if (file?.from !== undefined && file.base !== undefined) this.gone.set(file.from, file.base);
      this.files.set(path, { text: content ?? '', base: sha, from: undefined });
    }
  }

  /**
   * After a pull from the beginning, which names no deletes: what the hub no longer has under a name that both agreed on was
   * deleted by a push of this device that got no answer. The file that is here again since then is new to the hub.
   */
  forgetUntold(told: ReadonlySet<string>): void {
    for (const [path, file] of this.files) {
      if (file.from === undefined && !told.has(fold(path))) this.files.set(path, { ...file, base: undefined });
    }
  }

  #isRenamedAway(path: string, sha: string): boolean {
    return [...this.files.values()].some(({ from, base }) => from === path && base === sha);
  }

  /** The hub has one spelling of a name at a time; what is here under another one was that file. */
  #dropOtherSpellings(path: string): void {
    for (const [other, { text, base, from }] of this.files) {
      const isClean = sha256Of(text) === base && from === undefined;
      if (other !== path && fold(other) === fold(path) && isClean) this.files.delete(other);
    }
  }

  /** Lets go of a local change that the hub will not take, and has what the hub has. */
  async giveUp(stage: Stage, path: string): Promise<void> {
    this.files.delete(nfc(path));
    this.gone.delete(nfc(path));
    this.conflicts.delete(nfc(path));
    const live = stage.model.live(path);
    if (live === undefined || live.path !== nfc(path)) return;
    const { content } = await stage.result<{ content: string }>('sync_pull', { path });
    this.files.set(nfc(path), { text: content, base: live.sha, from: undefined });
  }
}
