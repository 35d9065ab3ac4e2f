/** Defines the tool vault_sync: one name for listing, pulling, pushing, and the sync status of a device. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import type { Principal } from '../../common/principal.ts';
import { argumentsOf } from '../../gateway/call.ts';
import { type AccountTool, type AnyToolResult, defineTool, type ToolCaller } from '../../gateway/tool.ts';
import { limits } from '../../limits/service.ts';
import { checkPrefix } from '../log/paths.ts';
import { pullArguments } from '../pull/input.ts';
import { pathArgument, pushArguments, vaultIdArgument } from '../push/input.ts';
import type { SyncReading } from '../reading.ts';
import { standingResult, standingShape } from './standing.ts';

/** The tools called by the actions. */
export interface Actions {
  readonly list: AccountTool;
  readonly pull: AccountTool;
  readonly push: AccountTool;
}

/** Entries are not checked by the schema: there may be very many, so they are checked in short turns. */
const hashes = z
  .looseObject({})
  .meta({ additionalProperties: { type: 'string', pattern: '^[0-9A-Fa-f]{64}$' } })
  .optional();

const statusArguments = z.strictObject({
  manifest: hashes.describe('SHA-256 of each local file by path'),
  bases: hashes.describe('SHA-256 last agreed on, by path'),
  executables: z
    .array(z.string().max(4 * limits.pathBytesMax))
    .max(limits.manifestFilesMax)
    .optional()
    .describe('All executable local files'),
  prefix: pathArgument.optional().describe('Only paths starting with this'),
  vault_id: vaultIdArgument,
});

type StatusArguments = z.output<typeof statusArguments>;

/** The arguments of all actions. Each action refuses those of the others. */
const anyArguments = z.strictObject({
  action: z.enum(['status', 'list', 'pull', 'push']).describe('Action; it decides which other arguments apply'),
  ...statusArguments.shape,
  ...pushArguments.partial().shape,
  ...pullArguments.shape,
  path: pathArgument.optional().describe('pull, push: path inside the vault'),
  device_id: pullArguments.shape.device_id.describe('pull, push: name of the device'),
  limit: pullArguments.shape.limit.describe('list, pull: records in this answer at the most'),
  glob: z.string().max(limits.globCharsMax).optional().describe('list: only paths that match'),
  include_deleted: z.boolean().optional().describe('list: deleted files as well'),
  cursor: z.string().max(limits.listCursorCharsMax).optional().describe('list, pull: where an earlier answer ended'),
});

/** The listed arguments: only those of `status`. The other tools list theirs, and repeating them costs tokens. */
const listedArguments = z.looseObject({
  action: z
    .enum(['status', 'list', 'pull', 'push'])
    .describe('status; list, pull and push accept the arguments of their tools'),
  ...statusArguments.shape,
});

export function vaultSync(reading: SyncReading, actions: Actions) {
  return defineTool({
    name: 'vault_sync',
    title: 'Compare a device with a vault',
    access: 'account',
    description:
      'With action status, lists what a device must pull, push, delete and resolve. The actions list, pull and push stand for sync_list, sync_pull and sync_push.',
    input: anyArguments,
    listedInput: listedArguments,
    output: z.looseObject(standingShape),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    example: {
      action: 'status',
      manifest: { 'notes/today.md': '0438e1f6a52d130aff81d4002078707dc706c86de3753ceb933e2ae59f0d758c' },
    },
    lists: true,
    takesContents: true,
    handle({ action, ...given }, principal, caller) {
      if (action === 'status') return status(reading, principal, given);
      return delegate(actions[action], given, principal, caller);
    },
  });
}

/** Calls the tool of an action. Omits absent arguments, so that the tool refuses only foreign ones that were given. */
async function delegate(tool: AccountTool, given: object, principal: Principal, caller: ToolCaller) {
  const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return (await tool.handle(argumentsOf(tool, args), principal, caller)) as AnyToolResult<Record<string, unknown>>;
}

function status(reading: SyncReading, { accountId }: Principal, given: Readonly<Record<string, unknown>>) {
  const foreign = Object.keys(given).find((name) => given[name] !== undefined && !(name in statusArguments.shape));
  if (foreign !== undefined) {
    const takes = Object.keys(statusArguments.shape).join(', ');
    throw invalidField(foreign, `${foreign} cannot be combined with action status, which accepts ${takes}`);
  }
  const { manifest = {}, bases = {}, prefix = '', executables, vault_id: id } = given as StatusArguments;
  return standingResult(reading, accountId, id, { manifest, bases, executables, prefix: checkPrefix(prefix) });
}
