/** Filters the paths of a list by a glob, and counts the work. Pure. */
import { invalidField } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import { compileGlob, type GlobWork, matchesGlob } from '../log/glob.ts';

/**
 * Returns a filter of folded paths: `*` and `?` within a part, `**` over parts, `{a,b}` for either; case-insensitive. A
 * glob with a slash starts at the root of the vault, one without matches in any folder. Throws Refusal `invalid_fields`
 * (field `glob`).
 */
export function listFilter(glob: string | undefined, work?: GlobWork): (folded: string) => boolean {
  if (glob === undefined) return () => true;
  if (/^!|[[\]]/.test(glob)) {
    throw invalidField('glob', 'glob supports *, ?, ** and {a,b}, but not [sets] or !; write ? for a bracket');
  }
  const compiled = expandBraces(glob).map((plain) => compileGlob(plain.includes('/') ? `/${plain}` : plain));
  return (folded) => compiled.some((one) => matchesGlob(one, folded, work));
}

/** Expands a glob with braces into all of its plain globs. */
function expandBraces(glob: string): string[] {
  let open = [''];
  for (const piece of glob.split(/(\{[^{}]*\})/)) {
    const choices = piece.startsWith('{') && piece.endsWith('}') ? piece.slice(1, -1).split(',') : [piece];
    if (choices.some((choice) => /[{}]/.test(choice)))
      throw invalidField('glob', 'glob: braces must be closed and not nested');
    if (open.length * choices.length > limits.globChoicesMax) {
      throw invalidField('glob', `glob expands to more than ${limits.globChoicesMax} globs; use fewer braces`);
    }
    open = open.flatMap((start) => choices.map((choice) => start + choice));
  }
  return open;
}
