/**
 * Says a refusal in the words of the tools for models. Its next step names a tool which their list has: most clients call
 * no other. Data alone decides. Pure.
 */
import { explain, type Fault } from '../common/fault.ts';

/** What to call instead of a tool for programs. */
const INSTEAD: Readonly<Record<string, string>> = {
  get_dev_doc: 'read',
  handoff_get: 'read',
  handoff_list: 'list with in "handoffs"',
  list_backups: 'list with in "backups"',
  list_categories: 'list with in "categories"',
  list_dev_categories: 'list with in "docs"',
  list_dev_docs: 'list with in "docs"',
  list_papers: 'list with in "papers"',
  sync_history: 'history',
  sync_list: 'list',
  sync_pending_conflicts: 'list with in "conflicts"',
  sync_resolve_conflict: 'settle_conflict',
  sync_restore: 'restore',
  vault_list: 'list with in "vaults"',
};

/** True for a tool for programs of which a model hears what to call instead. */
export function isSaidOtherwise(tool: string): boolean {
  return Object.hasOwn(INSTEAD, tool);
}

/** A name that is a word of the sentence, not a part of a path. */
const NAMES = new RegExp(`(?<![\\w/.-])(${Object.keys(INSTEAD).join('|')})(?![\\w/.-])`, 'g');

const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bupdate_(?:task|paper|dev_doc) with (?:id: \S+ and )?restore: true(?= brings)/g, 'restore'],
  [/\brestore it with sync_restore\b/g, 'restore brings it back'],
  [/\bsend it with expected_version (?=\d+)/g, 'send it with version '],
  // A conflict of a file: its bytes are kept, or were not there to keep.
  [
    /\bYour bytes are kept as conflict (\S+): call sync_merge with it, then sync_push with the base_sha it returns and resolves \S+; or sync_resolve_conflict/g,
    'Your text is kept as cairn://conflicts/$1: read it, then call settle_conflict',
  ],
  [/\bresolve some with sync_resolve_conflict, then push again/g, 'end some with settle_conflict, then write again'],
  [
    /\bread the current version \(sync_list\), then repeat the rename with its base_sha/g,
    'choose another name, or remove that file first',
  ],
  [/\bread it, then push again with base_sha \S+/g, 'read it, then write with its version'],
  [/\bthe file changed since base_sha\b/g, 'the file changed since it was read'],
  [/\bserver has newer HLC\b/g, 'the hub has a later change'],
  [/; sync_list lists the files\b/g, '; list shows what is there'],
  // The argument of `restore`.
  [/^seq (?=\d+ is not an available version)/, 'version '],
];

/** The sentence with its next step for a model. */
export function inModelWords(sentence: string): string {
  const phrased = PHRASES.reduce((text, [pattern, instead]) => text.replace(pattern, instead), sentence);
  return phrased.replace(NAMES, (name) => INSTEAD[name] ?? name);
}

/** What one item of a call was refused for, with its next step. */
export function explainToModel(fault: Fault): string {
  const sentence = explain(fault);
  return inModelWords(fault.kind === 'not_found' && fault.next !== undefined ? `${sentence}; ${fault.next}` : sentence);
}
