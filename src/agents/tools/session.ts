/** Declares the tool that begins a session: everything an agent needs to know first, in one answer. */
import { z } from 'zod';
import { docUri } from '../../documents/dev-docs/uri.ts';
import type { HandoffRecord } from '../../documents/handoffs/declared.ts';
import { handoffId } from '../../documents/handoffs/thing.ts';
import { defineTool, READS, type Tool } from '../../gateway/tool.ts';
import { oneLine, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { taskSearchOf } from '../../tasks/list/arguments.ts';
import type { AccountZones } from '../../tasks/tools.ts';
import { recallFacts } from '../things/facts.ts';
import { conflictUri } from '../things/ids.ts';
import { fileName } from '../things/open.ts';
import type { Shelves } from '../things/thing.ts';
import type { Reports } from './list.ts';
import { factLine } from './memory.ts';
import { minute } from './shown.ts';

/** Categories of dev docs that tell agents how to work. */
const RULES = ['claude', 'rules'];

const PARTS = ['now', 'rules', 'handoff', 'tasks', 'changed', 'conflicts', 'memory', 'backups'] as const;

type Part = (typeof PARTS)[number];

/** Characters that each part may take: together some 600 tokens. */
const ROOM: Readonly<Record<Part, number>> = {
  now: 80,
  rules: 260,
  handoff: 700,
  tasks: 480,
  changed: 330,
  conflicts: 160,
  memory: 220,
  backups: 150,
};

export function sessionTool(shelves: Shelves, zones: AccountZones, reports: Reports, now: () => number): Tool {
  return defineTool({
    name: 'start_session',
    title: 'Start a session',
    access: 'account',
    description:
      'Call this first: today, rules for agents, the last handoff, tasks that are due, what changed since, conflicts, facts, the last backup.',
    input: z.strictObject({
      project: z.string().min(1).max(limits.handoffNameCharsMax).optional().describe('Default: the newest'),
    }),
    output: z.object(
      Object.fromEntries(PARTS.map((part) => [part, z.array(z.string())])) as Record<Part, z.ZodArray<z.ZodString>>,
    ),
    annotations: READS,
    hints: { alwaysLoad: true, search: 'start session, continue where we stopped, what is next, today, briefing' },
    example: { project: 'cairn' },
    async handle({ project }, { accountId }) {
      const nowMs = now();
      const last = lastHandoff(shelves, accountId, project);
      const sinceMs = last === undefined ? nowMs - DAY_MS : Date.parse(last.handoff.updated_at);
      const parts: Record<Part, string[]> = {
        now: [nowLine(zones.of(accountId).name, nowMs)],
        rules: await rulesOf(shelves, accountId),
        handoff: last === undefined ? [] : handoffLines(shelves, accountId, last),
        tasks: await dueTasks(shelves, accountId, zones, nowMs),
        changed: changedSince(shelves, accountId, sinceMs),
        conflicts: await conflictsOf(shelves, accountId),
        memory: await factsFor(shelves, accountId, project),
        backups: reports
          .backups(accountId)
          .slice(0, 2)
          .map((line) => line.replace(/, commit [0-9a-f]+, archives: .*?\);/, ';')),
      };
      return { structured: parts, text: PARTS.map((part) => shownPart(part, parts[part])).join('\n') };
    },
  });
}

const DAY_MS = 86_400_000;
const FACTS_SHOWN = 3;
const TASKS_SHOWN = 8;
const CHANGES_SHOWN = 6;

const HEADS: Readonly<Record<Part, readonly [some: string, none: string]>> = {
  now: ['', ''],
  rules: ['rules (read those that apply): ', 'no rules (write cairn://docs/rules/…)'],
  handoff: ['last handoff: ', 'no handoff yet'],
  tasks: ['due: ', 'nothing is due or overdue'],
  changed: ['changed since: ', 'nothing changed since'],
  conflicts: ['conflicts: ', 'no conflicts'],
  memory: ['remembered: ', 'nothing remembered'],
  backups: ['backups: ', 'no backups'],
};

/** A part within its room: as many lines as fit, and how many are left. */
function shownPart(part: Part, lines: readonly string[]): string {
  const [some, none] = HEADS[part];
  if (lines.length === 0) return none;
  const separator = part === 'handoff' || part === 'tasks' ? '\n' : '; ';
  const shown: string[] = [];
  let room = ROOM[part] - some.length;
  for (const line of lines) {
    const fits = line.length + separator.length <= room;
    if (!fits && shown.length > 0) break;
    shown.push(fits ? line : oneLine(line, Math.max(room, 20)));
    room -= line.length + separator.length;
  }
  const left = lines.length - shown.length;
  return some + shown.join(separator) + (left > 0 ? `${separator}… ${left} more` : '');
}

function nowLine(zone: string, nowMs: number): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'long',
    hour: '2-digit',
    minute: '2-digit',
  });
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(nowMs);
  return `today is ${day}, ${format.format(nowMs)}, ${zone}`;
}

