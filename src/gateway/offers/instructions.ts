/** Defines the instructions for connecting clients: what to use when. A host may show them to its model. */
import { limits } from '../../limits/service.ts';

/** About 150 words, because a model reads them with every conversation. */
export const INSTRUCTIONS = `Cairn holds what one account shares among its devices and agents.

Tasks: list_tasks with due_today answers "what is next"; create_task and update_task change them.

Dev docs are documents for agents (CLAUDE.md, rules, skills, notes): list_dev_docs finds one, get_dev_doc reads it.

Handoffs carry a project from one session to the next: read the last one with handoff_get when you begin, write one with handoff_save before you end.

Vaults are folders of files in sync. sync_list finds paths, sync_pull with path reads a file, sync_push with the sha256 that you read as base_sha writes it, sync_history and sync_restore bring back what was. A push that is refused as a conflict is kept: merge it with sync_merge, or choose a side with sync_resolve_conflict; do not send it again unchanged.

Deleted tasks, papers and dev docs stay in the trash for ${limits.binDays} days.

Without a key, call signup_and_get_key or login_and_get_key, then get_setup_guide.`;
