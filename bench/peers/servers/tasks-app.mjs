/** The part that servers of tasks have in common: one account, the public form of a task, and fastify with its checks. */
import Fastify from 'fastify';

export const ACCOUNT = 'account';

/** Returns a new task in public form, without its id. */
export function newTask({ content, due_date: due = null, is_important: important = false, completed = false }) {
  const now = new Date().toISOString();
  return {
    content,
    due_date: due,
    is_important: important,
    completed,
    completed_at: completed ? now : null,
    category_id: null,
    kanban_status: completed ? 'done' : 'todo',
    version: 1,
    created_at: now,
    updated_at: now,
    changed_by: 'desk',
  };
}

const DOCUMENT = {
  type: 'object',
  properties: {
    content: { type: 'string', minLength: 1, maxLength: 10_000 },
    due_date: { type: 'string', minLength: 10, maxLength: 10 },
  },
  required: ['content'],
};

/** Returns a server that stores a posted task with `insert`, which returns its id, or a promise of it. */
export function taskApp(insert) {
  const app = Fastify();
  app.post('/api/tasks', { schema: { body: DOCUMENT } }, async (request) => {
    const task = newTask(request.body);
    return { id: await insert(task), ...task };
  });
  return app;
}
