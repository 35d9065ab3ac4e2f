/** Child program: tasks with fastify and better-sqlite3. Fills its file, then serves a page and accepts inserts. */
import Database from 'better-sqlite3';
import { ACCOUNT, newTask, taskApp } from './tasks-app.mjs';

const [port = '0', file = '', count = '0'] = process.argv.slice(2);
const db = new Database(file);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(`CREATE TABLE tasks (
  id INTEGER PRIMARY KEY, account_id TEXT NOT NULL, content TEXT NOT NULL, due_date TEXT,
  is_important INTEGER NOT NULL, completed INTEGER NOT NULL, completed_at TEXT, category_id INTEGER,
  kanban_status TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT,
  version INTEGER NOT NULL, changed_by TEXT NOT NULL
);
CREATE INDEX by_due ON tasks (account_id, completed, due_date, id) WHERE deleted_at IS NULL;`);
const insert = db.prepare(
  `INSERT INTO tasks (account_id, content, due_date, is_important, completed, completed_at, kanban_status, created_at,
    updated_at, version, changed_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 'desk')`,
);
const where = 'account_id = ? AND completed = ? AND deleted_at IS NULL';
const counted = db.prepare(`SELECT count(*) AS total FROM tasks WHERE ${where}`).pluck();
const listed = db.prepare(
  `SELECT id, content, due_date, is_important, completed, completed_at, category_id, kanban_status, version,
    created_at, updated_at, changed_by FROM tasks WHERE ${where} ORDER BY due_date, id LIMIT ? OFFSET ?`,
);

/** Stores a new task and returns its id. */
function store(task) {
  const { content, due_date, is_important, completed, completed_at, kanban_status, created_at, updated_at } = task;
  const values = [content, due_date, +is_important, +completed, completed_at, kanban_status, created_at, updated_at];
  return Number(insert.run(ACCOUNT, ...values).lastInsertRowid);
}

function view(row) {
  return { ...row, is_important: row.is_important === 1, completed: !!row.completed };
}

// The same tasks as the bench creates in the hub.
db.transaction(() => {
  for (let index = 0; index < Number(count); index += 1) {
    const due = new Date(Date.UTC(2026, 0, 1 + ((index * 7919) % 365))).toISOString().slice(0, 10);
    store(newTask({ content: `Task number ${index}`, due_date: due, completed: index % 4 === 0 }));
  }
})();
db.exec('ANALYZE');
db.pragma('wal_checkpoint(TRUNCATE)');

const app = taskApp(store);
const page = {
  type: 'object',
  properties: {
    completed: { type: 'boolean' },
    sort_by: { enum: ['due_date'] },
    page: { type: 'integer', minimum: 1, default: 1 },
    per_page: { type: 'integer', minimum: 1, maximum: 100, default: 25 },
  },
  required: ['completed', 'sort_by'],
};
app.get('/api/tasks', { schema: { querystring: page } }, (request) => {
  const { completed, page: number, per_page: perPage } = request.query;
  const total = counted.get(ACCOUNT, +completed);
  const rows = listed.all(ACCOUNT, +completed, perPage, (number - 1) * perPage);
  return {
    data: rows.map(view),
    meta: { page: number, per_page: perPage, total, total_pages: Math.ceil(total / perPage) },
  };
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
