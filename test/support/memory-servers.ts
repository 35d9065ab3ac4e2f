/**
 * What two memory servers are for, by their own READMEs and tests, done with their tools and with ours: Anthropic's
 * `@modelcontextprotocol/server-memory` (entities, observations, relations) and Basic Memory (notes in Markdown).
 */
import type { Task } from './role-play.ts';

/** A scenario of another server. `before`: its calls; `after`: ours, at the door for models. */
export interface Scenario extends Task {
  /** What theirs gives and ours does not. */
  readonly lacks?: string;
}

const alice = { from: 'Alice', to: 'Bob', relationType: 'knows' };

/** In order: later ones need what earlier ones kept. Facts are dev docs, numbered from 1. */
export const GRAPH: readonly Scenario[] = [
  {
    what: 'create two entities, each with an observation',
    says: /is remembered/,
    before: [
      [
        'create_entities',
        {
          entities: [
            { name: 'Alice', entityType: 'person', observations: ['works at Acme Corp'] },
            { name: 'Bob', entityType: 'person', observations: ['likes programming'] },
          ],
        },
      ],
    ],
    after: [
      ['remember', { fact: 'Alice works at Acme Corp.', about: 'Alice' }],
      ['remember', { fact: 'Bob likes programming.', about: 'Bob' }],
    ],
    lacks: 'several facts in one call; types of entities',
  },
  {
    what: 'create one again',
    says: /was known already/,
    before: [
      [
        'create_entities',
        { entities: [{ name: 'Alice', entityType: 'person', observations: ['works at Acme Corp'] }] },
      ],
    ],
    after: [['remember', { fact: 'Alice works at Acme Corp.', about: 'Alice' }]],
  },
  {
    what: 'create a relation',
    says: /is remembered/,
    before: [['create_relations', { relations: [alice] }]],
    after: [['remember', { fact: 'Alice knows Bob.', about: 'Alice' }]],
    lacks: 'relations as data: their ends need not exist, and nothing follows them',
  },
  {
    what: 'add two observations',
    says: /is remembered/,
    before: [
      ['add_observations', { observations: [{ entityName: 'Alice', contents: ['likes coffee', 'has a dog'] }] }],
    ],
    after: [
      ['remember', { fact: 'Alice likes coffee.', about: 'Alice' }],
      ['remember', { fact: 'Alice has a dog.', about: 'Alice' }],
    ],
    lacks: 'several facts in one call',
  },
  {
    what: 'search by name: observations and relations',
    says: /(?=[\s\S]*Acme)(?=[\s\S]*coffee)(?=[\s\S]*knows Bob)/,
    before: [['search_nodes', { query: 'Alice' }]],
    after: [['recall', { query: 'Alice' }]],
  },
  {
    what: 'search by what is observed, in any case',
    says: /Bob likes programming/,
    before: [['search_nodes', { query: 'PROGRAMMING' }]],
    after: [['recall', { query: 'PROGRAMMING' }]],
  },
  {
    what: 'search for what nobody said',
    says: /no fact matches/,
    before: [['search_nodes', { query: 'submarine' }]],
    after: [['recall', { query: 'submarine' }]],
  },
  {
    what: 'open two nodes',
    says: /(?=[\s\S]*has a dog)(?=[\s\S]*programming)/,
    before: [['open_nodes', { names: ['Alice', 'Bob'] }]],
    after: [['recall', { query: 'Alice Bob' }]],
  },
  {
    what: 'correct an observation',
    says: /the old one is in the trash/,
    before: [
      ['delete_observations', { deletions: [{ entityName: 'Alice', observations: ['likes coffee'] }] }],
      ['add_observations', { observations: [{ entityName: 'Alice', contents: ['likes tea'] }] }],
    ],
    after: [['remember', { fact: 'Alice likes tea.', replaces: 'cairn://docs/4' }]],
  },
  {
    what: 'delete an observation',
    says: /1 removed/,
    before: [['delete_observations', { deletions: [{ entityName: 'Alice', observations: ['has a dog'] }] }]],
    after: [['remove', { ids: ['cairn://docs/5'] }]],
  },
  {
    what: 'read everything',
    says: /(?=[\s\S]*Acme)(?=[\s\S]*likes tea)(?=[\s\S]*programming)/,
    before: [['read_graph', {}]],
    after: [['recall', {}]],
  },
  {
    what: 'delete an entity with its relations',
    says: /2 removed/,
    before: [['delete_entities', { entityNames: ['Bob'] }]],
    after: [
      ['recall', { query: 'Bob' }],
      ['remove', { ids: ['cairn://docs/2', 'cairn://docs/3'] }],
    ],
    lacks: 'removing all about something in one call: its facts are found first',
  },
];

