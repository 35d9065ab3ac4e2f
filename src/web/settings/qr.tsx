/** Draws a text as a QR code (ISO/IEC 18004), as an inline SVG: no script, no picture of another host. */
import type { VNode } from 'preact';
import { encode } from 'uqr';

/** The light margin around a code, in modules, as the standard asks. */
const MARGIN = 4;

/** Dark on light in both colour schemes, because cameras expect it. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const { size, data } = encode(text, { ecc: 'M', border: MARGIN });
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect class="qr-light" width={size} height={size} />
      <path class="qr-dark" d={darkPath(data)} />
    </svg>
  );
}

/** One rectangle for each run of dark modules in a row. */
function darkPath(rows: readonly (readonly boolean[])[]): string {
  let path = '';
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x += 1) {
      const start = x;
      while (row[x] === true) x += 1;
      if (x > start) path += `M${start} ${y}h${x - start}v1h${start - x}z`;
    }
  }
  return path;
}
