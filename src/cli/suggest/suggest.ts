/** What the scripts of the shells ask at a tab: `cairn __complete WORD…`. It says nothing rather than something wrong. */
import { resolve } from 'node:path';
import { z } from 'zod';
import { readClientSettings } from '../../client/settings.ts';
import { Credentials } from '../../client/sign-in/credentials.ts';
import { readState } from '../../client/sync/base/state-file.ts';
import { syncedAround } from '../../client/sync/folder/around.ts';
import { VaultHub } from '../../client/sync/hub.ts';
import { readAs } from '../../client/sync/remote-record.ts';
import { ToolClient } from '../../client/tools.ts';
import { endProcess } from '../../common/end-process.ts';
import { limits } from '../../limits/service.ts';
import type { CommandList, HubKind } from '../command.ts';
import { print } from '../output.ts';
import { allCategories } from '../user/documents/category.ts';
import { inVault } from '../user/vault/place.ts';
import { listVaults, vaultNamed } from '../user/vault/vaults.ts';
import { keptOffers } from './kept.ts';
import { folderOfPath, type Offer, offerLines, offersOf, stepsOf } from './offers.ts';
import { type TypedPlace, typedPlace } from './place.ts';

/** A kind that the hub lists, without paths, which need a vault. */
type ListedKind = Exclude<HubKind, 'file' | 'kept file' | 'vault path'>;

const taskList = z.object({ tasks: z.array(z.object({ id: z.number(), content: z.string() })) });
const paperList = z.object({ papers: z.array(z.object({ id: z.number(), title: z.string() })) });
const docList = z.object({ docs: z.array(z.object({ title: z.string() })) });
const docCategoryList = z.object({ categories: z.array(z.object({ name: z.string() })) });
const handoffList = z.object({ handoffs: z.array(z.object({ project: z.string(), topic: z.string() })) });
const fileList = z.object({ files: z.array(z.object({ path: z.string() })) });

const LISTS: Readonly<Record<ListedKind, (tools: ToolClient, place: TypedPlace) => Promise<readonly Offer[]>>> = {
  vault: async (tools) => offersOf(await listVaults(tools), ({ name }) => name),
  'open task': (tools) => tasksOf(tools, { completed: false, sort_by: 'due_date' }),
  'done task': (tools) => tasksOf(tools, { completed: true, sort_by: 'completed_at' }),
  task: (tools) => tasksOf(tools, { sort_by: 'updated_at' }),
  category: async (tools) => offersOf(await allCategories(tools), ({ name }) => name),
  paper: async (tools) => {
    const { papers } = readAs(paperList, await answered(tools, 'list_papers'));
    return offersOf(
      papers,
      ({ id }) => String(id),
      ({ title }) => title,
    );
  },
  doc: async (tools) => offersOf(readAs(docList, await answered(tools, 'list_dev_docs')).docs, ({ title }) => title),
  'doc category': async (tools) =>
    offersOf(readAs(docCategoryList, await answered(tools, 'list_dev_categories')).categories, ({ name }) => name),
  project: async (tools) =>
    offersOf(readAs(handoffList, await answered(tools, 'handoff_list')).handoffs, ({ project }) => project),
  topic: async (tools, { operands: [project] }) =>
    offersOf(readAs(handoffList, await answered(tools, 'handoff_list', { project })).handoffs, ({ topic }) => topic),
  tool: async (tools) =>
    offersOf(
      await tools.list(),
      ({ name }) => name,
      ({ description }) => description,
    ),
};

/** Prints what can stand at the last of the words, those after `cairn`. Ends the process, and leaves a hub that is slow. */
export async function suggest(words: readonly string[], findCommand: CommandList['findCommand']): Promise<never> {
  const lines = await linesFor(words, findCommand).catch(() => undefined);
  if (lines !== undefined) print(lines);
  endProcess(0);
}

async function linesFor(
  words: readonly string[],
  findCommand: CommandList['findCommand'],
): Promise<string | undefined> {
  const typed = words.at(-1) ?? '';
  const found = await findCommand(words.slice(0, -1));
  const place = found && typedPlace(found, typed);
  if (place === undefined) return undefined;
  const { completes } = place;
  if (typeof completes !== 'string')
    return offerLines(
      offersOf(completes, (one) => one),
      false,
    );
  if (completes === 'file' || completes === 'kept file' || completes === 'vault path') {
    return await pathLines(completes, place, typed);
  }
  const { tools, cacheFolder, question } = openHub(place.options['server']);
  const asked = [...question, completes, completes === 'topic' ? place.operands : []];
  return offerLines(await keptOffers(cacheFolder, asked, () => LISTS[completes](tools, place)), false);
}

/** The tools of the hub, for a credential that is ready: renewing one takes long, and must not be broken off. */
function openHub(server: string | undefined) {
  const settings = readClientSettings();
  const credentials = new Credentials(settings, server);
  const ready = credentials.readyAuthorization(Date.now());
  if (ready === undefined) throw new Error('not signed in, or no longer');
  return {
    tools: new ToolClient(credentials),
    cacheFolder: settings.cacheFolder,
    question: [credentials.server, ready],
  };
}

/** Paths as the command takes them: below the current folder of a synced folder, or of the vault that is named. */
async function pathLines(kind: HubKind, { options }: TypedPlace, typed: string): Promise<string | undefined> {
  const { folder: chosen, vault } = options;
  const here = resolve(chosen ?? '.');
  const root = syncedAround(here);
  const state = root === undefined ? undefined : readState(root);
  const { tools, cacheFolder, question } = openHub(options['server'] ?? state?.server);
  const isBelow = kind !== 'vault path' && chosen === undefined && vault === undefined && root !== undefined;
  const below = isBelow && here !== root ? `${inVault(root, here)}/` : '';
  const folder = below + folderOfPath(typed);
  const asked = [...question, kind, vault ?? state?.vault_id, folder];
  const offers = await keptOffers(cacheFolder, asked, async () => {
    const vaultId = vault === undefined ? state?.vault_id : (await vaultNamed(tools, vault)).vault_id;
    if (vaultId === undefined) return [];
    const { structured } = await new VaultHub(tools, vaultId).call('sync_list', {
      ...(folder === '' ? {} : { prefix: folder }),
      include_deleted: kind === 'kept file',
      limit: limits.completionFilesMax,
    });
    return stepsOf(
      readAs(fileList, structured).files.map(({ path }) => path),
      folder,
    );
  });
  return offerLines(
    offers.map(({ value }) => ({ value: value.slice(below.length) })),
    true,
  );
}

async function tasksOf(tools: ToolClient, args: Readonly<Record<string, unknown>>): Promise<readonly Offer[]> {
  const { tasks } = readAs(taskList, await answered(tools, 'list_tasks', { ...args, limit: limits.completionRowsMax }));
  return offersOf(
    tasks,
    ({ id }) => String(id),
    ({ content }) => content,
  );
}

async function answered(tools: ToolClient, name: string, args: Readonly<Record<string, unknown>> = {}) {
  return (await tools.call(name, args)).structured;
}
