/** The page of one conflict: both versions side by side, and three ways to resolve it. */
import type { VNode } from 'preact';
import type { ConflictSides, SideContent } from '../../../sync/conflicts/sides.ts';
import type { Vault } from '../../../sync/vaults/vaults.ts';
import type { Newline } from '../../../text/text-content.ts';
import { type Problem, TextArea } from '../../fields.tsx';
import type { MemberVisit } from '../../pages.ts';
import { bytesText, Form, Given, Moment, SubmitButton, Who } from '../../ui.tsx';
import { isYou } from '../../visit.ts';
import { DiffTable, type RenderedDiff } from '../compare/diff-table.tsx';
import { Crumbs } from '../crumbs.tsx';
import { conflictPath, filePath, sidePath } from '../paths.ts';
import type { Overlap } from './overlaps.ts';
import { ThreeWay } from './three-way.tsx';

export interface ConflictPageProps {
  readonly visit: MemberVisit;
  readonly vault: Vault;
  readonly sides: ConflictSides;
  /** Undefined: a side is not text, or too large to show. */
  readonly diff: RenderedDiff | undefined;
  /** The places that both sides changed, if the version before both is known. */
  readonly overlaps: readonly Overlap[];
  /** Initial text of the editor; undefined: only choosing a side is possible. */
  readonly draft: { readonly text: string; readonly newline: Newline; readonly isClean: boolean } | undefined;
  /** Path of the next pending conflict; undefined: this is the only one. */
  readonly next: string | undefined;
  readonly problem: Problem | undefined;
}

/** The names of the sides, used on the page and in the markers of a merged text. */
export function sideNames(visit: MemberVisit, sides: ConflictSides): SideNames {
  const { conflict, current } = sides;
  const maker = current?.record.device_id;
  const by = maker === undefined ? '' : isYou(visit, maker) ? ' (you)' : ` (${maker})`;
  return {
    yours: isYours(visit, sides) ? 'Your version' : `From ${conflict.record.device_id}`,
    hub: `On the hub${by}`,
  };
}

interface SideNames {
  readonly yours: string;
  readonly hub: string;
}

/** True when the refused change came from a browser like this one: its person is reading the page. */
function isYours(visit: MemberVisit, { conflict }: ConflictSides): boolean {
  return isYou(visit, conflict.record.device_id);
}

export function ConflictPage(props: ConflictPageProps): VNode {
  const { visit, vault, sides, diff, next } = props;
  const { record: conflict } = sides.conflict;
  const names = sideNames(visit, sides);
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} />
        <h1 class="path">
          <Given>{conflict.path}</Given>
        </h1>
        <p class="lead">
          <Who name={conflict.device_id} visit={visit} isFirst /> changed this file{' '}
          <Moment at={conflict.detected_at} zone={visit.zone} />, but the file on the hub had already changed. Both
          versions are kept until you choose.
        </p>
        <p class="actions">
          {next === undefined ? null : <a href={next}>Next conflict</a>}
          <a href={filePath(vault.id, conflict.path)}>History of this file</a>
        </p>
      </div>
      {props.problem === undefined ? null : (
        <p class="notice bad" role="alert">
          {Object.values(props.problem.fields).flat().join(' ')}
        </p>
      )}
      <div class="sides">
        <SideCard
          {...props}
          side="theirs"
          title={names.hub}
          content={sides.current?.content}
          sha256={sides.current?.record.sha256}
          action="Keep the hub version"
        />
        <SideCard
          {...props}
          side="yours"
          title={names.yours}
          content={sides.yours}
          sha256={conflict.your_sha256 ?? undefined}
          action={isYours(visit, sides) ? 'Keep mine' : `Keep the version from ${conflict.device_id}`}
        />
      </div>
      <ThreeWay
        overlaps={props.overlaps}
        mine={<MadeBy {...props} side="yours" />}
        theirs={<MadeBy {...props} side="theirs" />}
      />
      {diff === undefined ? null : <Differences diff={diff} names={names} />}
      <Editor {...props} />
    </>
  );
}

/** Who made a side, on which device, and when. */
function MadeBy({ visit, sides, side }: ConflictPageProps & { readonly side: 'yours' | 'theirs' }): VNode {
  const { record } = sides.conflict;
  const [by, at] =
    side === 'yours'
      ? [record.device_id, record.detected_at]
      : [sides.current?.record.device_id ?? '', sides.current?.record.stored_ms ?? record.detected_at];
  return (
    <>
      {isYou(visit, by) ? 'You, on ' : null}
      <Given>{by}</Given>, <Moment at={at} zone={visit.zone} />
    </>
  );
}

