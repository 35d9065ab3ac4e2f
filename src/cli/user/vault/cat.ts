/** cairn sync cat: prints a file as the hub has it, which is the other side of a conflict. */
import { z } from 'zod';
import { ClientError } from '../../../client/client-error.ts';
import { jsonLine, shownLine } from '../../../client/shown.ts';
import { readAs } from '../../../client/sync/remote-record.ts';
import { utf8TextOf } from '../../../client/sync/run/arguments.ts';
import { CHUNK_BOUNDS } from '../../../limits/large-file.ts';
import { parseChunkList } from '../../../text/chunk-list.ts';
import type { Command, Options } from '../../command.ts';
import { print, printContent } from '../../output.ts';
import { onFile, openPlace, PLACE_COMPLETES, PLACE_EXPLAINS, PLACE_OPTIONS, type VaultPlace } from './place.ts';

const fileSchema = z.object({ content: z.string(), encoding: z.enum(['utf-8', 'base64', 'chunks']).default('utf-8') });

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
  const { structured } = await hub.pullOne(path);
  if (options.json) {
    print(jsonLine(structured));
    return 0;
  }
  const { content, encoding } = readAs(fileSchema, structured);
  if (encoding === 'chunks') return await printChunks(hub, path, content);
  const bytes = Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');
  const text = utf8TextOf(bytes);
  if (!process.stdout.isTTY) {
    await write(bytes);
  } else if (text === undefined || text.includes('\0')) {
    throw new ClientError(`${shownLine(path)} is not text; write it to a file: cairn sync cat … > FILE`);
  } else printContent(text);
  return 0;
}

/** Prints a large file chunk by chunk. */
async function printChunks(hub: VaultPlace['hub'], path: string, list: string): Promise<number> {
  if (process.stdout.isTTY)
    throw new ClientError(`${shownLine(path)} is large; write it to a file: cairn sync cat … > FILE`);
  const chunks = parseChunkList(list, CHUNK_BOUNDS);
  if (chunks === undefined)
    throw new ClientError(`the hub has ${shownLine(path)} damaged; run \`cairn verify\` there.`);
  for (const { sha256 } of chunks) {
    const bytes = await hub.getChunk(sha256);
    if (bytes === undefined)
      throw new ClientError(
        `a part of ${shownLine(path)} is missing or damaged on the hub; run \`cairn verify\` there.`,
      );
    await write(bytes);
  }
  return 0;
}

async function write(bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    process.stdout.write(bytes, () => resolve());
  });
}
