/** The data of `cairn demo`: a household that also makes software, and a session of its agent. Days count from today. Pure. */
import { createHash } from 'node:crypto';
import { dateOfDay, dayNumber } from '../../time/calendar.ts';

export const PERSON = { email: 'mina@example.org', name: 'Mina' } as const;
/** Names of keys: what pages call whoever made a change. */
export const AGENT = 'claude-code';
export const PHONE = 'phone';

export interface StoryCall {
  /** Whose key. */
  readonly by: typeof AGENT | typeof PHONE;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** The hub refuses it, as the story wants: two devices changed one place. */
  readonly refused?: true;
}

export interface SessionStep extends StoryCall {
  /** Said on the terminal. */
  readonly says: string;
}

const RELEASE = `# Release 2.4

Ships on **Thursday**. Each step has an owner.

| Step | Owner | State |
|---|---|---|
| Freeze the branch | Mina | done |
| Sign the packages | build agent | done |
| Move the certificates | Jun | open |

- [x] Changelog reviewed
- [x] Migration tried on a copy
- [ ] Announcement written

\`\`\`ts
export const release = { version: '2.4.0', channel: 'stable' };
\`\`\`
`;

const RULES = `# Rules for agents

- Write the test first, and run it.
- Ask before you delete anything that a person wrote.
- Commit messages give the reason.
`;

const SHOPPING = '# Shopping\n\n- bread\n- milk\n- apples\n';
const OFFERS = `# Offers for the heating

| Firm | Price | Answers until |
|---|---|---|
| Nordwärme | 14,200 | Friday |
| Kim & Sons | 15,900 | any time |
`;

const day = (today: string, days: number): string => dateOfDay(dayNumber(today) + days);

/** What a device sends of a file that it takes for new. */
const pushed = (path: string, content: string, deviceId: string): StoryCall['args'] => ({
  path,
  content,
  sha256: createHash('sha256').update(content).digest('hex'),
  base_sha: '',
  device_id: deviceId,
});

/** What is there before somebody looks. `today`: YYYY-MM-DD. */
export function beginning(today: string): readonly StoryCall[] {
  const due = (days: number) => ({ due_date: day(today, days) });
  const phone = (tool: string, args: StoryCall['args']): StoryCall => ({ by: PHONE, tool, args });
  const agent = (tool: string, args: StoryCall['args']): StoryCall => ({ by: AGENT, tool, args });
  return [
    phone('create_category', { name: 'Release', color: '#2563eb' }),
    phone('create_category', { name: 'House', color: '#15803d' }),
    phone('create_category', { name: 'Reading', color: '#a16207' }),
    phone('add_tasks', {
      tasks: [
        { content: 'Move the certificates to the new host', category: 'Release', is_important: true, ...due(1) },
        { content: 'Write the announcement', category: 'Release', ...due(3) },
        { content: 'Answer the offer for the heating', category: 'House', ...due(2) },
        { content: 'Book the dentist', category: 'House', ...due(9) },
        { content: 'Return the library books', category: 'House', ...due(-1) },
        { content: 'Read about hybrid logical clocks', category: 'Reading' },
        { content: 'Plan the trip to Busan', category: 'House', status: 'backlog' },
        {
          content: 'Review the changelog of 2.4',
          category: 'Release',
          status: 'in_progress',
          is_important: true,
          ...due(0),
        },
        { content: 'Try the restore of the backup on the laptop', category: 'House', status: 'in_progress', ...due(2) },
      ],
    }),
    agent('add_tasks', {
      tasks: [
        { content: 'Sign the packages', category: 'Release', status: 'done' },
        { content: 'Freeze the release branch', category: 'Release', status: 'done' },
      ],
    }),
    phone('sync_push', pushed('house/shopping.md', SHOPPING, PHONE)),
    phone('sync_push', pushed('house/heating.md', OFFERS, PHONE)),
    agent('write', { id: 'release/2.4.md', content: RELEASE }),
    agent('write', { id: 'release/checklist.md', content: '# Checklist\n\n1. Freeze\n2. Sign\n3. Announce\n' }),
    agent('write', { id: `meetings/${day(today, -6)}.md`, content: '# Weekly\n\nThe move is on Thursday.\n' }),
    agent('write', { id: 'scripts/sign.sh', content: '#!/bin/sh\nset -eu\ngpg --detach-sign "$1"\n' }),
    agent('edit', { id: 'house/shopping.md', old: '- milk', new: '- two bottles of milk' }),
    {
      ...phone('sync_push', pushed('house/shopping.md', SHOPPING.replace('- milk', '- oat milk'), 'laptop')),
      refused: true,
    },
    agent('create_dev_doc', { title: 'CLAUDE.md', category: 'claude', content: RULES }),
    agent('create_paper', {
      title: 'Why we keep our own clocks',
      content: '# Why we keep our own clocks\n\nTwo machines never agree on the time.\n',
    }),
    agent('remember', { fact: 'The staging database is db2. It is reset each Monday.', about: 'database' }),
    agent('remember', { fact: 'Jun signs releases; Mina announces them.', about: 'release' }),
    agent('handoff_save', {
      project: 'release',
      topic: 'release 2.4',
      content: '# State\n\nPackages are signed. Open: certificates, announcement.\n',
    }),
  ];
}

/** What the agent does while somebody watches. */
export function session(today: string): readonly SessionStep[] {
  const step = (says: string, tool: string, args: StoryCall['args']): SessionStep => ({ by: AGENT, says, tool, args });
  return [
    step('reads what the last session left', 'start_session', { project: 'release' }),
    step('looks for what was said about the announcement', 'search', { query: 'announcement' }),
    step('takes the announcement', 'change_tasks', { tasks: [{ id: 2, status: 'in_progress' }] }),
    step('writes a draft', 'write', {
      id: 'release/announcement.md',
      content: '# Cairn 2.4\n\nFaster search, and a second machine.\n',
    }),
    step('adds what people will ask', 'edit', {
      id: 'release/announcement.md',
      append: '\n## Questions\n\n- Do I have to do anything? No.\n',
    }),
    step('ticks it off in the plan', 'edit', {
      id: 'release/2.4.md',
      old: '- [ ] Announcement written',
      new: '- [x] Announcement written',
    }),
    step('finishes the task', 'change_tasks', { tasks: [{ id: 2, completed: true }] }),
    step('notes two steps for Jun', 'add_tasks', {
      tasks: [
        { content: 'Read the draft of the announcement', category: 'Release', due_date: day(today, 1) },
        { content: 'Renew the certificate of the mail server', category: 'Release', due_date: day(today, 12) },
      ],
    }),
    step('keeps a decision', 'remember', { fact: 'Announcements have a part “Questions”.', about: 'release' }),
    step('leaves a handoff', 'handoff_save', {
      project: 'release',
      topic: 'release 2.4',
      content: '# State\n\nThe announcement is written; Jun reads it. Open: certificates.\n',
    }),
  ];
}
