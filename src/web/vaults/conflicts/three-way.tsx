/** Shows the places that both sides of a conflict changed: one side, what was there before, the other side. */
import type { VNode } from 'preact';
import { Given } from '../../ui.tsx';
import type { Overlap } from './overlaps.ts';

/** Places shown on a page; the merged text below has all of them. */
const PLACES_MAX = 100;

interface ThreeWayProps {
  readonly overlaps: readonly Overlap[];
  /** Who made each side, when, and where. */
  readonly mine: VNode;
  readonly theirs: VNode;
}

export function ThreeWay({ overlaps, mine, theirs }: ThreeWayProps): VNode | null {
  if (overlaps.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="overlaps">
      <h2 id="overlaps">
        {overlaps.length === 1 ? '1 place was changed' : `${overlaps.length} places were changed`} by both
      </h2>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, and here are none. */}
      <div tabindex={0} role="group" aria-labelledby="overlaps" data-three-way>
        <table class="merge">
          <thead>
            <tr>
              <th scope="col">{mine}</th>
              <th scope="col">Before both changes</th>
              <th scope="col">{theirs}</th>
            </tr>
          </thead>
          {overlaps.slice(0, PLACES_MAX).map(({ after, mine: own, base, theirs: others }, at) => (
            <tbody key={String(at)}>
              <tr>
                <th scope="rowgroup" colSpan={3}>
                  {after === undefined ? (
                    'At the beginning'
                  ) : (
                    <>
                      After “<Given>{shortened(after)}</Given>”
                    </>
                  )}
                </th>
              </tr>
              <tr class="conflicting">
                <Side lines={own} look="added" />
                <Side lines={base} look="open" />
                <Side lines={others} look="removed" />
              </tr>
            </tbody>
          ))}
        </table>
      </div>
      {overlaps.length <= PLACES_MAX ? null : (
        <p class="meta">Only the first {PLACES_MAX} are shown here. The merged text below has all of them.</p>
      )}
    </section>
  );
}

function Side({ lines, look }: { readonly lines: readonly string[]; readonly look: string }): VNode {
  return (
    <td class={look}>
      {lines.length === 0 ? (
        <em class="meta">No lines</em>
      ) : (
        <pre class="merge-text" dir="auto">
          {lines.join('\n')}
        </pre>
      )}
    </td>
  );
}

function shortened(line: string): string {
  const text = line.trim();
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
