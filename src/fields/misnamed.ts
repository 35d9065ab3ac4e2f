/** Finds the field or the tool that a caller meant by another name. Pure. */
import { memo } from '../common/memo.ts';
import { nearest } from '../text/nearest.ts';

/** Names that callers use for one another. Of several lists with the name, the first with a known field decides. */
const SAME: readonly (readonly string[])[] = [
  ['title', 'name', 'label', 'subject', 'path', 'file', 'filename'],
  ['lines', 'line', 'range', 'offset', 'limit', 'start', 'end', 'head', 'tail'],
  ['glob', 'pattern', 'match', 'mask', 'wildcard', 'extension'],
  ['is_important', 'important', 'priority', 'urgent', 'starred', 'flagged'],
  ['completed', 'done', 'complete', 'finished', 'closed', 'checked', 'is_completed'],
  ['kanban_status', 'status', 'state', 'column', 'stage'],
  ['due_date', 'due', 'deadline', 'date'],
  ['topic', 'title', 'name', 'subject'],
  ['content', 'text', 'body', 'data', 'contents', 'markdown', 'message', 'summary', 'description', 'note', 'notes'],
  ['content', 'task', 'title', 'name', 'subject'],
  ['path', 'file', 'filename', 'filepath', 'uri', 'url'],
  ['id', 'path', 'uri', 'url', 'file', 'filename', 'title', 'name'],
  ['ids', 'id', 'paths', 'path', 'files'],
  ['in', 'folder', 'path', 'prefix', 'kind', 'directory', 'type', 'kinds', 'types', 'scope', 'within'],
  ['to', 'destination', 'target', 'new_path', 'new_name', 'new_title', 'dest'],
  ['old', 'old_string', 'old_str', 'find', 'search'],
  ['new', 'new_string', 'new_str', 'replace', 'replacement'],
  ['fact', 'content', 'text', 'note', 'memory'],
  ['query', 'search', 'q', 'text', 'keywords', 'topic', 'about', 'subject'],
  ['section', 'heading'],
  ['heading', 'section'],
  ['tasks', 'items', 'todos', 'task'],
  ['prefix', 'folder', 'directory', 'dir', 'path', 'root'],
  ['folder', 'directory', 'dir', 'path', 'prefix'],
  ['paths', 'files', 'path', 'file'],
  ['files', 'items', 'changes', 'documents', 'file', 'path'],
  ['search', 'query', 'q', 'filter', 'keyword', 'keywords', 'term', 'text', 'contains'],
  ['limit', 'max', 'count', 'size', 'top', 'first', 'results', 'per_page'],
  ['cursor', 'page', 'offset', 'after', 'next', 'token'],
  ['since', 'after', 'from', 'modified', 'updated'],
  ['by', 'author', 'user', 'who', 'actor', 'agent'],
  ['at', 'time', 'timestamp', 'date', 'when', 'before', 'until'],
  ['seq', 'version', 'revision', 'sequence'],
  ['version', 'revision', 'seq'],
  ['base_sha', 'base', 'etag', 'parent', 'expected'],
  ['sha256', 'hash', 'checksum', 'digest', 'sha'],
  ['from_path', 'old', 'source', 'rename', 'from'],
  ['keep', 'favor', 'side', 'resolution', 'choice', 'strategy', 'resolve', 'prefer'],
  ['favor', 'keep', 'strategy', 'prefer', 'side'],
  ['mode', 'operation', 'action', 'op'],
  ['action', 'operation', 'command', 'op', 'mode'],
  ['deleted', 'delete', 'remove', 'removed'],
  ['restore', 'undelete', 'recover', 'deleted'],
  ['published', 'publish', 'public', 'status', 'draft'],
  ['project', 'repo', 'repository', 'workspace'],
  ['vault_id', 'vault'],
  ['name', 'title', 'label', 'vault'],
  ['email', 'username', 'user', 'login', 'mail'],
  ['password', 'pass', 'pwd', 'secret'],
  ['timezone', 'tz', 'zone'],
  ['client', 'editor', 'agent', 'app', 'tool'],
  ['id', 'from', 'source', 'old_path'],
  ['due_to', 'due_before', 'due_until'],
  ['due_from', 'due_after', 'due_date'],
];
/** The lists with a word, by their place. */
const LISTS_WITH = new Map<string, number[]>();
for (const [index, same] of SAME.entries()) {
  for (const word of same) LISTS_WITH.set(word, [...(LISTS_WITH.get(word) ?? []), index]);
}
/** What does it instead, where a tool with some fields has none of a name. */
const INSTEAD: readonly { readonly names: readonly string[]; readonly has: readonly string[]; readonly how: string }[] =
  [
    {
      names: ['prepend', 'insert', 'insert_line', 'insert_text', 'before', 'position'],
      has: ['old', 'new', 'append'],
      how: 'send the first line as old, and the added text with that line as new',
    },
    {
      names: ['lines', 'line', 'range', 'start_line', 'end_line', 'view_range', 'line_number'],
      has: ['old', 'new', 'append'],
      how: 'send the text of these lines as old, as read shows it, or the heading above them as section',
    },
    {
      names: ['mode', 'append', 'prepend', 'operation', 'command'],
      has: ['content', 'published', 'version'],
      how: 'write replaces the whole text; edit with append adds to it',
    },
    {
      names: ['overwrite', 'force', 'replace', 'create', 'if_exists'],
      has: ['content', 'published', 'version'],
      how: 'a new text needs nothing else; to replace one, send its version as read shows it',
    },
    {
      names: ['recursive', 'depth', 'max_depth'],
      has: ['in', 'glob'],
      how: 'glob lists the files of all folders',
    },
  ];
