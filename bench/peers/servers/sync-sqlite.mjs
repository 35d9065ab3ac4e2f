/** Child program: accepts pushes with fastify and better-sqlite3: hash, check of the current row, durable upsert. */
import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import Fastify from 'fastify';

const [port = '0', file = ''] = process.argv.slice(2);
const db = new Database(file);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec(`CREATE TABLE files (
  path TEXT PRIMARY KEY, seq INTEGER NOT NULL, content TEXT NOT NULL, sha256 TEXT NOT NULL, git_sha TEXT NOT NULL,
  hlc TEXT NOT NULL, device_id TEXT NOT NULL, size_bytes INTEGER NOT NULL, stored_at TEXT NOT NULL
) WITHOUT ROWID`);
const current = db.prepare('SELECT seq, sha256, git_sha, hlc, stored_at FROM files WHERE path = ?');
const newest = db.prepare('SELECT coalesce(max(seq), 0) FROM files').pluck();
const upsert = db.prepare(`INSERT INTO files VALUES (@path, @seq, @content, @sha256, @git_sha, @hlc, @device_id,
  @size_bytes, @stored_at) ON CONFLICT (path) DO UPDATE SET seq = excluded.seq, content = excluded.content,
  sha256 = excluded.sha256, git_sha = excluded.git_sha, hlc = excluded.hlc, device_id = excluded.device_id,
  size_bytes = excluded.size_bytes, stored_at = excluded.stored_at`);
let seq = newest.get();

/** Undefined: the stored row is newer. */
const take = db.transaction(({ path, content, sha256, hlc, device_id }, bytes) => {
  const row = current.get(path);
  if (row?.sha256 === sha256) return { ...row, path, status: 'unchanged' };
  if (row !== undefined && row.hlc >= hlc) return undefined;
  seq += 1;
  const git_sha = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  const next = { path, seq, content, sha256, git_sha, hlc, device_id, size_bytes: bytes.length };
  upsert.run({ ...next, stored_at: new Date().toISOString() });
  return {
    ...next,
    content: undefined,
    previous_hlc: row?.hlc ?? null,
    status: row === undefined ? 'created' : 'updated',
  };
});

const app = Fastify();
const text = (maxLength) => ({ type: 'string', minLength: 1, maxLength });
const body = {
  type: 'object',
  properties: { path: text(1024), content: text(65_536), sha256: text(64), hlc: text(128), device_id: text(128) },
  required: ['path', 'content', 'sha256', 'hlc', 'device_id'],
};
app.post('/push', { schema: { body } }, (request, reply) => {
  const bytes = Buffer.from(request.body.content);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== request.body.sha256) return reply.code(422).send({ error: 'sha256 differs' });
  return take.immediate(request.body, bytes) ?? reply.code(409).send({ error: 'server has newer HLC' });
});
await app.listen({ port: Number(port), host: '127.0.0.1' });
