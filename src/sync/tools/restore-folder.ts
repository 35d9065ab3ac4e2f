/** Defines the tool that restores a folder of a vault to its state at a given time. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import { DESTROYS, defineTool, type Tool } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { parseIsoMs } from '../../time/iso-time.ts';
import type { AsOf, AsOfPage, Place } from '../history/as-of.ts';
import { checkPath } from '../log/paths.ts';
import { deviceIdArgument, pathArgument, vaultIdArgument } from '../push/input.ts';

const cursorSchema = z.tuple([z.enum(['delete', 'restore']), z.string()]);

export function syncRestoreFolder(asOf: AsOf): Tool {
  return defineTool({
    name: 'sync_restore_folder',
    title: 'Restore a folder',
    access: 'account',
    description: 'Restores a folder to its state at a time. Later files are deleted; it can be undone.',
    input: z.strictObject({
      at: z.string().max(limits.isoTimeCharsMax).describe('ISO 8601 with a zone'),
      folder: pathArgument.optional().describe('Default: the whole vault'),
      dry_run: z.boolean().optional().describe('Only list changes'),
      device_id: deviceIdArgument.optional().describe('Default: hub'),
      cursor: z.string().max(limits.listCursorCharsMax).optional().describe('From an earlier answer'),
      vault_id: vaultIdArgument,
    }),
    output: z.object({
      vault_id: z.string(),
      restored: z.array(z.string()),
      deleted: z.array(z.string()),
      skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
      has_more: z.boolean().describe('True: call again with the cursor'),
      cursor: z.string().nullable(),
    }),
    annotations: DESTROYS,
    example: { at: '2026-11-20T18:00:00Z', folder: 'notes', dry_run: true },
    async handle(args, { accountId }, { progress }) {
      const { folder = '', dry_run: isDry = false, device_id: deviceId, vault_id: vaultId, cursor } = args;
      const atMs = parseIsoMs(args.at);
      if (atMs === undefined) throw invalidField('at', 'at must be ISO 8601 with a zone, e.g. 2026-11-20T18:00:00Z');
      const page = await asOf.restore(accountId, {
        vaultId,
        folder: folder === '' ? '' : checkPath(folder, 'folder').path,
        atMs,
        isDry,
        deviceId,
        after: cursor === undefined ? undefined : readCursor(cursor),
        progress,
      });
      const { restored, deleted, skipped, next } = page;
      return {
        structured: {
          vault_id: page.vaultId,
          restored: [...restored],
          deleted: [...deleted],
          skipped: [...skipped],
          has_more: next !== undefined,
          cursor: next === undefined ? null : cursorOf(next),
        },
        text: textOf(page, isDry, folder),
      };
    },
  });
}

function textOf({ restored, deleted, skipped, next }: AsOfPage, isDry: boolean, folder: string): string {
  const counts = `${plural(restored.length, 'file')} ${isDry ? 'to restore' : 'restored'}, ${deleted.length} ${isDry ? 'to delete' : 'deleted'}, ${skipped.length} skipped`;
  const more = next === undefined ? '' : `; there are more, call again with cursor ${JSON.stringify(cursorOf(next))}`;
  const lines = [
    ...restored,
    ...deleted.map((path) => `${path} (deleted)`),
    ...skipped.map(({ path, reason }) => `${path} (skipped: ${reason})`),
  ];
  const isNothing = lines.length === 0 && next === undefined && folder !== '';
  const why = isNothing ? `; ${folder} is already as it was then, or no such folder exists (sync_list shows all)` : '';
  return headed(`${counts}${more}${why}`, lines, (line) => line);
}

function cursorOf({ pass, folded }: Place): string {
  return Buffer.from(JSON.stringify([pass, folded])).toString('base64url');
}

function readCursor(cursor: string): Place {
  try {
    const [pass, folded] = cursorSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { pass, folded };
  } catch {
    throw invalidField('cursor', 'cursor must come from an earlier answer of this tool; omit it for the first page');
  }
}
