/** cairn sync cat: prints a file as the hub has it, which is the other side of a conflict. */
import { z } from 'zod';
import { ClientError } from '../../../client/client-error.ts';
import { jsonLine, shownLine } from '../../../client/shown.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import { utf8TextOf } from '../../../client/sync/run/arguments.ts';
import type { Command, Options } from '../../command.ts';
import { print, printContent } from '../../output.ts';
import { onFile, openPlace, PLACE_COMPLETES, PLACE_EXPLAINS, PLACE_OPTIONS, type VaultPlace } from './place.ts';

const fileSchema = z.object({ content: z.string(), encoding: z.enum(['utf-8', 'base64']).default('utf-8') });

export const syncCatCommand: Command = {
  name: 'sync cat',
  summary: 'print a file as the hub has it, byte by byte: the other side of a conflict',
  operands: ['FILE'],
  options: PLACE_OPTIONS,
  flags: ['theirs'],
  completes: PLACE_COMPLETES,
  explains: { ...PLACE_EXPLAINS, theirs: 'the side of the hub, which is printed without it as well' },
  examples: ['cairn sync cat notes/today.md', 'cairn sync cat plan.png --theirs > plan.theirs.png'],
  run: cat,
};

async function cat(options: Options): Promise<number> {
  const given = options.operand() ?? '';
  const place = await openPlace(options, given);
  return await onFile(place, given, (path) => catOf(options, place, path));
}

async function catOf(options: Options, { hub }: VaultPlace, path: string): Promise<number> {
  const { structured } = await hub.call('sync_pull', { path });
  if (options.json) {
    print(jsonLine(structured));
    return 0;
  }
  const { content, encoding } = readAs(fileSchema, structured);
  const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
  const text = utf8TextOf(bytes);
  if (!process.stdout.isTTY) {
    await new Promise<void>((resolve) => {
      process.stdout.write(bytes, () => resolve());
    });
  } else if (text === undefined || text.includes('\0')) {
    throw new ClientError(`${shownLine(path)} is not text; write it to a file: cairn sync cat … > FILE`);
  } else printContent(text);
  return 0;
}
