/**
 * Writes and reads the cursors of pulls and file lists: opaque to a client, bound by a keyed hash to this hub and one
 * vault, a pull's also to one epoch of the data file. Refuses foreign cursors, and separately those that a restore has
 * invalidated.
 */
import { timingSafeEqual } from 'node:crypto';
import { invalidField, Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { SyncReader } from '../log/reader.ts';

/** A keyed hash of a text, as hex. */
export type CursorHash = (text: string) => string;

/** The position of a pull: everything up to `seq` was sent. */
export interface PullPosition {
  readonly epoch: string;
  readonly vaultId: string;
  readonly seq: number;
  /** Deletions up to here are not sent: the pull began without files, after those deletions. */
  readonly deletesAfter: number;
  /** When the change `seq` was stored (milliseconds since 1970); null: that is not known. */
  readonly storedMs: number | null;
}

/** What a cursor continues: the changes of a vault, or a pull of the same paths. */
export type PullScope = 'vault' | 'paths';

/** The position of a file list: every path up to this one was listed. */
export interface ListPosition {
  readonly vaultId: string;
  readonly folded: string;
}

interface CursorTools {
  readonly reader: SyncReader;
  readonly hash: CursorHash;
  readonly epoch: string;
}

const KINDS = { vault: 'c1', paths: 's1', list: 'l1' } as const;
/** 96 bits in hex: too many to guess, and a cursor stays short. */
const MAC_CHARS = 24;

export function formatPullCursor(hash: CursorHash, scope: PullScope, position: PullPosition): string {
  const { epoch, vaultId, seq, deletesAfter, storedMs } = position;
  return format(hash, KINDS[scope], [epoch, vaultId, seq, deletesAfter, storedMs]);
}

/** The cursor after the change `seq`, for a device that has every deletion up to there. */
export function cursorAt({ reader, hash, epoch }: CursorTools, vaultId: string, seq: number): string {
  return formatPullCursor(hash, 'vault', {
    epoch,
    vaultId,
    seq,
    deletesAfter: 0,
    storedMs: reader.storedMsOf(vaultId, seq),
  });
}

/**
 * Reads the cursor of a pull of one scope. Throws Refusal `invalid_fields` (field `cursor`) for a foreign or forged
 * one, and, with `resync_required`, for one of another epoch of the data file.
 */
export function readPullCursor(
  hash: CursorHash,
  scope: PullScope,
  text: string,
  here: Pick<PullPosition, 'epoch' | 'vaultId'>,
): PullPosition {
  if (scope === 'vault' && text.startsWith(`${KINDS.paths}.`)) {
    throw foreign('belongs to a pull of several paths; send it with the same paths');
  }
  if (scope === 'paths' && text.startsWith(`${KINDS.vault}.`)) {
    throw foreign('does not belong to a pull of these paths; omit it');
  }
  // A cursor of an earlier version of the hub has no time.
  const [epoch, ofVault, seq, deletesAfter, storedMs = null] = read(
    hash,
    KINDS[scope],
    text,
    limits.cursorCharsMax,
    'sync_pull',
  );
  if (ofVault !== here.vaultId) throw foreign('belongs to another vault; send the vault_id of that vault');
  if (epoch !== here.epoch) throw outdated();
  const storedAt = storedMs === null ? null : Number(storedMs);
  return { ...here, seq: Number(seq), deletesAfter: Number(deletesAfter), storedMs: storedAt };
}

export function formatListCursor(hash: CursorHash, { vaultId, folded }: ListPosition): string {
  return format(hash, KINDS.list, [vaultId, folded]);
}

/** Returns the folded path after which a file list continues. Throws Refusal `invalid_fields` (field `cursor`). */
export function readListCursor(hash: CursorHash, text: string, vaultId: string): string {
  const [ofVault, folded] = read(hash, KINDS.list, text, limits.listCursorCharsMax, 'sync_list');
  if (ofVault !== vaultId) throw foreign('belongs to another vault; send the vault_id of that vault');
  return String(folded);
}

/** Returns the refusal of a cursor from before the hub was restored from a backup. */
export function outdated(): Refusal {
  const sentence =
    'cursor is from before the hub was restored from a backup; call sync_pull with initial: true and compare';
  return new Refusal({ kind: 'invalid_fields', fields: { cursor: [sentence] }, data: { resync_required: true } });
}

function format(hash: CursorHash, kind: string, parts: readonly (string | number | null)[]): string {
  const payload = Buffer.from(JSON.stringify(parts)).toString('base64url');
  const body = `${kind}.${payload}`;
  return `${body}.${macOf(hash, body)}`;
}

function read(hash: CursorHash, kind: string, text: string, charsMax: number, tool: string): unknown[] {
  const [madeAs, payload = '', mac = '', ...rest] = text.length > charsMax ? [] : text.split('.');
  const body = `${madeAs}.${payload}`;
  // Compared in constant time, although a forged cursor would only reach another position in the caller's own vault.
  const given = Buffer.from(mac);
  const expected = Buffer.from(macOf(hash, body));
  const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
  if (madeAs !== kind || rest.length > 0 || !isOurs) {
    throw foreign(`must come from an earlier answer of ${tool}; send it unchanged, or omit it`);
  }
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as unknown[];
}

function macOf(hash: CursorHash, body: string): string {
  return hash(body).slice(0, MAC_CHARS);
}

function foreign(why: string): Refusal {
  return invalidField('cursor', `cursor ${why}`);
}
