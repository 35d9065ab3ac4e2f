/** The page of one conflict: both sides beside each other, and the three ways to settle it. */
import type { VNode } from 'preact';
import type { ConflictSides } from '../../sync/conflicts/conflicts.ts';
import type { Vault } from '../../sync/vaults/vaults.ts';
import { type Problem, TextArea } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { bytesText, Form, Given, Moment } from '../ui.tsx';
import { Crumbs } from './crumbs.tsx';
import { DiffTable } from './diff-table.tsx';
import { conflictPath, filePath, sidePath } from './paths.ts';
import type { SideBySide } from './side-by-side.ts';
import type { Newline } from './text-content.ts';

export interface ConflictPageProps {
  readonly visit: MemberVisit;
  readonly vault: Vault;
  readonly sides: ConflictSides;
  /** Undefined: the sides are no two texts, or too large to be shown. */
  readonly diff: SideBySide | undefined;
  /** What the editor begins with; undefined: one of the sides has to be chosen. */
  readonly draft: { readonly text: string; readonly newline: Newline } | undefined;
  readonly problem: Problem | undefined;
}

export function ConflictPage(props: ConflictPageProps): VNode {
  const { visit, vault, sides, diff } = props;
  const { current } = sides;
  const { record: conflict } = sides.conflict;
  return (
    <>
      <div class="intro">
        <Crumbs vault={vault} />
        <h1 class="path">
          <Given>{conflict.path}</Given>
        </h1>
        <p class="lead">
          <Given>{conflict.device_id}</Given> sent a change at <Moment at={conflict.detected_at} zone={visit.zone} />,
          when the file on the hub had changed already. Both are kept until you choose.
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
          title="Theirs"
          from={
            current === undefined ? (
              'on the hub'
            ) : (
              <>
                on the hub, by <Given>{current.record.device_id}</Given>
              </>
            )
          }
          bytes={current?.bytes}
          action="Keep theirs"
        />
        <SideCard
          {...props}
          side="yours"
          title="Mine"
          from={
            <>
              from <Given>{conflict.device_id}</Given>
            </>
          }
          bytes={sides.yours}
          action="Keep mine"
        />
      </div>
      {diff === undefined ? null : <Differences diff={diff} device={conflict.device_id} />}
      <Editor {...props} />
      <p>
        <a href={filePath(vault.id, conflict.path)}>The history of this file</a>
      </p>
    </>
  );
}

interface SideCardProps extends ConflictPageProps {
  readonly side: 'yours' | 'theirs';
  readonly title: string;
  readonly from: VNode | string;
  readonly bytes: Uint8Array | undefined;
  readonly action: string;
}

function SideCard({ visit, vault, sides, side, title, from, bytes, action }: SideCardProps): VNode {
  const { id } = sides.conflict;
  return (
    <section class="panel" aria-label={title}>
      <div>
        <h2>{title}</h2>
        <p class="meta">
          {from} ·{' '}
          {bytes === undefined ? (
            'deletes the file'
          ) : (
            <>
              {bytesText(bytes.length)} · <a href={sidePath(vault.id, id, side)}>download</a>
            </>
          )}
        </p>
      </div>
      <Form csrf={visit.csrf} action={conflictPath(vault.id, id)}>
        <input type="hidden" name="base" value={baseOf(sides)} />
        <div>
          <button class="button primary" type="submit" name="keep" value={side}>
            {action}
          </button>
        </div>
      </Form>
    </section>
  );
}

/** What the person saw as current; with another one now, nothing is settled. */
function baseOf({ current }: ConflictSides): string {
  return current?.record.sha256 ?? '';
}

function Differences({ diff, device }: { readonly diff: SideBySide; readonly device: string }): VNode {
  return (
    <section class="panel" aria-labelledby="differences">
      <h2 id="differences">What differs</h2>
      <DiffTable
        diff={diff}
        left="− Theirs, on the hub"
        right={
          <>
            + Mine, from <Given>{device}</Given>
          </>
        }
      />
      {diff.isCut ? <p class="meta">Only a part is shown; download both versions to see everything.</p> : null}
    </section>
  );
}

function Editor({ visit, vault, sides, draft, problem }: ConflictPageProps): VNode | null {
  if (draft === undefined) {
    return (
      <section class="panel" aria-labelledby="edit">
        <h2 id="edit">Edit</h2>
        <p class="lead">These versions cannot be merged here: one is deleted, binary or too large. Choose one.</p>
      </section>
    );
  }
  return (
    <section class="panel" aria-labelledby="edit">
      <h2 id="edit">Edit</h2>
      <p class="lead">Merged version. Conflicting lines are marked: edit them, then delete the markers.</p>
      <Form csrf={visit.csrf} action={conflictPath(vault.id, sides.conflict.id)} class="stack whole">
        <input type="hidden" name="base" value={baseOf(sides)} />
        <input type="hidden" name="newline" value={draft.newline} />
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
          <button class="button primary" type="submit" name="keep" value="edited">
            Save merged version
          </button>
        </div>
      </Form>
    </section>
  );
}
