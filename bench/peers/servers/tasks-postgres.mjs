/** Child program: tasks with fastify and PostgreSQL over a pool of 64 connections. Accepts inserts; each one is durable. */
import pg from 'pg';
import { ACCOUNT, taskApp } from './tasks-app.mjs';

const [port = '0', connectionString = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString, max: 64 });
await pool.query(`CREATE TABLE tasks (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account_id TEXT NOT NULL, content TEXT NOT NULL, due_date TEXT,
  is_important BOOLEAN NOT NULL, completed BOOLEAN NOT NULL, completed_at TEXT, category_id BIGINT,
  kanban_status TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT,
  version INTEGER NOT NULL, changed_by TEXT NOT NULL
);
CREATE INDEX by_due ON tasks (account_id, completed, due_date, id) WHERE deleted_at IS NULL;`);
/** Prepared once a connection, by its name. */
const INSERT = {
  name: 'insert',
  text: `INSERT INTO tasks (account_id, content, due_date, is_important, completed, completed_at, kanban_status, created_at,
    updated_at, version, changed_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, 'desk') RETURNING id`,
};

const app = taskApp(async (task) => {
  const { content, due_date, is_important, completed, completed_at, kanban_status, created_at, updated_at } = task;
  const values = [
    ACCOUNT,
    content,
    due_date,
    is_important,
    completed,
    completed_at,
    kanban_status,
    created_at,
    updated_at,
  ];
  const { rows } = await pool.query({ ...INSERT, values });
  return Number(rows[0].id);
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
