/** Checks contents: that they match the hashes in their rows, and that every piece is in use or staged. Read-only. */
import type { CheckedReader } from '../../store/checked-reader.ts';
import { keyText } from '../../store/row-sums.ts';
import { digestContent } from '../contents/digest.ts';
import {
  type ConflictRecord,
  conflictBytes,
  conflicts,
  pieceShares,
  pieces,
  stagedPieces,
  versions,
  versionsAside,
} from '../log/records.ts';
import type { VaultVersionKey } from '../log/set-aside.ts';
import {
  AROUND_PIECES_BYTES,
  decodeContent,
  type Encoding,
  readContentText,
  readVersionHead,
  readVersionMeta,
  VERSION_HEAD_BYTES,
  versionGitSha,
  versionSha256,
  type WholeEncoding,
} from '../log/version.ts';
import { ChunkVerifier, storedBytes } from './chunks.ts';

/** Where a list of chunks is stored. */
interface ListOf {
  readonly vaultId: string;
  readonly storageId: number;
}

export class ContentVerifier {
  /** Versions with damaged contents that are not set aside yet. */
  readonly damaged: VaultVersionKey[] = [];
  /** One sentence for each damaged version already set aside. */
  readonly aside: string[] = [];
  readonly #reader: CheckedReader;
  readonly #problems: string[];
  readonly #chunks: ChunkVerifier;
  /** Number of versions and conflicts using each storage id. */
  readonly #holders: Map<number, number>;

  /** `hidden`: number of versions and conflicts using each storage id, of those not shown by the reader. */
  constructor(reader: CheckedReader, problems: string[], hidden: ReadonlyMap<number, number>) {
    this.#holders = new Map(hidden);
    this.#reader = reader;
    this.#problems = problems;
    this.#chunks = new ChunkVerifier(reader, problems);
  }

