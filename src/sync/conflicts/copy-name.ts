/** Names the second file when both sides of a conflict are kept. Pure. */
import { type CopyMark, copyName } from '../../limits/copy-name.ts';
import { checkPath, type VaultPath } from '../log/paths.ts';

const DEVICE_CHARS_MAX = 40;
/** What a name cannot hold on every system, and what ends the mark. */
const NOT_IN_NAMES = /[\p{Cc}()<>:"/\\|?*]/gu;

export interface CopyOf extends Omit<CopyMark, 'device'> {
  /** Of the file on which both sides are. */
  readonly path: string;
  readonly deviceId: string;
}

/** The path of the copy, beside the file, named as clients name theirs. Throws Refusal `invalid_fields` when it is too long. */
export function copyPath({ path, deviceId, nowMs, attempt }: CopyOf): VaultPath {
  const at = path.lastIndexOf('/') + 1;
  const device = deviceId.replaceAll(NOT_IN_NAMES, '-').slice(0, DEVICE_CHARS_MAX).toWellFormed();
  return checkPath(`${path.slice(0, at)}${copyName(path.slice(at), { device, nowMs, attempt })}`);
}
