/**
 * Says the sentences of a hub in the words of the command line: `cairn` commands and options for tools and their
 * arguments. Data alone decides. Pure.
 */
import { quoted } from './shown.ts';

/** What to type for a tool. A name of one plain word, such as `search`, is left alone: sentences have it too. */
const COMMANDS: Readonly<Record<string, string>> = {
  list_tasks: 'tasks',
  create_task: 'tasks add',
  update_task: 'tasks edit',
  delete_task: 'tasks remove',
  list_dev_docs: 'docs',
  get_dev_doc: 'docs show',
  create_dev_doc: 'docs put',
  update_dev_doc: 'docs edit',
  delete_dev_doc: 'docs remove',
  list_papers: 'papers',
  get_paper: 'papers show',
  create_paper: 'papers put',
  update_paper: 'papers edit',
  publish_paper: 'papers publish',
  delete_paper: 'papers remove',
  handoff_list: 'handoff',
  handoff_get: 'handoff show',
  handoff_save: 'handoff save',
  list_backups: 'backups list',
  login_and_get_key: 'login',
  signup_and_get_key: 'login',
  sync_diff: 'sync diff',
  sync_history: 'sync history',
  sync_list: 'sync list',
  sync_merge: 'sync resolve',
  sync_pending_conflicts: 'sync status',
  sync_pull: 'sync',
  sync_push: 'sync',
  sync_push_many: 'sync',
  sync_resolve_conflict: 'sync resolve',
  sync_restore: 'sync restore',
  sync_restore_folder: 'sync restore',
  settle_conflict: 'sync resolve',
  vault_create: 'vault create',
  vault_delete: 'vault delete',
  vault_list: 'vault list',
  vault_rename: 'vault rename',
  vault_sync: 'sync',
};

/** Tools without a command of their own: `cairn call` calls them. */
const OTHER_TOOLS: ReadonlySet<string> = new Set([
  'add_tasks',
  'change_tasks',
  'create_category',
  'delete_category',
  'get_setup_guide',
  'list_categories',
  'list_dev_categories',
  'pull_dev_docs',
  'set_timezone',
  'settle_conflicts',
  'start_session',
  'update_category',
  'vault_clone',
  'vault_connect_status',
]);

