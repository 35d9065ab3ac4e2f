/**
 * Shows a merge in three columns, based on the text with conflict markers in the form: one version, the result, the
 * other. A choice rewrites the text; after a manual edit the text is parsed again. Without script only the text can be
 * edited.
 */

/** @typedef {{ kind: 'same', lines: string[] }} Unchanged */
/** @typedef {{ kind: 'conflict', first: string[], second: string[], open: string, close: string }} Conflict */

const CONTEXT_LINES = 3;
const NEWLINE = '\n';

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string} className
 * @param {string} [text]
 */
const make = (name, className, text) =>
  Object.assign(document.createElement(name), { className, textContent: text ?? '' });

/**
 * Splits the text into unchanged lines and conflicts with both sides. Undefined: a marker lacks its counterpart.
 * @param {string} text
 * @returns {(Unchanged | Conflict)[] | undefined}
 */
function readParts(text) {
  /** @type {Unchanged} */
  let same = { kind: 'same', lines: [] };
  /** @type {(Unchanged | Conflict)[]} */
  const parts = [same];
  /** @type {Conflict | undefined} */
  let conflict;
  let isSecond = false;
  for (const line of text.split(NEWLINE)) {
    if (conflict === undefined && /^<{7}( |$)/.test(line)) {
      conflict = { kind: 'conflict', first: [], second: [], open: line, close: '' };
      parts.push(conflict);
      isSecond = false;
    } else if (conflict !== undefined && !isSecond && /^={7}$/.test(line)) isSecond = true;
    else if (conflict !== undefined && isSecond && /^>{7}( |$)/.test(line)) {
      conflict.close = line;
      conflict = undefined;
      same = { kind: 'same', lines: [] };
      parts.push(same);
    } else if (conflict === undefined) same.lines.push(line);
    else conflict[isSecond ? 'second' : 'first'].push(line);
  }
  return conflict === undefined ? parts : undefined;
}

/** @param {Unchanged | Conflict} part */
const linesOf = (part) =>
  part.kind === 'same' ? part.lines : [part.open, ...part.first, '=======', ...part.second, part.close];
/** @param {string} marker */
const nameOf = (marker) => marker.replace(/^[<>]{7} ?/, '');

/**
 * Shortens unchanged lines to a few next to a conflict.
 * @param {readonly string[]} lines
 * @param {boolean} isFirst
 * @param {boolean} isLast
 */
function contextOf(lines, isFirst, isLast) {
  const before = isFirst ? [] : lines.slice(0, CONTEXT_LINES);
  const after = isLast ? [] : lines.slice(-CONTEXT_LINES);
  return lines.length <= 2 * CONTEXT_LINES ? lines : [...before, '⋯', ...after];
}

/**
 * @param {HTMLElement} row
 * @param {{ readonly className?: string, readonly name?: string }} look
 * @param {readonly string[]} lines
 * @param {readonly HTMLElement[]} buttons
 */
function cell(row, { className = '', name = '' }, lines, buttons = []) {
  const content = make('pre', 'merge-text', lines.join(NEWLINE));
  const td = make('td', className);
  td.dataset.name = name;
  td.append(content, ...buttons);
  row.append(td);
}

/**
 * @param {string} label
 * @param {() => void} act
 */
function choice(label, act) {
  const button = make('button', 'button small', label);
  button.type = 'button';
  button.addEventListener('click', act);
  return button;
}

/**
 * @param {HTMLElement} place
 * @param {HTMLTextAreaElement} field
 */
function show(place, field) {
  const parts = readParts(field.value) ?? [];
  const conflicts = parts.filter((part) => part.kind === 'conflict');
  const [firstConflict] = conflicts;
  place.hidden = firstConflict === undefined;
  if (firstConflict === undefined) {
    place.replaceChildren();
    return;
  }
  /**
   * @param {Conflict} part
   * @param {readonly string[]} lines
   */
  const take = (part, lines) => () => {
    const at = conflicts.indexOf(part);
    field.value = parts.flatMap((one) => (one === part ? lines : linesOf(one))).join(NEWLINE);
    show(place, field);
    // Moves the focus to the next conflict, or to the text after the last one.
    const rows = place.querySelectorAll('tr.conflicting');
    (rows[Math.min(at, rows.length - 1)]?.querySelector('button') ?? field).focus();
  };
  const table = make('table', 'merge');
  const head = table.createTHead().insertRow();
  const [ofSecond, ofResult, ofFirst] = [nameOf(firstConflict.close), 'Result', nameOf(firstConflict.open)];
  for (const name of [ofSecond, ofResult, ofFirst]) {
    head.append(Object.assign(make('th', '', name), { scope: 'col', dir: 'auto' }));
  }
  const body = table.createTBody();
  for (const [at, part] of parts.entries()) {
    const row = make('tr', part.kind === 'same' ? '' : 'conflicting');
    if (part.kind === 'same') {
      const lines = contextOf(part.lines, at === 0, at === parts.length - 1);
      if (lines.join('') === '') continue;
      for (let column = 0; column < 3; column += 1) cell(row, {}, lines);
    } else {
      const { first, second } = part;
      cell(row, { className: 'removed', name: ofSecond }, second, [choice('Use this', take(part, second))]);
      cell(row, { className: 'open', name: ofResult }, [], [choice('Use both', take(part, [...second, ...first]))]);
      cell(row, { className: 'added', name: ofFirst }, first, [choice('Use this', take(part, first))]);
    }
    body.append(row);
  }
  place.replaceChildren(table);
}

function start() {
  const place = /** @type {HTMLElement | null} */ (document.querySelector('[data-merge]'));
  const field = place?.closest('form')?.querySelector('textarea');
  if (place === null || !field) return;
  show(place, field);
  field.onchange = () => show(place, field);
}

start();
document.addEventListener('cairn:shown', start);
