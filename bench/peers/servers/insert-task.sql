INSERT INTO tasks (account_id, content, due_date, is_important, completed, completed_at, kanban_status, created_at,
  updated_at, version, changed_by)
  VALUES ('account', 'Renew the certificate', '2026-12-01', false, false, NULL, 'todo', '2026-11-27T07:00:00.000Z',
  '2026-11-27T07:00:00.000Z', 1, 'desk') RETURNING id;