/** Sentences that take more than another name. `FILE` stands for the path that the refusal is about. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\brestore with since "(\S+)" takes that back/g, '`cairn undo --since $1 --yes` takes that back'],
  [
    /task #(\d+) is in the trash; update_task with restore: true/g,
    'task #$1 is in the trash; `cairn tasks restore $1`',
  ],
  [/\bupdate_task with restore(?:: true)? (?=brings|to)/g, '`cairn tasks restore ID` '],
  [/\bupdate_paper with id: (\d+) and restore: true\b/g, '`cairn papers restore $1`'],
  [/\bupdate_paper with restore(?:: true)? (?=brings|to)/g, '`cairn papers restore ID` '],
  [/\bupdate_dev_doc with (?:id: \S+ and )?restore(?:: true)?(?= brings)/g, '`cairn docs restore TITLE`'],
  [/\bcall delete_task with id (\d+)/g, 'run `cairn tasks remove $1`'],
  [
    /\bget_dev_doc with version: (\d+) returns the previous text/g,
    '`cairn docs restore TITLE --version $1` brings the previous text back',
  ],
  [
    /\bget_paper with id: (\d+) and version: (\d+) returns the previous text/g,
    '`cairn papers restore $1 --version $2` brings the previous text back',
  ],
  [
    /\bwhich handoff_get returns with version: (\d+); send time to keep both/g,
    'which `cairn handoff restore PROJECT TOPIC --version $1` brings back; pass --time to keep both',
  ],
  [/\bor send create_category: true to create it/g, 'or pass --new-category to create it'],
  [/^\S+ needs a key: send Authorization: .*$/g, 'this needs a sign-in; run `cairn login`'],
  [/; sign up with signup_and_get_key if there is no account yet/g, '; `cairn login` also makes an account'],
  [
    /\bcall sync_merge with it, then sync_push with the base_sha it returns and resolves \S+; or sync_resolve_conflict/g,
    'run `cairn sync resolve FILE --keep merge` (or --keep mine, or --keep theirs, or --keep both)',
  ],
  [
    /\bresolve some with sync_resolve_conflict, then push again/g,
    'settle some with `cairn sync resolve FILE`, then sync again',
  ],
  [/\bread it, then push again with base_sha \S+/g, 'run `cairn sync` to get it'],
  [
    /\bread the current version \(sync_list\), then repeat the rename with its base_sha/g,
    'run `cairn sync`, then rename it again',
  ],
  [/\bthe file changed since base_sha\b/g, 'the file changed since the last sync'],
  [/\bserver has newer HLC\b/g, 'the hub has a later change'],
  [
    /^cursor is from before the hub was restored from a backup;.*$/g,
    'the hub was restored from a backup; run `cairn sync`',
  ],
  [
    /^base_sha belongs to another file, not to (.*); read the current one with sync_list/g,
    'the change is based on another file than $1; run `cairn sync` to get the current one',
  ],
  [/\bbase_sha is not the current version: /g, 'the conflict was shown with an earlier version: '],
  [
    /\bpush the content that you want with sync_push/g,
    'save the content that you want in the file, then run `cairn sync`',
  ],
  [/\bthis account has no vault with this vault_id\b/g, 'this account does not have this vault'],
  [/; omit it instead\b/g, '; leave it out instead'],
];

/** What to type for an argument: an option, or what an operand is. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  base_sha: 'the version of the last sync',
  category_id: '--category',
  due_date: '--due',
  expected_version: 'the version that you opened',
  is_important: '--important',
  kanban_status: '--status',
  vault_id: '--vault',
};

/** Arguments whose names are words of any sentence: they are meant at its beginning only. */
const FIRST: Readonly<Record<string, string>> = {
  category: '--category',
  content: 'the text',
  cursor: '--cursor',
  date: '--date',
  limit: '--limit',
  project: 'PROJECT',
  search: '--search',
  seq: '--seq',
  time: '--time',
  title: 'the title',
  topic: 'TOPIC',
  version: '--version',
};

/** A name on its own: not a part of a path or of a longer name, and not in a command already. */
const NAME = /(?<![\w./`-])(?:cairn call )?[a-z]+(?:_[a-z]+)+(?![\w/-]|\.\w)/g;

/** Stands for the path of a refusal, which is never translated: private use, in no sentence. */
const PATH_MARK = '\ue000';

/** The sentence of a refusal in the words of the command line. `path`: the file that it is about, if it is about one. */
export function spokenRefusal(sentence: string, path?: string): string {
  const isAbout = path !== undefined && path !== '';
  const masked = isAbout ? sentence.replaceAll(path, PATH_MARK) : sentence;
  const said = masked.split('; ').map(firstWord).join('; ');
  const words = spokenAnswer(said).replaceAll(NAME, (name) => typed(name));
  return isAbout ? words.replaceAll(' FILE', ` ${quoted(path)}`).replaceAll(PATH_MARK, () => path) : words;
}

/** The text of an answer, which has the user's own words in it: only whole phrases are translated. */
export function spokenAnswer(text: string): string {
  return PHRASES.reduce((said, [pattern, words]) => said.replaceAll(pattern, words), text);
}

/** `limit must be …` is said of an option. */
function firstWord(part: string): string {
  const [, name = '', rest = ''] = /^([a-z]+)( (?:must|is|are|has|may) .*)$/s.exec(part) ?? [];
  return Object.hasOwn(FIRST, name) && !part.startsWith('cursor is from') ? `${FIRST[name] ?? ''}${rest}` : part;
}

function typed(name: string): string {
  if (Object.hasOwn(COMMANDS, name)) return `\`cairn ${COMMANDS[name] ?? ''}\``;
  return ARGUMENTS[name] ?? (OTHER_TOOLS.has(name) ? `\`cairn call ${name}\`` : name);
}