/** The facts that match a project best; if none does, the newest. */
async function factsFor(shelves: Shelves, accountId: string, project: string | undefined): Promise<string[]> {
  const own = await recallFacts(shelves, accountId, project ?? '', FACTS_SHOWN);
  const { facts } = own.facts.length > 0 ? own : await recallFacts(shelves, accountId, '', FACTS_SHOWN);
  return facts.map(factLine);
}

async function rulesOf({ docs }: Shelves, accountId: string): Promise<string[]> {
  const known = new Set(
    docs
      .categories(accountId)
      .filter(({ docs: count }) => count > 0)
      .map(({ name }) => name),
  );
  const pages = await Promise.all(
    RULES.filter((name) => known.has(name)).map(
      async (category) => await docs.list(accountId, { category, limit: TASKS_SHOWN }),
    ),
  );
  return pages.flatMap((page) => page.docs.map(docUri));
}

interface LastHandoff {
  readonly handoff: HandoffRecord;
  /** The project that the caller named, which has none. */
  readonly none: string | undefined;
}

function lastHandoff({ handoffs }: Shelves, accountId: string, project: string | undefined): LastHandoff | undefined {
  const newestOf = (one: string | undefined) => handoffs.page(accountId, { project: one, limit: 1 }).handoffs[0];
  const own = newestOf(project);
  if (own !== undefined) return { handoff: own, none: undefined };
  const other = project === undefined ? undefined : newestOf(handoffs.meantProject(accountId, project));
  return other && { handoff: other, none: project };
}

function handoffLines({ handoffs }: Shelves, accountId: string, { handoff, none }: LastHandoff): string[] {
  const { content } = handoffs.openById(accountId, handoff.id);
  const head = `${handoff.project} / ${handoff.topic}, ${minute(handoff.updated_at)}, read ${handoffId(handoff)}`;
  const other = none === undefined ? [] : [`the project ${oneLine(none, 40)} has none; that of another one is`];
  return [...other, head, ...content.split('\n').filter((line) => line.trim() !== '')];
}

async function dueTasks(shelves: Shelves, accountId: string, zones: AccountZones, nowMs: number): Promise<string[]> {
  const args = { due_today: true, overdue: true, sort_by: 'due_date', limit: TASKS_SHOWN } as const;
  const zone = zones.of(accountId);
  const found = await shelves.tasks.searchShown(
    accountId,
    taskSearchOf(args, nowMs, () => zone),
  );
  const today = zone.dayOf(nowMs);
  const lines = found.tasks.map(({ json }) => {
    const {
      id,
      content,
      due_date: due,
      is_important: isImportant,
    } = JSON.parse(json) as {
      id: number;
      content: string;
      due_date: string;
      is_important: boolean;
    };
    const when = due < today ? `overdue since ${due}` : 'today';
    return `#${id} ${oneLine(content, 80)} (${when}${isImportant ? ', important' : ''})`;
  });
  return found.hasMore ? [...lines, 'more: list_tasks with due_today and overdue'] : lines;
}

/** The newest changes of files and dev docs after a time, the newest first, each with who made it. */
function changedSince(shelves: Shelves, accountId: string, sinceMs: number): string[] {
  const { docs, sync } = shelves;
  const files = sync.vaults.list(accountId).flatMap(({ id, head }) => {
    const seqs = Array.from({ length: Math.min(4 * CHANGES_SHOWN, head.seq) }, (_, back) => head.seq - back);
    return seqs.flatMap((seq) => {
      const meta = sync.reader.versionMeta(id, seq);
      if (meta === undefined || Date.parse(meta.stored_at) <= sinceMs) return [];
      return [
        {
          at: meta.stored_at,
          name: `${fileName(shelves, accountId, id, meta.path)}${meta.type === 'deleted' ? ' (deleted)' : ''}`,
          by: meta.device_id,
        },
      ];
    });
  });
  const documents = docs
    .recent(accountId, CHANGES_SHOWN)
    .filter((doc) => doc.changed_ms > sinceMs)
    .map((doc) => ({ at: new Date(doc.changed_ms).toISOString(), name: docUri(doc), by: doc.changed_by }));
  const newest = [...files, ...documents].sort((a, b) => b.at.localeCompare(a.at));
  const names = new Map(newest.reverse().map((one) => [one.name, one]));
  return [...names.values()].reverse().map(({ name, by }) => (by === undefined ? name : `${name} by ${by}`));
}

async function conflictsOf({ sync }: Shelves, accountId: string): Promise<string[]> {
  const found: string[] = [];
  for (const { id: vaultId, head } of sync.vaults.list(accountId)) {
    if (head.pending === 0) continue;
    const page = await sync.conflicts.pending(accountId, { vaultId, path: undefined, limit: 3, cursor: undefined });
    found.push(...page.conflicts.map(({ id, record }) => `${record.path} (read ${conflictUri(id)})`));
    if (page.cursor !== undefined) found.push(`${plural(head.pending, 'conflict')} in all (list with in "conflicts")`);
  }
  return found;
}
