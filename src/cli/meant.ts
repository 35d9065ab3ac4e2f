/** Finds the command that was probably meant, for words of other programs and for typing mistakes. Pure. */
import { nearest } from '../text/nearest.ts';

/** Earlier names of commands. */
const ALIASES: Readonly<Record<string, string>> = { mirror: 'backups' };

/** The first word of a command, by any of its names. */
export const commandWord = (word: string): string => ALIASES[word] ?? word;

/** Words for the same act, the one of most commands first. */
const SAME: readonly (readonly string[])[] = [
  ['list', 'ls', 'all', 'index'],
  ['remove', 'rm', 'delete', 'del', 'trash', 'revoke', 'prune', 'leave'],
  ['add', 'create', 'new', 'put', 'save', 'make'],
  ['show', 'get', 'cat', 'view', 'open', 'read', 'print'],
  ['edit', 'update', 'change', 'set', 'modify'],
  ['rename', 'mv', 'move'],
  ['restore', 'undelete', 'undo', 'recover'],
  ['done', 'complete', 'finish', 'close', 'check'],
  ['versions', 'history', 'log'],
  ['status', 'st', 'info', 'state'],
  ['watch', 'daemon', 'follow'],
  ['pull', 'fetch', 'download'],
  ['push', 'upload'],
];

/** First words that name something else elsewhere, or are a part of a command here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  auth: 'login',
  signin: 'login',
  'sign-in': 'login',
  connect: 'login',
  signout: 'logout',
  me: 'whoami',
  ls: 'sync list',
  list: 'sync list',
  files: 'sync list',
  status: 'sync status',
  st: 'sync status',
  diff: 'sync diff',
  history: 'sync history',
  log: 'sync log',
  watch: 'sync watch',
  pull: 'sync pull',
  push: 'sync push',
  resolve: 'sync resolve',
  clone: 'sync',
  vaults: 'vault list',
  todo: 'tasks',
  todos: 'tasks',
  task: 'tasks',
  add: 'tasks add',
  done: 'tasks done',
  doc: 'docs',
  search: 'find',
  grep: 'find',
  remember: 'call remember',
  recall: 'call recall',
  notes: 'docs',
  note: 'docs',
  paper: 'papers',
  handoffs: 'handoff',
  start: 'serve',
  run: 'serve',
  server: 'serve',
  up: 'serve',
  daemon: 'serve',
  user: 'account list',
  users: 'account list',
  accounts: 'account list',
  adduser: 'account create',
  passwd: 'account password',
  keys: 'key list',
  tokens: 'token create',
  invites: 'invite list',
  members: 'member list',
  logs: 'audit',
  check: 'doctor',
  fsck: 'verify',
  tools: 'call',
  man: 'help',
  docker: 'help operating',
  config: 'help settings',
  settings: 'help settings',
};

/** The command that the words probably mean; undefined when none is close. `names`: of all commands. */
export function meantCommand(words: readonly string[], names: readonly string[]): string | undefined {
  const [given = '', act] = words.map((word) => word.toLowerCase());
  const isGroup = (word: string) => names.some((name) => name === word || name.startsWith(`${word} `));
  const first = isGroup(commandWord(given)) ? commandWord(given) : undefined;
  if (first !== undefined) return act === undefined ? undefined : actOf(first, act, names);
  const known = ELSEWHERE[given];
  const group = known?.split(' ')[0] ?? '';
  if (known !== undefined) return act === undefined ? known : (actOf(group, act, names) ?? known);
  const whole = nearest(`${given} ${act ?? ''}`.trim(), names);
  if (whole !== undefined) return whole;
  const groups = [...new Set(names.map((name) => name.split(' ')[0] ?? ''))];
  const near = nearest(given, groups);
  if (near === undefined) return undefined;
  return act === undefined ? near : (actOf(near, act, names) ?? near);
}

/** The command of a group that does what a word says; the group itself lists, where nothing else does. */
function actOf(group: string, act: string, names: readonly string[]): string | undefined {
  const acts = names.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(group.length + 1));
  if (acts.includes(act)) return `${group} ${act}`;
  const typed = SAME.find((words) => words.includes(act));
  const near = typed === undefined ? nearest(act, acts) : undefined;
  if (near !== undefined) return `${group} ${near}`;
  const other = nearest(act, SAME.flat()) ?? '';
  const same = typed ?? SAME.find((words) => words.includes(other)) ?? [];
  const found = same.find((word) => acts.includes(word)) ?? nearest(act, acts);
  if (found !== undefined) return `${group} ${found}`;
  return same[0] === 'list' && names.includes(group) ? group : undefined;
}