/** Words that callers use for a choice. `doing` looks like `done` and means the opposite. */
const SAME_CHOICE: Readonly<Record<string, readonly string[]>> = {
  in_progress: ['doing', 'started', 'active', 'ongoing', 'wip', 'working'],
  done: ['completed', 'complete', 'finished', 'closed', 'resolved'],
  todo: ['open', 'pending', 'new', 'planned', 'not_started', 'next'],
  backlog: ['later', 'someday', 'icebox'],
  replace: ['overwrite', 'set', 'write'],
  append: ['add', 'end', 'bottom'],
  prepend: ['top', 'start', 'beginning'],
  due_date: ['due', 'deadline'],
  created_at: ['created', 'date', 'newest', 'oldest'],
  updated_at: ['updated', 'modified', 'changed'],
  completed_at: ['completed'],
  is_important: ['important', 'priority'],
  content: ['name', 'title', 'alphabetical'],
  asc: ['ascending', 'up'],
  desc: ['descending', 'down', 'newest'],
  markdown: ['md', 'mdx'],
  yaml: ['yml'],
  text: ['txt', 'plain', 'plaintext'],
  theirs: ['server', 'hub', 'remote'],
  yours: ['mine', 'local', 'ours'],
  current: ['theirs', 'server', 'hub', 'remote'],
  pushed: ['yours', 'mine', 'local', 'ours', 'refused'],
  file: ['note', 'notes', 'vault'],
};
/** What callers call the things of tools whose names do not say it. */
const THINGS: Readonly<Record<string, string>> = {
  file: 'sync',
  folder: 'sync',
  document: 'doc',
  note: 'doc',
  todo: 'task',
};
/** Names of tools elsewhere, by the act that they do. */
const ACTS: Readonly<Record<string, string>> = {
  undo: 'restore',
  revert: 'restore',
  rollback: 'restore',
  activity: 'history',
  changes: 'history',
  log: 'history',
  forget: 'remove',
};
/** As `ACTS`, with the texts that people keep. */
const ACTS_ON_TEXTS: Readonly<Record<string, string>> = {
  create: 'write',
  new: 'write',
  add: 'write',
  save: 'write',
  put: 'write',
  update: 'edit',
  append: 'edit',
  delete: 'remove',
  rename: 'move',
  get: 'read',
  open: 'read',
  show: 'read',
  view: 'read',
};
const TEXTS = ['note', 'document', 'doc', 'file', 'page'];
/** What an id can be: it is meant where one is missing. */
const PATHS = ['path', 'uri', 'url', 'file', 'filename'];
/** Most names suggested at once. */
const GUESSES_MAX = 3;
const TOOLS_MAX = 6;

