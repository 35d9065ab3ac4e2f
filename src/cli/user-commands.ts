/** Lists the commands for users of a hub. The module of a command is loaded only when the command is called or listed. */
import { type Command, commandNamed, type FoundCommand } from './command.ts';
import { commandWord } from './meant.ts';

export interface SourceGroup {
  readonly title: string;
  readonly sources: readonly {
    /** The first word of the commands in this module. */
    readonly word: string;
    /** `words`: what was typed, so that a module with many commands need not load all; without, it loads all. */
    readonly load: (words?: readonly string[]) => Promise<readonly Command[]>;
  }[];
}

export const userGroup: SourceGroup = {
  title: 'Use a hub from any machine',
  sources: [
    { word: 'login', load: async () => [(await import('./user/login.ts')).loginCommand] },
    { word: 'logout', load: async () => [(await import('./user/login.ts')).logoutCommand] },
    { word: 'whoami', load: async () => [(await import('./user/whoami.ts')).whoamiCommand] },
    { word: 'backups', load: async () => (await import('./user/mirror/commands.ts')).mirrorCommands },
    { word: 'sync', load: loadSync },
    { word: 'vault', load: async () => (await import('./user/vault/vault.ts')).vaultCommands },
    { word: 'find', load: async () => [(await import('./user/find.ts')).findThings] },
    { word: 'trash', load: async () => [(await import('./user/documents/trash.ts')).trashCommand] },
    { word: 'activity', load: async () => [(await import('./user/documents/activity.ts')).activityCommand] },
    { word: 'undo', load: async () => [(await import('./user/documents/undo.ts')).undoCommand] },
    { word: 'tasks', load: async () => (await import('./user/tasks.ts')).taskCommands },
    { word: 'docs', load: async () => (await import('./user/documents/docs.ts')).docCommands },
    { word: 'papers', load: async () => (await import('./user/documents/papers.ts')).paperCommands },
    { word: 'handoff', load: async () => (await import('./user/documents/handoff.ts')).handoffCommands },
    { word: 'webhooks', load: async () => (await import('./user/webhooks.ts')).webhookCommands },
    { word: 'call', load: async () => [(await import('./user/call.ts')).callCommand] },
    { word: 'mcp', load: async () => [(await import('./user/mcp.ts')).mcpCommand] },
  ],
};

async function loadSync(words: readonly string[] = []): Promise<readonly Command[]> {
  const { syncStatusCommand } = await import('./user/sync-status.ts');
  // Prompts and scripts ask often.
  if (words[1] === syncStatusCommand.name.split(' ')[1]) return [syncStatusCommand];
  const [
    { syncCommands },
    { syncListCommands },
    { syncServiceCommand },
    { syncMergeToolCommand },
    { syncCatCommand },
    { syncForgetCommand },
    { syncCopiesCommand },
    { syncHistoryCommands },
    { syncRestoreCommand, syncUndoCommand },
  ] = await Promise.all([
    import('./user/sync.ts'),
    import('./user/folders/list.ts'),
    import('./user/folders/service.ts'),
    import('./user/vault/merge-tool.ts'),
    import('./user/vault/cat.ts'),
    import('./user/vault/forget.ts'),
    import('./user/vault/copies.ts'),
    import('./user/vault/history.ts'),
    import('./user/vault/restore.ts'),
  ]);
  return [
    ...syncCommands,
    syncStatusCommand,
    ...syncListCommands,
    syncServiceCommand,
    syncMergeToolCommand,
    syncCatCommand,
    syncForgetCommand,
    syncCopiesCommand,
    ...syncHistoryCommands,
    syncRestoreCommand,
    syncUndoCommand,
  ];
}

/** Finds the command of the first words, as `commandNamed` does, in the only module that can have it. */
export async function findAmong(
  groups: readonly SourceGroup[],
  argv: readonly string[],
): Promise<FoundCommand | undefined> {
  const [first = '', ...more] = argv;
  const words = [commandWord(first), ...more];
  const source = groups.flatMap(({ sources }) => sources).find(({ word }) => word === words[0]);
  return source && commandNamed(await source.load(words), words);
}
