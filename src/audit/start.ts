/** Records in the hub's log which settings, and which version, differ from those of the start before. */
import { Refusal } from '../common/fault.ts';
import type { Log } from '../common/log.ts';
import { intact } from '../store/intact.ts';
import { meta } from '../store/meta/meta.ts';
import { HUB } from '../store/owners.ts';
import type { Store } from '../store/store.ts';
import { noteHub, OPERATOR } from './note.ts';

const ROW = 'started_with';

export interface StartedWith {
  readonly version: string;
  /** Settings by name, as text; of a secret only that it is set. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Compares with what the start before noted, and notes this one. The first start has nothing to compare with. On a full
 * disk nothing is noted, and the next start does it: a hub that does not start could not even be read.
 */
export async function noteStart(store: Store, now: StartedWith, atMs: number, log: Pick<Log, 'warn'>): Promise<void> {
  try {
    await note(store, now, atMs);
  } catch (error) {
    if (!(error instanceof Refusal && error.fault.kind === 'storage_full')) throw error;
    log.warn('the disk is full, so the hub did not record which settings changed; the next start does');
  }
}

async function note(store: Store, now: StartedWith, atMs: number): Promise<void> {
  const text = JSON.stringify(now);
  const before = intact(store, meta, [ROW])?.value;
  if (before === text) return;
  await store.write(HUB, (batch) => {
    batch.put(meta, [ROW], { value: text });
    if (before === undefined) return;
    const old = JSON.parse(before) as StartedWith;
    if (old.version !== now.version) {
      const detail = `${old.version} to ${now.version}`;
      noteHub(batch, null, { atMs, act: 'version_changed', source: OPERATOR, detail });
    }
    for (const detail of changedSettings(old.settings, now.settings)) {
      noteHub(batch, null, { atMs, act: 'settings_changed', source: OPERATOR, detail });
    }
  });
}

/** Each member has its own: that another one serves is no change of a setting. */
const OF_MEMBER: ReadonlySet<string> = new Set([
  'CAIRN_DATA',
  'CAIRN_HOST',
  'CAIRN_MEMBER',
  'CAIRN_MEMBER_PRIORITY',
  'CAIRN_PORT',
]);

/** Returns one sentence for each setting that differs. */
function changedSettings(before: StartedWith['settings'], now: StartedWith['settings']): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  const isMember = before['CAIRN_LOG'] !== undefined && now['CAIRN_LOG'] !== undefined;
  return names.flatMap((name) => {
    const [old, next] = [before[name], now[name]];
    if (old === next || (isMember && OF_MEMBER.has(name))) return [];
    if (next === undefined) return [`${name} removed (was ${old})`];
    return [old === undefined ? `${name} set to ${next}` : `${name} changed from ${old} to ${next}`];
  });
}
