/**
 * What members let one another know, as marks in the log: who joined, and what each has set aside. They have no other
 * contact, and the operator looks at the one that serves.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../common/log.ts';
import { limits } from '../../limits/service.ts';
import type { CommitLog } from '../../replication/log/log.ts';
import type { MemberIdentity } from '../../replication/members/identity.ts';

const MEMBERS = 'members/';
const MARKS = 'set-aside/';
/** Signs of life: `presence.ts`. */
export const SIGNS = 'alive/';

/** Leaves a mark by which `cairn member list` knows a member. A failure is logged: the next start tries again. */
export async function markMember(commitLog: CommitLog, { name, instance }: MemberIdentity, log: Log): Promise<void> {
  await commitLog
    .putPart(`${MEMBERS}${name}/${instance}`, Buffer.from(`${JSON.stringify({ name })}\n`))
    .catch((error: unknown) => log.warn({ err: error }, 'member: the log does not know this member yet'));
}

/** The names of all members that joined and were not forgotten since, in order. */
export async function memberNames(log: Pick<CommitLog, 'listParts'>): Promise<string[]> {
  const parts = [...(await log.listParts(MEMBERS)), ...(await log.listParts(SIGNS))];
  const names = new Set(parts.map((name) => name.split('/')[1] ?? ''));
  return [...names].toSorted((a, b) => (a < b ? -1 : 1));
}

/** The name that a member has in its log; undefined: the log does not know it. */
export async function nameOfMember(log: Pick<CommitLog, 'listParts'>, instance: string): Promise<string | undefined> {
  const mark = (await log.listParts(MEMBERS)).find((name) => name.endsWith(`/${instance}`));
  return mark?.split('/')[1];
}

/** Removes everything by which the others know a member. If it runs, it is back with its next sign of life. */
export async function forgetMember(log: Pick<CommitLog, 'listParts' | 'removePart'>, name: string): Promise<void> {
  for (const kind of [MARKS, MEMBERS, SIGNS]) {
    for (const part of await log.listParts(`${kind}${name}/`)) await log.removePart(part);
  }
}

export interface SetAsideMarks {
  readonly log: Pick<CommitLog, 'listParts' | 'putPart' | 'removePart'>;
  readonly member: string;
  readonly files: readonly string[];
  readonly warn: Pick<Log, 'warn'>;
}

/** Makes the marks of a member those of its files. A failure is logged: the next start does the rest. */
export async function markSetAside({ log, member, files, warn }: SetAsideMarks): Promise<void> {
  const prefix = `${MARKS}${member}/`;
  try {
    const marked = (await log.listParts(prefix)).map((name) => name.slice(prefix.length));
    for (const file of marked) if (!files.includes(file)) await log.removePart(prefix + file);
    for (const file of files) if (!marked.includes(file)) await log.putPart(prefix + file, Buffer.from('{}\n'));
  } catch (error) {
    warn.warn({ err: error }, 'member: the log does not know what this member has set aside');
  }
}

/** How many files each member has that has some. */
async function setAsideByMember(log: Pick<CommitLog, 'listParts'>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of await log.listParts(MARKS)) {
    const member = name.split('/')[1] ?? '';
    counts[member] = (counts[member] ?? 0) + 1;
  }
  return counts;
}

/** What the log says of the members; nothing when it does not answer in time, for then an operator asks. */
export async function marksInTime(log: Pick<CommitLog, 'listParts'>) {
  const late = sleep(limits.memberAskMs, undefined, { ref: false });
  const inTime = async <T>(answer: Promise<T>, otherwise: T): Promise<T> =>
    await Promise.race([answer.catch(() => otherwise), late.then(() => otherwise)]);
  const [members, aside] = await Promise.all([inTime(memberNames(log), []), inTime(setAsideByMember(log), {})]);
  return { members, aside };
}
