/**
 * Selects cards: by `x` and by clicks with the shift key, which also selects all cards since the last one. The boxes work
 * without script; this adds the keys and the count.
 */

/**
 * The task id of the card that was selected last.
 * @type {string | undefined}
 */
let last;

const boxes = () => /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll('.pick')]);
/** @param {Element | null} element */
const boxOf = (element) =>
  /** @type {HTMLInputElement | null} */ (element?.closest('[data-task]')?.querySelector('.pick') ?? null);

function count() {
  const output = document.querySelector('[data-count]');
  const selected = boxes().filter((box) => box.checked).length;
  const text = `${selected} selected`;
  if (output !== null && output.textContent !== text) output.textContent = text;
}

/**
 * Turns a card's box, or with `isRange` the boxes of all cards from the last one on.
 * @param {HTMLInputElement} box
 * @param {boolean} isRange
 * @param {boolean} checked
 */
function pick(box, isRange, checked) {
  const seen = boxes().filter((one) => one === box || one.closest('[data-task]')?.checkVisibility() !== false);
  const from = isRange ? seen.findIndex((one) => one.value === last) : -1;
  const to = seen.indexOf(box);
  const picked = from < 0 ? [box] : seen.slice(Math.min(from, to), Math.max(from, to) + 1);
  for (const one of picked) one.checked = checked;
  last = box.value;
  count();
}

/** True for what has a meaning of its own when it is clicked with the shift key. */
const OWN = 'button, summary, .menu-body';

document.addEventListener('mousedown', (event) => {
  const target = /** @type {Element} */ (event.target);
  // No text is selected from the last click to this one.
  if (event.shiftKey && boxOf(target) !== null) event.preventDefault();
});

document.addEventListener('click', (event) => {
  const target = /** @type {Element} */ (event.target);
  const box = boxOf(target);
  if (box === null || target.closest(OWN) !== null) return;
  if (target === box) pick(box, event.shiftKey, box.checked);
  else if (event.shiftKey) {
    event.preventDefault();
    pick(box, true, from(box));
  }
});

/**
 * A range is selected; a single card is turned.
 * @param {HTMLInputElement} box
 */
function from(box) {
  return (last !== undefined && last !== box.value) || !box.checked;
}

document.addEventListener('keydown', (event) => {
  const target = /** @type {Element} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches('input:not(.pick), textarea, select')) return;
  if (event.key === 'Escape') {
    clear();
    return;
  }
  if (event.key.toLowerCase() !== 'x') return;
  const box = boxOf(target) ?? boxOf(document.querySelector('[data-task]:hover'));
  if (box === null) return;
  event.preventDefault();
  pick(box, event.shiftKey, event.shiftKey ? from(box) : !box.checked);
});

/** Clears the selection, unless the key closes something else. */
function clear() {
  if (document.querySelector('[data-menu][open], dialog[open], .notice.is-toast') !== null) return;
  for (const box of boxes()) box.checked = false;
  count();
}

document.addEventListener('change', ({ target }) => {
  if (target instanceof Element && target.matches('.pick')) count();
});
document.addEventListener('reset', () => setTimeout(count));
document.addEventListener('cairn:shown', count);
count();
