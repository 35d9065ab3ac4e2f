/** Writes what an importer found to an account. Never changes what is there: a repeated import adds what is missing. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { limits } from '../../limits/service.ts';
import { groupedBy } from '../../text/grouped-by.ts';
import { patiently } from '../patiently.ts';
import { VaultHub } from '../sync/hub.ts';
import { readAs } from '../sync/remote-record.ts';
import { encodedContent } from '../sync/run/arguments.ts';
import { listFiles } from '../sync/vault-files.ts';
import type { ToolClient } from '../tools.ts';
import type { ImportedFile, ImportedTask, ImportNotice } from './imported.ts';

export interface ImportResult {
  readonly created: number;
  /** Was there already. */
  readonly unchanged: number;
  readonly notices: readonly ImportNotice[];
}

const pushedSchema = z.object({
  results: z.array(z.object({ path: z.string().nullable(), error: z.object({ message: z.string() }).optional() })),
});
const categoriesSchema = z.object({ categories: z.array(z.object({ id: z.number(), name: z.string() })) });
const createdSchema = z.object({ category: z.object({ id: z.number() }) });
const tasksSchema = z.object({
  tasks: z.array(z.object({ content: z.string(), due_date: z.string().nullable() })),
  has_more: z.boolean(),
});

interface Pending {
  readonly args: { readonly path: string; readonly content: string; readonly encoding?: 'base64' };
  readonly sizeBytes: number;
}

/**
 * Writes files to a vault, many in one call. A file that the vault holds with other bytes is not changed: a notice names
 * it.
 */
export async function sendFiles(
  tools: ToolClient,
  vaultId: string,
  files: readonly ImportedFile[],
): Promise<ImportResult> {
  const hub = new VaultHub(tools, vaultId);
  const there = new Map((await listFiles(hub, {})).map(({ path, sha256 }) => [path, sha256]));
  const notices: ImportNotice[] = [];
  let [created, unchanged] = [0, 0];
  let pending: Pending[] = [];
  const flush = async () => {
    if (pending.length === 0) return;
    const sent = pending.map(({ args }) => args);
    pending = [];
    const { structured } = await hub.call('sync_push_many', { files: sent });
    for (const { path, error } of readAs(pushedSchema, structured).results) {
      if (error === undefined) created += 1;
      else notices.push(`${path ?? '(no path)'} is left out: ${error.message}`);
    }
  };
  for (const file of files) {
    if (file.sizeBytes > limits.pushManyBytesMax) {
      notices.push(
        `${file.path} is left out: it is larger than ${limits.pushManyBytesMax / 2 ** 20} MiB; sync it with \`cairn sync\``,
      );
      continue;
    }
    const bytes = await file.read();
    const known = there.get(file.path.normalize('NFC'));
    if (known === undefined) {
      const sum = pending.reduce((total, { sizeBytes }) => total + sizeBytes, bytes.length);
      if (sum > limits.pushManyBytesMax || pending.length >= limits.pushManyFilesMax) await flush();
      pending.push(pendingOf(file.path, bytes));
    } else if (known === createHash('sha256').update(bytes).digest('hex')) unchanged += 1;
    else notices.push(`${file.path} is left out: the vault has a file of this name with other content`);
  }
  await flush();
  return { created, unchanged, notices };
}

function pendingOf(path: string, bytes: Buffer): Pending {
  return { args: { path, ...encodedContent(bytes) }, sizeBytes: bytes.length };
}

/** Creates tasks, and the categories that they name. A task with the same text and date in its category is not repeated. */
export async function sendTasks(tools: ToolClient, tasks: readonly ImportedTask[]): Promise<ImportResult> {
  let [created, unchanged] = [0, 0];
  const { structured } = await tools.call('list_categories', {});
  const ids = new Map(readAs(categoriesSchema, structured).categories.map(({ id, name }) => [name.toLowerCase(), id]));
  for (const [name, group] of groupedBy(tasks, ({ category }) => category)) {
    const known = ids.get(name.toLowerCase());
    const id =
      known ??
      readAs(createdSchema, (await patiently(() => tools.call('create_category', { name }))).structured).category.id;
    const there = known === undefined ? new Set<string>() : await tasksThere(tools, id);
    for (const { content, dueDate, isImportant } of group) {
      const key = keyOf(content, dueDate);
      if (there.has(key)) unchanged += 1;
      else {
        const due = dueDate === null ? {} : { due_date: dueDate };
        await patiently(() =>
          tools.call('create_task', { content, ...due, is_important: isImportant, category_id: id }),
        );
        there.add(key);
        created += 1;
      }
    }
  }
  return { created, unchanged, notices: [] };
}

/** Text and date of every task of a category. Oldest first: what is added meanwhile comes last. */
async function tasksThere(tools: ToolClient, categoryId: number): Promise<Set<string>> {
  const there = new Set<string>();
  for (let offset = 0; ; ) {
    const args = { category_id: categoryId, sort_order: 'asc', limit: limits.taskListMax, offset };
    const page = readAs(tasksSchema, (await patiently(() => tools.call('list_tasks', args))).structured);
    for (const { content, due_date } of page.tasks) there.add(keyOf(content, due_date));
    offset += page.tasks.length;
    if (!page.has_more || page.tasks.length === 0) return there;
  }
}

const keyOf = (content: string, due: string | null): string => `${due ?? ''}\n${content}`;
