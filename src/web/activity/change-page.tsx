/** The page of one change of a task or document: its text before and after, side by side. */
import type { VNode } from 'preact';
import type { NumberedChange } from '../../activity/log.ts';
import { Refusal } from '../../common/fault.ts';
import { readId } from '../../fields/kinds.ts';
import type { Reply } from '../../http/reply/reply.ts';
import { limits } from '../../limits/service.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import { FieldChanges } from '../rendering/field-changes.tsx';
import { Given, Moment, Who } from '../ui.tsx';
import { DiffTable, type RenderedDiff, renderDiff } from '../vaults/compare/diff-table.tsx';
import { sideBySide } from '../vaults/compare/side-by-side.ts';

import { ACTIVITY_PATH } from './query.ts';

interface ChangeOptions extends Pick<Capabilities, 'activity' | 'sync' | 'tasks' | 'docs' | 'handoffs' | 'papers'> {
  readonly pages: Pages;
}

export async function showChange(options: ChangeOptions, visit: MemberVisit): Promise<Reply> {
  const { pages, activity, sync, tasks } = options;
  const { accountId, request } = visit;
  const number = readId(request.params['number']);
  const change = number === undefined ? undefined : activity.get(accountId, number);
  if (change === undefined) throw new Refusal({ kind: 'not_found', what: 'this change is no longer kept' });
  const texts = textsOf(options, accountId, change);
  const diff =
    texts === undefined
      ? undefined
      : await sync.comparer.diff(
          { ...texts, beforeName: 'before', afterName: 'after', contextLines: limits.diffContextLines },
          accountId,
        );
  const rendered =
    diff?.includes('\n@@ ') === true ? await renderDiff(sideBySide(diff, limits.diffRowsMax), accountId) : undefined;
  const names = new Map(tasks.categories.list(accountId).map(({ id, name }) => [id, name]));
  return pages.show(visit, {
    title: `Changes: ${change.name}`,
    section: 'activity',
    body: <ChangePage visit={visit} change={change} diff={rendered} categoryName={(id) => names.get(id)} />,
  });
}

/** Undefined: the text did not change, or is no longer kept. */
function textsOf(
  options: ChangeOptions,
  accountId: string,
  { kind, item, before, after }: NumberedChange,
): { readonly before: string; readonly after: string } | undefined {
  if (kind === 'tasks') {
    const [was, is] = [before['content'], after['content']];
    return typeof was === 'string' && typeof is === 'string' ? { before: was, after: is } : undefined;
  }
  if (after['version'] === undefined) return undefined;
  const versionOf = (version: unknown) => {
    try {
      return options[kind].openById(accountId, item, Number(version)).content;
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  };
  const kept = before['content'];
  const was = typeof kept === 'string' ? kept : versionOf(before['version']);
  const is = versionOf(after['version']);
  return was === undefined || is === undefined ? undefined : { before: was, after: is };
}

interface ChangePageProps {
  readonly visit: MemberVisit;
  readonly change: NumberedChange;
  readonly diff: RenderedDiff | undefined;
  readonly categoryName: (id: number) => string | undefined;
}

function ChangePage({ visit, change, diff, categoryName }: ChangePageProps): VNode {
  const { content: _was, version: _from, ...before } = change.before;
  const { content: _is, version: _to, ...after } = change.after;
  return (
    <>
      <div class="intro">
        <nav aria-label="Path" class="crumbs">
          <a href={ACTIVITY_PATH}>Activity</a>
        </nav>
        <h1 class="path">
          <Given>{change.name}</Given>
        </h1>
        <p class="lead">
          Changed by <Who name={change.by ?? 'somebody'} visit={visit} />,{' '}
          <Moment at={change.at_ms} zone={visit.zone} />
        </p>
      </div>
      <section class="panel" aria-labelledby="differences">
        <h2 id="differences">Changes</h2>
        <FieldChanges before={before} after={after} categoryName={categoryName} />
        {diff === undefined ? (
          <p>The text did not change, or its earlier version is no longer kept.</p>
        ) : (
          <DiffTable diff={diff} left="− Before" right="+ After" />
        )}
      </section>
    </>
  );
}