/**
 * Returns the known fields that a name probably stands for, the likeliest first; none when nothing is like it.
 *
 * @param free those that another name can stand for: a typo can also be of a field that was given
 * @param required those of them that must be given
 */
export function meantFields(
  name: string,
  known: readonly string[],
  free = known,
  required: readonly string[] = [],
): readonly string[] {
  const typo = nearest(name, known, 1);
  if (typo !== undefined) return [typo];
  const words = wordsOf(name);
  if (required.includes('id') && PATHS.includes(words.join('_'))) return ['id'];
  const parts = free.filter((field) => contains(words, knownWords(field)) || contains(knownWords(field), words));
  if (parts.length > 0 && parts.length <= GUESSES_MAX) return parts;
  const meant = synonymOf(words, free) ?? nearest(name, known);
  return meant === undefined ? [] : [meant];
}

/** Returns what does what an unknown field is for, in a tool with these fields. Undefined: nothing is known. */
export function insteadOf(name: string, known: readonly string[]): string | undefined {
  const wanted = wordsOf(name).join('_');
  return INSTEAD.find(({ names, has }) => names.includes(wanted) && has.every((field) => known.includes(field)))?.how;
}

/** Returns the choice that a word probably stands for. Undefined when none is like it. */
export function meantChoice(word: string, choices: readonly string[]): string | undefined {
  const name = wordsOf(word).join('_');
  return (
    choices.find((choice) => Object.hasOwn(SAME_CHOICE, choice) && SAME_CHOICE[choice]?.includes(name)) ??
    nearest(word, choices)
  );
}

function synonymOf(words: readonly string[], free: readonly string[]): string | undefined {
  // A new title is not the content: the text would be lost.
  const names = words[0] === 'new' ? [words.join('_')] : [words.join('_'), ...words];
  const lists = names.flatMap((one) => LISTS_WITH.get(one) ?? []).sort((a, b) => a - b);
  for (const index of lists) {
    const field = SAME[index]?.find((one) => free.includes(one));
    if (field !== undefined) return field;
  }
  return undefined;
}

/** Returns the tools that a name probably stands for: the one with nearly this name, else those for the same thing. */
export function meantTools(name: string, known: readonly string[]): readonly string[] {
  // `list_handoffs` is `handoff_list`.
  const wanted = inOrder(wordsOf(name));
  const same = known.find((tool) => knownOrder(tool) === wanted);
  if (same !== undefined) return [same];
  const [meant] = meantFields(name, known);
  if (meant !== undefined) return [meant];
  const words = wordsOf(name);
  const acts = words.some((word) => TEXTS.includes(singular(word))) ? { ...ACTS_ON_TEXTS, ...ACTS } : ACTS;
  const act = words
    .map((word) => (Object.hasOwn(acts, word) ? acts[word] : undefined))
    .find((one) => one !== undefined);
  if (act !== undefined && known.includes(act)) return [act];
  // Most names end with the thing: `complete_task`.
  for (const word of words.toReversed()) {
    const thing = THINGS[singular(word)] ?? singular(word);
    const found = known.filter((tool) => knownWords(tool).map(singular).includes(thing));
    if (found.length > 0) return found.slice(0, TOOLS_MAX);
  }
  return [];
}

function inOrder(words: readonly string[]): string {
  return words.map(singular).toSorted().join(' ');
}

function singular(word: string): string {
  return word.replace(/s$/, '');
}

/** `taskId` and `task-id` are the words of `task_id`. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

/** The words of the fields and tools that are declared, which are few; each refusal reads them all. */
const declaredWords = new Map<string, readonly string[]>();
/** Likewise, without their order. */
const declaredOrders = new Map<string, string>();

function knownWords(declared: string): readonly string[] {
  return memo(declaredWords, declared, () => wordsOf(declared));
}

function knownOrder(declared: string): string {
  return memo(declaredOrders, declared, () => inOrder(knownWords(declared)));
}

function contains(all: readonly string[], some: readonly string[]): boolean {
  return some.length > 0 && some.every((word) => all.includes(word));
}
