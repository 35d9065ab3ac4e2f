/** Adds pages whose bytes have changed since they were written to the report of a check of all rows. */
import type { ChangedPage } from '../store/data-file/page-sums.ts';
import type { IntegrityReport } from './verify.ts';

/** Tables of contents. Each content has its own hash, so damage is found by row, can be set aside, and can heal. */
const HASHED: ReadonlySet<string> = new Set(
  ['mirror_chunks', 'sync_versions', 'sync_pieces', 'sync_conflict_bytes', 'sync_pack_bytes'].map(
    (name) => `table ${name}`,
  ),
);

export function withChangedPages(report: IntegrityReport, changed: readonly ChangedPage[]): IntegrityReport {
  const isToldByRow = report.problems.length + report.set_aside.length > 0;
  const told = changed.filter(({ tree }) => !(isToldByRow && HASHED.has(tree)));
  if (told.length === 0) return report;
  const problems = told.map(({ page, tree }) => `page ${page} of ${tree}: its bytes have changed on the disk`);
  return { ...report, ok: false, changed_pages: told.length, problems: [...report.problems, ...problems] };
}
