/**
 * Shows a merge in three columns, based on the text with conflict markers in the form: one version, the result, the
 * other. A choice rewrites the text; after a manual edit the text is parsed again. Without script only the text can be
 * edited.
 */

const CONTEXT_LINES = 3;
const NEWLINE = '\n';

const make = (name, className, text) =>
  Object.assign(document.createElement(name), { className, textContent: text ?? '' });

/** Splits the text into unchanged lines and conflicts with both sides. Undefined: a marker lacks its counterpart. */
function readParts(text) {
  const parts = [{ lines: [] }];
  let side;
  for (const line of text.split(NEWLINE)) {
    const last = parts.at(-1);
    if (side === undefined && /^<{7}( |$)/.test(line)) {
      parts.push({ first: [], second: [], open: line });
      side = 'first';
    } else if (side === 'first' && /^={7}$/.test(line)) side = 'second';
    else if (side === 'second' && /^>{7}( |$)/.test(line)) {
      last.close = line;
      parts.push({ lines: [] });
      side = undefined;
    } else (side === undefined ? last.lines : last[side]).push(line);
  }
  return side === undefined ? parts : undefined;
}

const textOf = ({ lines, first, second, open, close }) => lines ?? [open, ...first, '=======', ...second, close];
const nameOf = (marker) => marker.replace(/^[<>]{7} ?/, '');

/** Shortens unchanged lines to a few next to a conflict. */
function contextOf(lines, isFirst, isLast) {
  const before = isFirst ? [] : lines.slice(0, CONTEXT_LINES);
  const after = isLast ? [] : lines.slice(-CONTEXT_LINES);
  return lines.length <= 2 * CONTEXT_LINES ? lines : [...before, '⋯', ...after];
}

function cell(row, { className = '', name = '' }, lines, ...buttons) {
  const content = make('pre', 'merge-text', lines.join(NEWLINE));
  const td = make('td', className);
  td.dataset.name = name;
  td.append(content, ...buttons);
  row.append(td);
}

function choice(label, act) {
  const button = make('button', 'button small', label);
  button.type = 'button';
  button.addEventListener('click', act);
  return button;
}

function show(place, field) {
  const parts = readParts(field.value);
  const conflicts = (parts ?? []).filter(({ open }) => open !== undefined);
  place.hidden = conflicts.length === 0;
  if (place.hidden) {
    place.replaceChildren();
    return;
  }
  const take = (part, lines) => () => {
    const at = conflicts.indexOf(part);
    field.value = parts.flatMap((one) => (one === part ? lines : textOf(one))).join(NEWLINE);
    show(place, field);
    // Moves the focus to the next conflict, or to the text after the last one.
    const rows = place.querySelectorAll('tr.conflicting');
    (rows[Math.min(at, rows.length - 1)]?.querySelector('button') ?? field).focus();
  };
  const table = make('table', 'merge');
  const head = table.createTHead().insertRow();
  const { open, close } = conflicts[0];
  const names = [nameOf(close), 'Result', nameOf(open)];
  for (const name of names) {
    head.append(Object.assign(make('th', '', name), { scope: 'col', dir: 'auto' }));
  }
  const body = table.createTBody();
  for (const [at, part] of parts.entries()) {
    const row = make('tr', part.open === undefined ? '' : 'conflicting');
    if (part.open === undefined) {
      const lines = contextOf(part.lines, at === 0, at === parts.length - 1);
      if (lines.join('') === '') continue;
      for (let column = 0; column < 3; column += 1) cell(row, {}, lines);
    } else {
      const { first, second } = part;
      cell(row, { className: 'removed', name: names[0] }, second, choice('Use this', take(part, second)));
      cell(row, { className: 'open', name: names[1] }, [], choice('Use both', take(part, [...second, ...first])));
      cell(row, { className: 'added', name: names[2] }, first, choice('Use this', take(part, first)));
    }
    body.append(row);
  }
  place.replaceChildren(table);
}

function start() {
  const place = document.querySelector('[data-merge]');
  const field = place?.closest('form').querySelector('textarea');
  if (!field) return;
  show(place, field);
  field.onchange = () => show(place, field);
}

start();
document.addEventListener('cairn:shown', start);
