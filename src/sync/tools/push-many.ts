/** Defines the tool that pushes many files in one call, and shows each outcome. */
import { z } from 'zod';
import { attempt } from '../../common/attempt.ts';
import { invalidField } from '../../common/fault.ts';
import type { CallerName } from '../../common/principal.ts';
import { jsonSchema } from '../../fields/json-schema.ts';
import { argumentsOf } from '../../gateway/call.ts';
import { rpcError } from '../../gateway/codes.ts';
import { ADDS, defineTool, type ToolCaller } from '../../gateway/tool.ts';
import { headed, plural } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { LongContent } from '../../pool/long-content.ts';
import { deviceIdArgument, type PushArguments, pushArguments, vaultIdArgument, withDevice } from '../push/input.ts';
import type { PushMany, PushOutcome } from '../push/push-many.ts';
import { pushedSchema, pushedView } from './push.ts';

const fileArguments = pushArguments.omit({ vault_id: true });

/** Any object: each file is checked separately, so that an invalid one affects no other. Lists its full schema. */
const file = z.looseObject({}).meta(jsonSchema(fileArguments, 'input'));

const refusedSchema = z.object({
  path: z.string().nullable(),
  status: z.literal('refused'),
  error: z
    .object({ code: z.int(), message: z.string(), data: z.looseObject({}).optional() })
    .describe('What sync_push answers for this file'),
});

const many = {
  files: z.array(file).min(1).max(limits.pushManyFilesMax).describe('Arguments of sync_push for each file'),
  device_id: deviceIdArgument.optional().describe('Default: the name of the key'),
  vault_id: vaultIdArgument,
};

type Result = z.input<typeof refusedSchema> | Omit<z.input<typeof pushedSchema>, 'vault_id'>;

export function syncPushMany(push: PushMany, deviceOf: CallerName) {
  return defineTool({
    name: 'sync_push_many',
    title: 'Write many files',
    access: 'account',
    description: `Sends up to ${limits.pushManyFilesMax} files (${limits.pushManyBytesMax / 2 ** 20} MiB in total) in one call. Each item is a sync_push, decided alone and in order; every ${limits.pushManyFilesPerCall} items count as one call.`,
    input: z.strictObject(many),
    listedInput: z.strictObject({ ...many, files: z.array(z.looseObject({})).describe(many.files.description ?? '') }),
    output: z.object({
      vault_id: z.string(),
      accepted: z.int().nonnegative(),
      refused: z.int().nonnegative(),
      results: z
        .array(z.union([pushedSchema.omit({ vault_id: true }), refusedSchema]))
        .describe('In the order of files'),
    }),
    annotations: ADDS,
    takesContents: true,
    example: {
      device_id: 'laptop',
      files: [
        {
          path: 'notes/today.md',
          content: '# Today\n',
          sha256: '0438e1f6a52d130aff81d4002078707dc706c86de3753ceb933e2ae59f0d758c',
          hlc: '2026-11-20T20:18:57.123Z-0000-89e4f1c2a0b3d756',
        },
      ],
    },
    async handle({ files: given, device_id: device, vault_id: vaultId }, principal, caller) {
      chargeFor(given.length, caller);
      checkBytes(given);
      const files = await Promise.all(
        given.map((one) =>
          attempt((): PushArguments => {
            const args = argumentsOf({ input: fileArguments }, one) as z.output<typeof fileArguments>;
            return withDevice(args, device, deviceOf(principal));
          }),
        ),
      );
      const made = await push.push(principal.accountId, { vaultId, files });
      const results = made.outcomes.map((outcome, index) => viewOf(outcome, given[index]?.['path']));
      const refused = made.outcomes.filter(({ ok }) => !ok).length;
      const structured = { vault_id: made.vaultId, accepted: results.length - refused, refused, results };
      return { structured, text: textOf(results, refused) };
    },
  });
}

/**
 * Charges one call per `pushManyFilesPerCall` files, less the one already counted for the request. Throws Refusal
 * `rate_limited`, or `invalid_fields` for more files than the rate limit ever allows at once.
 */
function chargeFor(files: number, { charge, callsAtOnceMax }: ToolCaller): void {
  const calls = Math.ceil(files / limits.pushManyFilesPerCall);
  if (calls > callsAtOnceMax) {
    const most = callsAtOnceMax * limits.pushManyFilesPerCall;
    throw invalidField(
      'files',
      `files may contain at most ${most} items under the rate limit of this hub; send the rest in another call`,
    );
  }
  if (calls > 1) charge(calls - 1);
}

/** Limits the total size of the contents, before any is hashed. Throws Refusal `invalid_fields` when it is exceeded. */
function checkBytes(files: readonly Readonly<Record<string, unknown>>[]): void {
  const bytes = files.reduce((sum, { content, encoding }) => sum + bytesOf(content, encoding), 0);
  if (bytes <= limits.pushManyBytesMax) return;
  const most = `${limits.pushManyBytesMax / 2 ** 20} MiB`;
  throw invalidField('files', `files contain ${bytes} bytes of content; send at most ${most} in one call`);
}

function bytesOf(content: unknown, encoding: unknown): number {
  if (content instanceof LongContent) return content.prepared.ok ? content.prepared.sizeBytes : 0;
  if (typeof content !== 'string') return 0;
  return encoding === 'base64' ? Buffer.byteLength(content, 'base64') : Buffer.byteLength(content);
}

function viewOf(outcome: PushOutcome, path: unknown): Result {
  if (!outcome.ok) {
    return { path: typeof path === 'string' ? path : null, status: 'refused', error: rpcError(outcome.fault) };
  }
  const { vault_id: _, ...view } = pushedView(outcome.value);
  return view;
}

function textOf(results: readonly Result[], refused: number): string {
  const headline = `${results.length - refused} of ${plural(results.length, 'file')} accepted, ${refused} refused`;
  return headed(headline, results, (result) =>
    'error' in result
      ? `${result.path ?? '(no path)'} is refused: ${result.error.message}`
      : `${result.path} is ${result.status}, #${result.seq}, sha256 ${result.sha256}`,
  );
}