  /** Checks a version against its head and its line. Throws when the head or the line cannot be read. */
  checkVersion(key: VaultVersionKey, bytes: Uint8Array): void {
    const name = `version ${keyText(key)}`;
    const { deleted, encoding, sizeBytes, lineBytes, storageId, metaBytes } = readVersionHead(bytes);
    const meta = readVersionMeta(bytes);
    const sha256 = versionSha256(bytes);
    const gitSha = versionGitSha(bytes);
    if (meta.sha256 !== sha256 || meta.git_sha !== gitSha || meta.size_bytes !== sizeBytes) {
      this.#problems.push(`${name}: its head contradicts its line`);
    }
    if ((meta.type === 'deleted') !== deleted) this.#problems.push(`${name}: its type contradicts its deletion`);
    if (deleted) return;
    const escaped = storageId === 0 ? undefined : this.#hold(storageId);
    const line =
      escaped === undefined ? bytes.length - VERSION_HEAD_BYTES : metaBytes + AROUND_PIECES_BYTES + escaped.length;
    const text = textOf(bytes, escaped);
    const isWholeLine = line === lineBytes;
    const expected = { sha256, gitSha, sizeBytes };
    if (isWholeLine && this.#isRight({ vaultId: key[0], storageId }, text, encoding, expected)) return;
    const wrong = isWholeLine ? 'its content does not match its hash' : `its line has ${line} bytes, not ${lineBytes}`;
    const problem = `${name}: ${wrong}`;
    if (this.#reader.get(versionsAside, key) !== undefined) this.aside.push(problem);
    else {
      this.#problems.push(problem);
      this.damaged.push(key);
    }
  }

  checkConflict(name: string, vaultId: string, id: string, record: ConflictRecord): void {
    const {
      your_sha256: sha256,
      your_git_sha: gitSha,
      size_bytes: sizeBytes,
      encoding,
      storage_id: storageId,
    } = record;
    const inline = this.#reader.view(conflictBytes, [vaultId, id])?.slice();
    const isInline = sha256 !== null && storageId === 0;
    if (isInline !== (inline !== undefined))
      this.#problems.push(`${name}: its bytes are missing, or belong to no version`);
    if (sha256 === null || gitSha === null) return;
    if (storageId === 0) {
      const text = Buffer.from(inline ?? []).toString(encoding === 'base64' ? 'base64' : 'utf8');
      this.#checkDigest(name, { vaultId, storageId }, { text, encoding }, { sha256, gitSha, sizeBytes });
      return;
    }
    const escaped = this.#hold(storageId);
    if (escaped.length !== record.escaped_bytes) this.#problems.push(`${name}: its pieces have the wrong length`);
    const text = unescaped(escaped);
    this.#checkDigest(name, { vaultId, storageId }, { text, encoding }, { sha256, gitSha, sizeBytes });
  }

  /** Checks for stray rows and pieces, after all versions and conflicts. Returns the number of staged contents. */
  finish(): { readonly staged: number } {
    const staged = new Set([...this.#reader.keys(stagedPieces)].map(([id]) => id));
    this.#reader.each(stagedPieces, ({ key: [id], value }) => this.#chunks.countStaged(id, value));
    this.#reader.eachKey(conflictBytes, ([vaultId, id]) => {
      if (this.#reader.get(conflicts, [vaultId, id]) === undefined) {
        this.#problems.push(`bytes of conflict ${vaultId} ${id}: conflict not found`);
      }
    });
    this.#reader.eachKey(versionsAside, (key) => {
      if (this.#reader.view(versions, key) === undefined) {
        this.#problems.push(`set aside ${keyText(key)}: version not found`);
      }
    });
    for (const storageId of this.#chunks.finish()) this.#holders.set(storageId, 1);
    let last = -1;
    this.#reader.eachKey(pieces, ([storageId]) => {
      if (storageId === last) return;
      last = storageId;
      const isHeld = this.#holders.has(storageId);
      if (isHeld === staged.has(storageId)) {
        this.#problems.push(`pieces ${storageId}: ${isHeld ? 'in use, but still staged' : 'belong to no version'}`);
      }
    });
    this.#reader.each(pieceShares, ({ key, value }) => {
      const found = this.#holders.get(key[0]) ?? 0;
      if (found !== value.holders)
        this.#problems.push(`pieces ${key[0]}: ${found} holders, but the row has ${value.holders}`);
      this.#holders.delete(key[0]);
    });
    for (const [storageId, holders] of this.#holders) {
      if (holders > 1) this.#problems.push(`pieces ${storageId}: ${holders} holders, but no row counts them`);
    }
    return { staged: staged.size };
  }

  #hold(storageId: number): Buffer {
    this.#holders.set(storageId, (this.#holders.get(storageId) ?? 0) + 1);
    return storedBytes(this.#reader, storageId);
  }

  #checkDigest(
    name: string,
    of: ListOf,
    { text, encoding }: { readonly text: string; readonly encoding: Encoding },
    expected: Expected,
  ): void {
    if (!this.#isRight(of, text, encoding, expected))
      this.#problems.push(`${name}: its content does not match its hash`);
  }

  #isRight(of: ListOf, text: string | undefined, encoding: Encoding, expected: Expected): boolean {
    return encoding === 'chunks'
      ? text !== undefined && this.#chunks.isRight(of, text, expected)
      : isRight(text, encoding, expected);
  }
}

interface Expected {
  readonly sha256: string;
  readonly gitSha: string;
  readonly sizeBytes: number;
}

function isRight(text: string | undefined, encoding: WholeEncoding, expected: Expected): boolean {
  if (text === undefined) return false;
  const digested = digestContent({ text, encoding });
  return (
    digested.ok &&
    digested.sha256 === expected.sha256 &&
    digested.gitSha === expected.gitSha &&
    decodeContent(text, encoding).length === expected.sizeBytes
  );
}

/** Returns the content of a version, or undefined when it cannot be read. */
function textOf(bytes: Uint8Array, escaped: Buffer | undefined): string | undefined {
  try {
    return readContentText(bytes, () => escaped ?? Buffer.alloc(0));
  } catch {
    // The damaged content is not a valid JSON string.
    return undefined;
  }
}

/** Returns the text in pieces; empty when it cannot be read, so that its hash differs. */
function unescaped(escaped: Buffer): string {
  try {
    return JSON.parse(`"${escaped.toString('utf8')}"`) as string;
  } catch {
    // The report only needs to name the owner of the damaged bytes.
    return '';
  }
}
