/** Provides the handoffs as resources, and the prompts that begin and end a session with a handoff. */
import type { PromptKind } from '../../gateway/offers/prompt.ts';
import { beginningWith, type ResourceKind } from '../../gateway/offers/resource.ts';
import { limits } from '../../limits/service.ts';
import type { HandoffRecord } from './declared.ts';
import { handoffNames, handoffs as handoffTable } from './records.ts';
import type { Handoffs } from './service.ts';
import { handoffUri } from './uri.ts';

const PROJECT = { name: 'project', description: 'Project; default: that of the newest handoff', required: false };
const TOPIC = { name: 'topic', description: 'Part of the project; default: the newest', required: false };

export function handoffResources(handoffs: Handoffs): ResourceKind {
  return {
    template: 'cairn://handoffs/{project}/{topic}',
    name: 'handoffs',
    title: 'Handoffs',
    description: 'The latest handoff of a project and topic',
    mimeType: 'text/markdown',
    madeFrom: [handoffTable, handoffNames],
    listedFrom: [handoffNames],
    mark(accountId, { project = '', topic = '' }) {
      const { record: handoff } = handoffs.get(accountId, { project, topic });
      return `${handoff.id} ${handoff.version}`;
    },
    list(accountId, cursor, limit) {
      const page = handoffs.page(accountId, { cursor, limit: Math.min(limit, limits.handoffListMax) });
      // A URI names the latest handoff of a topic. Earlier ones are only available through the tools.
      const items = [...new Map(page.handoffs.map((one) => [handoffUri(one), itemOf(one)])).values()];
      return { items, cursor: page.cursor };
    },
    read(accountId, { project = '', topic = '' }) {
      return { mimeType: 'text/markdown', text: handoffs.get(accountId, { project, topic }).content };
    },
    complete: (accountId, variable, value, others) => completed(handoffs, accountId, variable, value, others),
  };
}

export function handoffPrompts(handoffs: Handoffs): PromptKind {
  return {
    madeFrom: [],
    listedFrom: [],
    list: () => [
      {
        name: 'resume',
        title: 'Resume from the last handoff',
        description: 'Continues where the last session of a project ended',
        arguments: [PROJECT, TOPIC],
      },
      {
        name: 'save_handoff',
        title: 'Save a handoff',
        description: 'Saves notes for the next session',
        arguments: [PROJECT, TOPIC],
      },
    ],
    text(accountId, name, { project, topic }) {
      return name === 'resume' ? resumeText(handoffs, accountId, project, topic) : saveText(project, topic);
    },
    complete: (accountId, argument, value, others) => completed(handoffs, accountId, argument, value, others),
  };
}

function resumeText(handoffs: Handoffs, accountId: string, project: string | undefined, topic: string | undefined) {
  const page = handoffs.page(accountId, { project, limit: limits.handoffListMax });
  const wanted = topic?.toLowerCase();
  const last = page.handoffs.find((one) => wanted === undefined || one.topic.toLowerCase() === wanted);
  if (last === undefined) return 'There is no such handoff yet. Say so, and ask what to work on.';
  const { project: of, topic: about, date, time } = last;
  const { content } = handoffs.get(accountId, { project: of, topic: about, date, time: time ?? undefined });
  const when = time === null ? date : `${date} ${time}`;
  return `Go on with ${of} / ${about}. This is the handoff of ${when}; check it against the current state before you act on it.\n\n${content}`;
}

function saveText(project: string | undefined, topic: string | undefined): string {
  const of = project === undefined ? 'the project that we worked on' : `project "${project}"`;
  const about = topic === undefined ? 'a topic of one or two words' : `topic "${topic}"`;
  return `Save a handoff with the tool handoff_save for ${of} and ${about}. Write for someone who knows nothing of this conversation: the goal, what is done and how it was checked, what is not done, decisions with their reasons, and the next step. Name files and commands exactly.`;
}

function completed(
  handoffs: Handoffs,
  accountId: string,
  variable: string,
  value: string,
  { project }: Readonly<Record<string, string>>,
): string[] {
  const page = handoffs.page(accountId, {
    project: variable === 'topic' ? project : undefined,
    limit: limits.handoffListMax,
  });
  return beginningWith(
    page.handoffs.map((one) => (variable === 'topic' ? one.topic : one.project)),
    value,
  );
}

function itemOf(handoff: HandoffRecord) {
  const { project, topic, size_bytes: size } = handoff;
  return { uri: handoffUri(handoff), name: `${project}/${topic}`, mimeType: 'text/markdown', size };
}
