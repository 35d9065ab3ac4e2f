/** Applies a unified diff without fuzz: what it says is there must be there, line by line. Pure. */

/** `text` with the changes of a diff (POSIX diff -u, of one file); undefined when it does not fit. */
export function applyDiff(text: string, diff: string): string | undefined {
  const before = linesOf(text);
  const after: string[] = [];
  let at = 0;
  const lines = linesOf(diff);
  for (const [index, line] of lines.entries()) {
    if (index < 2) continue;
    const head = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(line);
    if (head !== null) {
      // With no lines of the old text, the number is that of the line before.
      const start = Number(head[1]) - (head[2] === '0' ? 0 : 1);
      if (start < at) return undefined;
      after.push(...before.slice(at, start));
      at = start;
      continue;
    }
    if (line.startsWith('\\')) continue;
    // A last line without its end is followed by a line that says so.
    const hasNoEnd = lines[index + 1]?.startsWith('\\') === true;
    const content = hasNoEnd ? line.slice(1, -1) : line.slice(1);
    if (line[0] !== '+') {
      if (before[at] !== content) return undefined;
      at += 1;
    }
    if (line[0] !== '-') after.push(content);
  }
  return [...after, ...before.slice(at)].join('');
}

/** The lines of a text, each with its end. */
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
