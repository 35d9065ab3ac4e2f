/** Defines the instructions for connecting clients: what to use when. A host may show them to its model. */

/** About 150 words, because a model reads them with every conversation. The tools are those of the door for models. */
export const INSTRUCTIONS = `Cairn holds what one account shares among its devices and agents: files, notes, documents, tasks, handoffs.

An id is cairn://… as answers show it, or the path of a file in the primary vault. list without arguments shows what there is; read takes an id, also of a section or lines; edit changes a part of a text; write makes a new one, or replaces the version that you read. What you replace, move or remove can be restored.

Tasks: list_tasks with due_today and overdue answers "what is next"; add_tasks and change_tasks take many at once.

Rules, skills and commands for agents are dev docs (cairn://docs/rules/…). Call start_session when you begin: it has the last handoff of the project. Call handoff_save before you end. remember keeps single facts, recall finds them.

A refused change of a file is kept as a conflict: read it, then settle_conflict.

detail: true adds hashes and clocks to any call. /mcp?toolsets=all lists the tools for devices and programs.

Without a key, call signup_and_get_key or login_and_get_key.`;
