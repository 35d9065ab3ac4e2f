/** Checks subject identifiers. */
import { limits } from '../../limits/service.ts';

/** OpenID Connect Core, 2: at most 255 ASCII characters. */
export function isSubject(subject: string): boolean {
  return subject.length <= limits.idpSubjectCharsMax && /^[\x20-\x7e]+$/.test(subject);
}
