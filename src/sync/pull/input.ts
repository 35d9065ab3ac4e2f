/** Reads the arguments of a pull: its mode, and the arguments allowed with that mode. Pure. */
import { z } from 'zod';
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { readInstant } from '../../time/iso-time.ts';
import { checkPath, type VaultPath } from '../log/paths.ts';
import { deviceIdArgument, pathArgument, vaultIdArgument } from '../push/input.ts';

export const pullArguments = z.strictObject({
  path: pathArgument.optional().describe('One file'),
  paths: z.array(pathArgument).min(1).max(limits.pullPathsMax).optional().describe('These files'),
  since: z.string().max(limits.instantCharsMax).optional().describe('What changed after this stored_at, ISO 8601'),
  initial: z.boolean().optional().describe('Every file'),
  cursor: z.string().max(limits.cursorCharsMax).optional().describe('From an earlier pull'),
  limit: z.int().min(1).max(limits.pullLinesMax).optional().describe('Records in one answer'),
  wait_seconds: z
    .int()
    .min(0)
    .max(limits.waitSecondsMax)
    .optional()
    .describe('Wait for a change, with cursor or since'),
  brief: z.boolean().optional().describe('Long files without content'),
  chunks: z.boolean().optional().describe('Accepts large files as lists of their chunks'),
  skip: z.string().max(limits.pullSkipCharsMax).optional().describe('seq to leave out: 3-9,12'),
  device_id: deviceIdArgument.optional().describe('Excludes changes of this device'),
  vault_id: vaultIdArgument,
});

export type PullArguments = z.output<typeof pullArguments>;

export type PullMode =
  | { readonly kind: 'one'; readonly path: VaultPath }
  | { readonly kind: 'paths'; readonly paths: readonly VaultPath[] }
  | { readonly kind: 'since'; readonly sinceMs: number }
  | { readonly kind: 'initial' }
  | { readonly kind: 'cursor' };

const MODES = ['path', 'paths', 'since', 'initial'] as const;
const SAY_ONE = 'say what to pull: one of path, paths, since, initial: true or cursor';

/** Returns the mode of a pull. Throws Refusal `invalid_fields` for no mode, several modes, or an excluded argument. */
export function readPullMode(args: PullArguments): PullMode {
  const given = MODES.filter((name) => args[name] !== undefined && args[name] !== false);
  const [mode, second] = given;
  if (second !== undefined) throw invalidField(second, `${given.join(' and ')} cannot be combined; ${SAY_ONE}`);
  if (mode === undefined) {
    if (args.cursor === undefined) throw invalidField('path', SAY_ONE);
    return { kind: 'cursor' };
  }
  const refuse = (name: 'cursor' | 'limit' | 'wait_seconds' | 'brief' | 'skip', why: string) => {
    if (args[name] !== undefined) throw invalidField(name, `${name} cannot be combined with ${mode}: ${why}`);
  };
  if (mode === 'path') {
    refuse('cursor', 'it is one file');
    refuse('limit', 'it is one file');
    refuse('brief', 'it is one file');
  }
  if (mode === 'path' || mode === 'paths') {
    refuse('wait_seconds', 'only a pull of changes can wait');
    refuse('skip', 'name only the paths that are wanted');
  }
  if (mode === 'initial' && args.cursor === undefined) refuse('wait_seconds', 'only a pull of changes can wait');
  if (mode === 'initial') return { kind: 'initial' };
  if (mode === 'since') return { kind: 'since', sinceMs: readSince(args.since ?? '') };
  if (mode === 'path') return { kind: 'one', path: checkPath(args.path ?? '') };
  return { kind: 'paths', paths: (args.paths ?? []).map((path) => checkPath(path, 'paths')) };
}

function readSince(text: string): number {
  const ms = readInstant(text);
  if (ms === undefined) {
    throw invalidField('since', 'since must be an ISO 8601 time with its zone, such as 2026-11-20T20:18:57.123Z');
  }
  return ms;
}
