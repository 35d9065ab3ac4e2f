/** Renders the way through a long text that is shown part by part. */
import type { VNode } from 'preact';
import type { ShownPart, WantedPart } from './parts.ts';

interface PartsNavProps {
  readonly shown: ShownPart;
  /** The address of a part. */
  readonly pathOf: (part: number) => string;
}

/** Nothing for a text of one part. */
export function PartsNav({ shown, pathOf }: PartsNavProps): VNode | null {
  const { part, parts, firstLine, lastLine } = shown;
  if (parts === 1) return null;
  const lines = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;
  return (
    <nav class="actions parts" aria-label="Parts of the text">
      <span class="meta">
        Part {part} of {parts}, {lines}
      </span>
      {part === 1 ? null : (
        <>
          <a href={pathOf(1)}>First part</a>
          <a href={pathOf(part - 1)} rel="prev">
            Previous part
          </a>
        </>
      )}
      {part === parts ? null : (
        <>
          <a href={pathOf(part + 1)} rel="next">
            Next part
          </a>
          <a href={pathOf(parts)}>Last part</a>
        </>
      )}
    </nav>
  );
}

/** The part that an address asks for: the one of a line (`line`), or one by its number (`part`); default: the first. */
export function wantedPart(query: URLSearchParams): WantedPart {
  const line = countIn(query.get('line'));
  return line === undefined ? { part: countIn(query.get('part')) ?? 1 } : { line };
}

function countIn(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
