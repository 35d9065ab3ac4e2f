/** Takes a path away from the hub and keeps it here: a rule leaves it out first, then its files are deleted on the hub. */
import { limits } from '../../limits/service.ts';
import { ClientError } from '../client-error.ts';
import { nextCommand } from '../next-command.ts';
import { ToolRefused } from '../tool-refused.ts';
import { checkFolderPath, type FolderPath, isBad } from './folder/path.ts';
import { ignoreRuleFor, withRules } from './plan/newcomer.ts';
import type { Replica } from './replica.ts';
import { pushCall } from './run/arguments.ts';
import { RULES_FILE, readRules } from './scan/choice.ts';
import { listFiles, type VaultFile } from './vault-files.ts';

/** The current files at a path of the hub, or below it. */
export async function filesAt({ hub }: Replica, path: string): Promise<VaultFile[]> {
  const files = await listFiles(hub, { prefix: path });
  return files.filter((file) => file.path === path || file.path.startsWith(`${path}/`));
}

/** Adds a rule to the shared rules unless these files are left out already. Returns it; undefined when none was needed. */
export function leaveOut(
  { folder, state }: Replica,
  path: FolderPath,
  files: readonly Pick<VaultFile, 'path'>[],
): string | undefined {
  const rules = readRules(folder, state.only, state.base);
  if (files.every((file) => rules.excludes(file.path))) return undefined;
  const before = folder.read(RULES_FILE);
  const rule = ignoreRuleFor(path, !files.some((file) => file.path === path));
  const text = withRules(before?.bytes?.toString('utf8') ?? '', [rule]);
  if (folder.put(RULES_FILE, Buffer.from(text), before?.sha256) === false) {
    throw new ClientError(`${RULES_FILE} changed in this moment; run the command again.`);
  }
  return rule;
}

export interface Forgotten {
  readonly files: number;
  readonly bytes: number;
  /** Files that the hub kept, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

/** Deletes files on the hub that a rule leaves out here. Call it under the lock of the folder. Throws ClientError. */
export async function forgetFiles(replica: Replica, files: readonly VaultFile[]): Promise<Forgotten> {
  const { folder, hub, state } = replica;
  const rules = readRules(folder, state.only, state.base);
  if (state.waits.has(RULES_FILE) || !files.every(({ path }) => rules.excludes(path))) {
    const status = nextCommand(folder.root.path, 'sync status');
    throw new ClientError(`nothing was taken away, because ${RULES_FILE} is not synced; \`${status}\` says why.`);
  }
  const refused = new Map<string, string>();
  let [count, bytes] = [0, 0];
  for (let at = 0; at < files.length; at += limits.clientPushFiles) {
    const some = files.slice(at, at + limits.clientPushFiles).flatMap((file) => {
      const path = checkFolderPath(file.path);
      return isBad(path) ? [] : [{ path, file }];
    });
    // Forgotten first: if an answer is lost, the files here are compared as new ones and never removed, and one that is not here
    // comes back once it is left out no more.
    for (const { path } of some) {
      state.agree(path, undefined);
      state.compareLater(path);
    }
    await state.save();
    const outcomes = await hub.push(some.map(({ path, file }) => pushCall(replica, path, undefined, file.sha256)));
    for (const [index, { path, file }] of some.entries()) {
      const outcome = outcomes[index];
      if (outcome instanceof ToolRefused) refused.set(path, outcome.message);
      else {
        state.endWait(path);
        if (outcome !== undefined && outcome.status !== 'unchanged') state.noteOwn(outcome.seq);
        count += 1;
        bytes += file.size_bytes;
      }
    }
  }
  await state.save();
  return { files: count, bytes, refused };
}