interface SideCardProps extends ConflictPageProps {
  readonly side: 'yours' | 'theirs';
  readonly title: string;
  readonly content: SideContent | undefined;
  readonly sha256: string | undefined;
  readonly action: string;
}

function SideCard(props: SideCardProps): VNode {
  const { visit, vault, sides, side, title, content, sha256, action } = props;
  const { id } = sides.conflict;
  return (
    <section class="panel" aria-label={title}>
      <div>
        <h2>
          <Given>{title}</Given>
        </h2>
        <p class="meta">
          {content === undefined ? (
            'Deletes the file'
          ) : (
            <>
              {bytesText(content.sizeBytes)} · <a href={sidePath(vault.id, id, side)}>Download</a>
            </>
          )}
        </p>
        {/* What tells two versions apart that are not compared line by line. */}
        {content === undefined || props.diff !== undefined ? null : (
          <p class="meta">
            <MadeBy {...props} />
            <br />
            SHA-256 <code>{sha256}</code>
          </p>
        )}
      </div>
      <Form csrf={visit.csrf} action={conflictPath(vault.id, id)}>
        <input type="hidden" name="base" value={baseOf(sides)} />
        <div>
          <SubmitButton look="primary" name="keep" value={side}>
            {action}
          </SubmitButton>
        </div>
      </Form>
    </section>
  );
}

/** The hash of the current version shown to the person. If another version is current, nothing is resolved. */
function baseOf({ current }: ConflictSides): string {
  return current?.record.sha256 ?? '';
}

interface DifferencesProps {
  readonly diff: RenderedDiff;
  readonly names: SideNames;
}

function Differences({ diff, names }: DifferencesProps): VNode {
  return (
    <section class="panel" aria-labelledby="differences">
      <h2 id="differences">Differences</h2>
      <DiffTable
        diff={diff}
        left={
          <>
            − <Given>{names.hub}</Given>
          </>
        }
        right={
          <>
            + <Given>{names.yours}</Given>
          </>
        }
      />
      {diff.isCut ? (
        <p class="meta">Only some of the differences are shown. Download both versions to see all.</p>
      ) : null}
    </section>
  );
}

function Editor({ visit, vault, sides, draft, problem }: ConflictPageProps): VNode | null {
  const path = conflictPath(vault.id, sides.conflict.id);
  const names = sideNames(visit, sides);
  if (draft === undefined) {
    const hasBoth = sides.yours !== undefined && sides.current !== undefined;
    return (
      <section class="panel" aria-labelledby="edit">
        <h2 id="edit">Merge</h2>
        <p class="lead">
          These versions cannot be merged here: one of them is deleted, binary or too large. Keep one of them
          {hasBoth ? ', or both: the version from the device becomes a second file' : ''}.
        </p>
        {hasBoth ? (
          <Form csrf={visit.csrf} action={path}>
            <input type="hidden" name="base" value={baseOf(sides)} />
            <div>
              <SubmitButton name="keep" value="both">
                Keep both
              </SubmitButton>
            </div>
          </Form>
        ) : null}
      </section>
    );
  }
  return (
    <section class="panel" aria-labelledby="edit">
      <h2 id="edit">Merge</h2>
      <p class="lead">
        {draft.isClean ? (
          'The changes do not overlap, so they were merged. Check and save.'
        ) : (
          <>
            Both versions merged. Conflicting lines are marked “<Given>{names.yours}</Given>” and “
            <Given>{names.hub}</Given>”. Edit them, then delete the markers.
          </>
        )}
      </p>
      <Form csrf={visit.csrf} action={path} draft={path} class="stack whole">
        <input type="hidden" name="base" value={baseOf(sides)} />
        <input type="hidden" name="newline" value={draft.newline} />
        {/* The script inserts the three columns here. */}
        <div data-merge hidden />
        <TextArea
          form="edit"
          name="content"
          label="Merged version"
          rows={18}
          class="code"
          required={false}
          isPlain
          value={draft.text}
          problem={problem}
        />
        <div>
          <SubmitButton look="primary" name="keep" value="edited">
            Save merged version
          </SubmitButton>
        </div>
      </Form>
    </section>
  );
}
