/** Checks a body before reading it: length, size, media type, in this order. */
import { Refusal } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { RequestHead } from '../request/head.ts';
import type { BodyRule } from './route.ts';

const DOCUMENT_TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded' } as const;

/** True for a JSON body with a declared length, small enough to read although the call is refused. */
export function isSmallJson(head: RequestHead): boolean {
  const declared = head.bytesDeclared;
  if (declared === undefined || declared === 0 || declared > limits.refusedBodyBytesMax) return false;
  return head.header('content-type')?.split(';')[0]?.trim().toLowerCase() === DOCUMENT_TYPES.json;
}

/** Throws Refusal `length_required`, `body_too_large` or `media_type`. */
export function checkBody(head: RequestHead, rule: BodyRule & { readonly forStrangers?: true }): void {
  if (rule.kind === 'none') return;
  const declared = head.bytesDeclared;
  if (rule.kind === 'stream' && declared === undefined) throw new Refusal({ kind: 'length_required' });
  if (declared !== undefined && declared > rule.bytesMax) {
    const forStrangers = rule.forStrangers === true ? { forStrangers: true as const } : {};
    throw new Refusal({ kind: 'body_too_large', bytesMax: rule.bytesMax, ...forStrangers });
  }
  if (rule.kind !== 'stream' && !head.hasBody) return;
  const expected = rule.kind === 'stream' ? rule.mediaType : DOCUMENT_TYPES[rule.kind];
  const given = head.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (given !== expected) throw new Refusal({ kind: 'media_type', expected, given });
}