const GUIDE = '# API Guide\n\nThe version is v1.0.0.\n\n## Setup\nUse v1.0.0.\n\n## Notes\n- v1.0.0 is old\n';
const project = 'main';

export const NOTES: readonly Scenario[] = [
  {
    what: 'write a note',
    says: /is created/,
    before: [['write_note', { project, title: 'API Guide', directory: 'docs', content: GUIDE, tags: 'api,docs' }]],
    after: [['write', { id: 'docs/API Guide.md', content: `---\ntags: [api, docs]\n---\n${GUIDE}` }]],
  },
  {
    what: 'read it',
    says: /The version is v1\.0\.0/,
    before: [['read_note', { project, identifier: 'API Guide' }]],
    after: [['read', { id: 'docs/API Guide.md' }]],
  },
  {
    what: 'append to it',
    says: /is edited/,
    before: [['edit_note', { project, identifier: 'API Guide', operation: 'append', content: '\n## New\n\nMore.' }]],
    after: [['edit', { id: 'docs/API Guide.md', append: '\n## New\n\nMore.' }]],
  },
  {
    what: 'prepend to it',
    says: /is edited/,
    before: [['edit_note', { project, identifier: 'API Guide', operation: 'prepend', content: '## Important\n\n' }]],
    after: [['edit', { id: 'docs/API Guide.md', old: '# API Guide\n', new: '## Important\n\n# API Guide\n' }]],
    lacks: 'prepend without a line to put it before',
  },
  {
    what: 'find and replace three times',
    says: /3 places/,
    before: [
      [
        'edit_note',
        {
          project,
          identifier: 'API Guide',
          operation: 'find_replace',
          content: 'v1.2.0',
          find_text: 'v1.0.0',
          expected_replacements: 3,
        },
      ],
    ],
    after: [['edit', { id: 'docs/API Guide.md', old: 'v1.0.0', new: 'v1.2.0', all: true }]],
  },
  {
    what: 'replace a section',
    says: /is edited/,
    before: [
      [
        'edit_note',
        { project, identifier: 'API Guide', operation: 'replace_section', content: 'Use queues.', section: '## Setup' },
      ],
    ],
    after: [['edit', { id: 'docs/API Guide.md', section: 'Setup', text: 'Use queues.' }]],
  },
  {
    what: 'begin a log that is not there yet',
    says: /is created/,
    before: [['edit_note', { project, identifier: 'conversations/log', operation: 'append', content: '# Log\n' }]],
    after: [['write', { id: 'conversations/log.md', content: '# Log\n' }]],
    lacks: 'appending to a note that does not exist creates none: write does',
  },
  {
    what: 'search for words',
    says: /API Guide\.md/,
    before: [['search_notes', { project, query: 'queues' }]],
    after: [['search', { query: 'queues' }]],
    lacks: 'OR, NOT and search by meaning',
  },
  {
    what: 'search titles only',
    says: /API Guide\.md/,
    before: [['search_notes', { project, query: 'Guide', search_type: 'title' }]],
    after: [['list', { glob: '*Guide*' }]],
  },
  {
    what: 'notes of a folder by a pattern',
    says: /conversations\/log\.md/,
    before: [['search_notes', { project, query: 'main/conversations/*', search_type: 'permalink' }]],
    after: [['list', { glob: 'conversations/*' }]],
  },
  {
    what: 'what a note is linked with',
    says: /API Guide\.md/,
    before: [['build_context', { project, url: 'memory://docs/api-guide', depth: 1 }]],
    after: [['search', { query: 'API Guide' }]],
    lacks: 'links between notes as data: what names a note is found by its words, and not followed further',
  },
  {
    what: 'what changed lately',
    says: /changed since: .*conversations\/log\.md/,
    before: [['recent_activity', { project, timeframe: '7d' }]],
    after: [['start_session', {}]],
    lacks: 'a period of choice',
  },
  {
    what: 'list a directory',
    says: /docs\/API Guide\.md/,
    before: [['list_directory', { project, dir_name: 'docs' }]],
    after: [['list', { in: 'docs/' }]],
  },
  {
    what: 'move a note',
    says: /1 moved/,
    before: [['move_note', { project, identifier: 'API Guide', destination_path: 'archive/API Guide.md' }]],
    after: [['move', { id: 'docs/API Guide.md', to: 'archive/' }]],
  },
  {
    what: 'delete a note',
    says: /1 removed/,
    before: [['delete_note', { project, identifier: 'conversations/log' }]],
    after: [['remove', { ids: ['conversations/log.md'] }]],
  },
];
