/** Exports the handoffs of an account to an archive and imports them. */
import { z } from 'zod';
import { lastNumber } from '../../archive/last-number.ts';
import {
  changedByName,
  type ImportTarget,
  type Instant,
  id,
  importSection,
  instantUpTo,
  text,
  whole,
} from '../../archive/records.ts';
import type { SectionWriter } from '../../archive/writer.ts';
import { invalidField, refuseFields } from '../../common/fault.ts';
import { limits } from '../../limits/service.ts';
import type { Batch } from '../../store/group-commit.ts';
import type { Snapshot } from '../../store/table.ts';
import { isCalendarDate } from '../../time/calendar.ts';
import { isTimeOfDay } from '../../time/kst.ts';
import { putInBin } from '../bin.ts';
import { exportDocument, type ReadVersions, VersionsImport, versionSchema } from '../portable.ts';
import { namesOf, rowsOf } from './lookup.ts';
import { type HandoffRecord, handoffHeads, handoffNames, handoffRows, handoffs } from './records.ts';
import { cleanName, nameErrors } from './rules.ts';
import { previewOf } from './service.ts';

/** Records of the section: the counters, then the handoffs by number, each followed by its versions. */
export const handoffRecord = (instant: Instant) =>
  z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('counters'), handoff_id: whole }),
    z.strictObject({
      type: z.literal('handoff'),
      id,
      project: text(limits.handoffNameCharsMax),
      topic: text(limits.handoffNameCharsMax),
      date: z.string().refine(isCalendarDate, 'must be a calendar date'),
      time: z.string().refine(isTimeOfDay, 'must be HHMM').nullable(),
      version: id,
      created_at: instant,
      updated_at: instant,
      changed_by: changedByName,
    }),
    versionSchema(instant),
  ]);

type Handoff = Omit<HandoffRecord, 'size_bytes' | 'json_bytes' | 'preview'>;

export function exportHandoffs(snapshot: Snapshot, accountId: string, output: SectionWriter): void {
  const head = snapshot.get(handoffHeads, [accountId]);
  const last = lastNumber(snapshot, handoffs, accountId);
  if (head === undefined && last === 0) return;
  output.write({ type: 'counters', handoff_id: Math.max(head?.handoff_id ?? 0, last) });
  for (const { value } of snapshot.entries(handoffs, { prefix: [accountId] })) {
    const { size_bytes: _size, json_bytes: _json, preview: _preview, ...shown } = value;
    const handoff = { type: 'handoff', ...shown };
    exportDocument(snapshot, { accountId, space: 'handoffs', id: value.id }, handoff, output);
  }
}

/** Imports handoffs into an account that has none. */
export async function importHandoffs(target: ImportTarget): Promise<void> {
  const { actors, accountId, latestMs } = target;
  const versions = new VersionsImport<Handoff>({
    target,
    section: 'handoffs',
    space: 'handoffs',
    keep: (batch, handoff, read) => put(batch, accountId, handoff, read),
  });
  let head: { readonly handoff_id: number } | undefined;
  let last = 0;
  await importSection(target, 'handoffs', handoffRecord(instantUpTo(latestMs)), ({ type, ...record }, wait) => {
    if (type === 'counters') {
      if (head !== undefined) throw invalidField('type', 'the counters must be the first line, once');
      const made = record as { readonly handoff_id: number };
      head = made;
      return wait(actors.account(accountId).ask((batch) => batch.put(handoffHeads, [accountId], made)));
    }
    if (head === undefined) throw invalidField('type', 'the counters must be the first line');
    if (type === 'version') {
      return wait(versions.version({ type, ...record } as Parameters<typeof versions.version>[0]));
    }
    const handoff = record as Handoff;
    if (handoff.id <= last || handoff.id > head.handoff_id) {
      throw invalidField('id', `id ${handoff.id} must be above ${last}, and at most the counter of the archive`);
    }
    last = handoff.id;
    const { project, topic } = handoff;
    refuseFields(nameErrors({ project, topic }));
    if (cleanName(project) !== project || cleanName(topic) !== topic) {
      throw invalidField('project', 'project or topic is not in its stored form');
    }
    versions.begin(handoff);
  });
  versions.finish();
}

function put(batch: Batch, accountId: string, named: Handoff, { text: content, size, replaced }: ReadVersions): void {
  const handoff: HandoffRecord = { ...named, preview: previewOf(content), ...size };
  batch.put(handoffs, [accountId, handoff.id], handoff);
  for (const names of namesOf(accountId, handoff)) {
    if (batch.get(handoffNames, names) !== undefined) throw invalidField('topic', 'another handoff has this name');
    batch.put(handoffNames, names, { id: handoff.id });
  }
  for (const row of rowsOf(accountId, handoff)) batch.put(handoffRows, row, { id: handoff.id });
  const name = { accountId, space: 'handoffs' as const, id: handoff.id };
  for (const { version, sinceMs } of replaced) putInBin(batch, sinceMs, name, version);
}
