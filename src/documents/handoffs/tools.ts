/** Declares the tools for handoffs. */
import { z } from 'zod';
import type { CallerName } from '../../common/principal.ts';
import { notesOf } from '../../fields/record.ts';
import { DESTROYS, defineTool, READS, SETS, type Tool } from '../../gateway/tool.ts';
import { headed, plural, withContent } from '../../gateway/words.ts';
import { limits } from '../../limits/service.ts';
import { asOfVersion, keptVersion, versionLines, versionView } from '../views.ts';
import { declaredHandoff, type HandoffRecord, otherHandoffInputs } from './declared.ts';
import { handoffDay, handoffReference, handoffTime, newHandoff } from './fields.ts';
import type { Handoffs } from './service.ts';
import { handoffUri } from './uri.ts';

const handoffSchema = declaredHandoff.shown;
const view = declaredHandoff.show;

/** Returns every tool of this capability. */
export function handoffTools(handoffs: Handoffs, nameOf: CallerName): Tool[] {
  return [handoffSave(handoffs, nameOf), handoffList(handoffs), handoffGet(handoffs)];
}

function handoffSave(handoffs: Handoffs, nameOf: CallerName): Tool {
  return defineTool({
    name: 'handoff_save',
    title: 'Save a handoff',
    access: 'account',
    description: `Saves notes for the next session. The same project, topic, date and time replaces them; earlier text is kept ${limits.binDays} days.`,
    input: newHandoff,
    output: z.object({ handoff: handoffSchema }),
    annotations: SETS,
    hints: { search: 'handoff save state of work for next session' },
    example: { project: 'cairn', topic: 'release', content: '# State\n\nAll green. Next: tag it.', time: '0930' },
    async handle(args, principal) {
      const handoff = await handoffs.save(principal.accountId, args, nameOf(principal));
      return {
        structured: { handoff: view(handoff) },
        text: `saved ${line(handoff)}, version ${handoff.version}${replaced(handoff)}`,
      };
    },
  });
}

/** Tells an agent that another one may have saved under the same name. */
function replaced({ version }: HandoffRecord): string {
  if (version === 1) return '';
  return `; it replaces an earlier text, which handoff_get returns with version: ${version - 1}; send time to keep both`;
}

function handoffList(handoffs: Handoffs): Tool {
  return defineTool({
    name: 'handoff_list',
    title: 'List handoffs',
    access: 'account',
    description:
      'Lists handoffs, newest first, with previews. Permanently deletes those past the retention period (if one is set).',
    input: z.strictObject({
      project: declaredHandoff.inputs.project.optional(),
      limit: z.int().min(1).max(limits.handoffListMax).optional().describe(`Default ${limits.handoffListDefault}`),
      cursor: z.string().min(1).max(limits.cursorCharsMax).optional().describe('From an earlier answer'),
    }),
    output: z.object({
      handoffs: z.array(handoffSchema.extend({ preview: z.string().describe('The beginning, on one line') })),
      count: z.int().nonnegative().describe('Handoffs in this answer'),
      has_more: z.boolean().describe('True: call again with the cursor'),
      cursor: z.string().nullable(),
    }),
    annotations: DESTROYS,
    openToReaders: true,
    example: { project: 'cairn', limit: 10 },
    async handle(args, { accountId, readOnly }) {
      // A reader deletes nothing.
      const { handoffs: found, cursor } =
        readOnly === true ? handoffs.page(accountId, args) : await handoffs.list(accountId, args);
      const structured = {
        handoffs: found.map((handoff) => ({ ...view(handoff), preview: handoff.preview })),
        count: found.length,
        has_more: cursor !== undefined,
        cursor: cursor ?? null,
      };
      const more = cursor === undefined ? '' : ` (there are more; continue with cursor ${JSON.stringify(cursor)})`;
      const { project } = args;
      const meant = project !== undefined && found.length === 0 ? handoffs.meantProject(accountId, project) : undefined;
      const hint = meant === undefined ? '' : `; did you mean the project ${JSON.stringify(meant)}?`;
      const headline = `${plural(found.length, 'handoff')}${more}${hint}`;
      return {
        structured,
        text: headed(headline, found, (handoff) => `${line(handoff)}, version ${handoff.version}: ${handoff.preview}`),
      };
    },
  });
}

function handoffGet(handoffs: Handoffs): Tool {
  return defineTool({
    name: 'handoff_get',
    title: 'Read a handoff',
    access: 'account',
    description: 'Reads the latest handoff that matches.',
    input: z.strictObject({
      ...handoffReference,
      date: handoffDay.describe('Default: latest'),
      time: handoffTime,
      include_versions: z.boolean().optional().describe('Also list kept versions'),
      version: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional().describe('Default: current'),
    }),
    output: z.object({
      handoff: handoffSchema
        .extend({ content: z.string() })
        .describe('Version, size, updated_at and changed_by are those of the content'),
      current_version: z.int().positive(),
      versions: z.array(keptVersion).optional().describe('Newest first'),
    }),
    annotations: READS,
    example: { project: 'cairn', topic: 'release' },
    handle({ include_versions: withVersions, ...request }, { accountId }) {
      const { record: handoff, shown, content } = handoffs.get(accountId, request);
      const { version } = shown;
      const versions = withVersions === true ? handoffs.versions(accountId, handoff).map(versionView) : undefined;
      const structured = {
        handoff: { ...asOfVersion(view(handoff), shown), content },
        current_version: handoff.version,
        ...(versions && { versions }),
      };
      const of = version === handoff.version ? '' : ` (now ${handoff.version})`;
      const kept = versions === undefined ? '' : versionLines(versions);
      const isLatest = request.date === undefined && request.time === undefined && version === handoff.version;
      const uri = isLatest ? handoffUri(handoff) : undefined;
      return { structured, text: withContent(`${line(handoff)}, version ${version}${of}:${kept}`, content, uri) };
    },
  });
}

function line(handoff: HandoffRecord): string {
  const { project, topic, date, time } = handoff;
  const when = time === null ? date : `${date} ${time}`;
  return [`${project} / ${topic}`, when, ...notesOf(otherHandoffInputs, handoff)].join(', ');
}
