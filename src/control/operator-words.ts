/** What a command of the operator says of a refusal whose sentence for everybody else names the operator. */
import type { Fault, Refusal } from '../common/fault.ts';

const SENTENCES: Readonly<Partial<Record<Fault['kind'], string>>> = {
  storage_full:
    'the disk of CAIRN_DATA is full, so nothing was saved; free some space there, then run the command again.',
  storage_failed:
    'the disk of CAIRN_DATA failed, so nothing was saved; look at the log of the service and of the system (dmesg).',
  account_disabled: 'this account is disabled; `cairn account enable --email EMAIL` enables it.',
};

/** The sentence of a refusal for the operator. */
export function operatorSentence({ fault, message }: Refusal): string {
  return SENTENCES[fault.kind] ?? message;
}
