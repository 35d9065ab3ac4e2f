/**
 * A log whose bodies are encrypted in the age format (age-encryption.org/v1), for stores of others. Names, sizes and
 * times stay readable.
 */
import { Decrypter, Encrypter } from 'age-encryption';
import { StartError } from '../../common/start-error.ts';
import { type CommitLog, type Created, type LogRecord, OutcomeUnknown, PartTaken, sameBytes } from './log.ts';

export interface LogKeys {
  /** `age1…` */
  readonly recipient: string;
  /** `AGE-SECRET-KEY-1…`. A member reads what others wrote, so it needs the identity as well. */
  readonly identity: string;
}

export class EncryptedLog implements CommitLog {
  readonly #log: CommitLog;
  readonly #encrypter = new Encrypter();
  readonly #decrypter = new Decrypter();

  /** Throws StartError when a key is none. */
  constructor(log: CommitLog, { recipient, identity }: LogKeys) {
    this.#log = log;
    try {
      this.#encrypter.addRecipient(recipient);
    } catch {
      throw new StartError(
        'CAIRN_LOG_RECIPIENT must be an age recipient: age1 and letters, as `age-keygen` prints it.',
      );
    }
    try {
      this.#decrypter.addIdentity(identity);
    } catch {
      throw new StartError('CAIRN_LOG_IDENTITY must be an age identity: AGE-SECRET-KEY-1 and letters.');
    }
  }

  async append(position: number, record: Uint8Array, signedAtMs?: number): Promise<Created> {
    // Each encryption gives other bytes, so a repeated append is compared with what is there, decrypted.
    const created = await this.#log.append(position, await this.#encrypter.encrypt(record), signedAtMs);
    if (created === 'written') return created;
    try {
      for await (const { bytes } of this.read(position)) return sameBytes(bytes, record) ? 'written' : 'taken';
    } catch (error) {
      throw new OutcomeUnknown(`the log did not answer whether record ${position} is ours`, { cause: error });
    }
    return 'taken';
  }

  async *read(from: number): AsyncGenerator<LogRecord> {
    for await (const { position, bytes } of this.#log.read(from)) yield { position, bytes: await this.#decrypt(bytes) };
  }

  ends(): Promise<{ readonly first: number; readonly last: number } | undefined> {
    return this.#log.ends();
  }

  async putPart(name: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#log.putPart(name, await this.#encrypter.encrypt(bytes));
    } catch (error) {
      if (!(error instanceof PartTaken) || !sameBytes(await this.getPart(name), bytes)) throw error;
    }
  }

  async getPart(name: string): Promise<Uint8Array> {
    return await this.#decrypt(await this.#log.getPart(name));
  }

  listParts(prefix: string): Promise<string[]> {
    return this.#log.listParts(prefix);
  }

  removePart(name: string): Promise<void> {
    return this.#log.removePart(name);
  }

  removeBefore(position: number): Promise<void> {
    return this.#log.removeBefore(position);
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  async #decrypt(bytes: Uint8Array): Promise<Uint8Array> {
    try {
      return await this.#decrypter.decrypt(bytes);
    } catch (cause) {
      throw new StartError('The log cannot be decrypted: it is not encrypted, or CAIRN_LOG_IDENTITY is another one.', {
        cause,
      });
    }
  }
}
