/**
 * Decides what pushes without an answer mean for a change of the hub: the hub may have received one, and the change may be based on it.
 * Pure.
 */
import { foldCase } from '../../../text/fold-case.ts';
import type { BaseRecord, Sha } from '../base/state.ts';
import type { RemoteRecord } from '../remote-record.ts';
import { decidePull, type Hash } from './decide.ts';

type Agreed = Pick<BaseRecord, 'sha256' | 'storedMs'> | undefined;

interface Change extends Pick<RemoteRecord, 'storedMs'> {
  readonly side: { readonly sha256: string } | undefined;
}

/**
 * True when a change of the hub means one thing if it is based on what was sent, and another if the hub never received that: the
 * hub's versions tell, before anything is written here or sent. A version stored no later than the agreed one is based on
 * nothing newer. A new file stays where the hub has none: nothing tells an old delete from a new one.
 */
export function hangsOnSent(
  local: Hash,
  { side, storedMs }: Change,
  agreed: Agreed,
  sent: ReadonlySet<Sha> | undefined,
): boolean {
  if (sent === undefined || storedMs <= (agreed?.storedMs ?? 0)) return false;
  if (side === undefined && agreed === undefined) return false;
  const meaning = (base: Hash) => {
    const action = decidePull(local, side?.sha256, base);
    return action === 'revive' ? 'take' : action;
  };
  return [...sent].some((one) => meaning(one ?? undefined) !== meaning(agreed?.sha256));
}

/** One version of a path, as the hub lists it. */
interface Version {
  readonly path: string;
  readonly sha256: string;
  readonly deleted: boolean;
  readonly device_id: string;
  readonly stored_at: string;
}

/** Where the search for a push without an answer is, which goes from the newest version of a path to older ones. */
export type Searched = 'goes on' | 'received' | 'never received';

/** What one version tells. At the agreed one, or at the delete before a file that was new here, the search ends: older ones only look alike. */
export function searchedTo(
  { path, sha256, deleted, device_id: device, stored_at: at }: Version,
  wanted: { readonly path: string; readonly device: string; readonly agreed: Agreed; readonly sent: ReadonlySet<Sha> },
): Searched {
  const { agreed, sent } = wanted;
  const isSame = foldCase(path) === foldCase(wanted.path);
  if (agreed?.storedMs !== undefined && Date.parse(at) <= agreed.storedMs) return 'never received';
  if (isSame && device === wanted.device && sent.has(deleted ? null : sha256)) return 'received';
  const isAgreed =
    agreed === undefined ? deleted : agreed.storedMs === undefined && !deleted && sha256 === agreed.sha256;
  return isSame && isAgreed ? 'never received' : 'goes on';
}
