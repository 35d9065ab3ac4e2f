/** Moves cards on the board by drag, finger or keyboard. Each submits the form of the card, like its buttons. */

const root = document.documentElement;
/** @type {HTMLElement | undefined} */
let dragged;
/**
 * The task id of the card with the focus.
 * @type {string | undefined}
 */
let focused;

/**
 * @param {EventTarget | null} target
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
const around = (target, selector) => (target instanceof Element ? target.closest(selector) : null);
/** @param {EventTarget | null} target */
const cardOf = (target) => around(target, '[data-task]');
/** @param {EventTarget | null} target */
const columnOf = (target) => around(target, '[data-column]');
/**
 * @param {ParentNode} within
 * @returns {HTMLElement[]}
 */
const cardsOf = (within) => Array.from(within.querySelectorAll('[data-task]'));
/** @returns {HTMLElement[]} */
const allColumns = () => Array.from(document.querySelectorAll('[data-column]'));
/**
 * @param {Element | null | undefined} card
 * @returns {HTMLElement | null | undefined}
 */
const linkOf = (card) => card?.querySelector('.card-text');

/**
 * The card before which a drop at this height inserts; undefined: the last position.
 * @param {HTMLElement} column
 * @param {number} y
 */
function cardBelow(column, y) {
  return cardsOf(column).find((card) => {
    if (card === dragged) return false;
    const { top, height } = card.getBoundingClientRect();
    return height > 0 && y < top + height / 2;
  });
}

function clearMarks() {
  for (const marked of document.querySelectorAll('.is-target, .drop-before')) {
    marked.classList.remove('is-target', 'drop-before');
  }
}

/**
 * Submits the form of a card with additional fields.
 * @param {HTMLElement} card
 * @param {Readonly<Record<string, string>>} fields
 */
function sendCard(card, fields) {
  const form = card.querySelector('form');
  const inputs = Object.entries(fields).map(([name, value]) =>
    Object.assign(document.createElement('input'), { type: 'hidden', name, value }),
  );
  form?.append(...inputs);
  form?.requestSubmit();
  // The fields were read during the submit.
  setTimeout(() => {
    for (const input of inputs) input.remove();
  });
}

document.addEventListener('dragstart', (event) => {
  const card = cardOf(event.target);
  if (card === null) return;
  dragged = card;
  root.dataset.dragging = '';
  card.classList.add('is-dragged');
  if (event.dataTransfer === null) return;
  event.dataTransfer.effectAllowed = 'move';
  event.dataTransfer.setData('text/plain', linkOf(card)?.textContent ?? '');
});

function endDrag() {
  dragged?.classList.remove('is-dragged');
  dragged = undefined;
  delete root.dataset.dragging;
  clearMarks();
}

document.addEventListener('dragend', endDrag);

document.addEventListener('dragover', (event) => {
  const column = columnOf(event.target);
  if (dragged === undefined || column === null) return;
  event.preventDefault();
  mark(column, event.clientY);
});

/** True where cards have an order of their own that no drop changes. */
const isSorted = () => document.querySelector('.board[data-sorted]') !== null;

/**
 * Marks where a drop would insert.
 * @param {HTMLElement} column
 * @param {number} y
 */
function mark(column, y) {
  clearMarks();
  const below = column.dataset.column === 'done' || isSorted() ? undefined : cardBelow(column, y);
  if (below === undefined) column.classList.add('is-target');
  else below.classList.add('drop-before');
}

/**
 * Drops a card on a column.
 * @param {HTMLElement} card
 * @param {HTMLElement} column
 * @param {number} y
 */
function drop(card, column, y) {
  const status = column.dataset.column ?? column.dataset.tab ?? '';
  const isSame = columnOf(card)?.dataset.column === status;
  const isFree = status === 'done' || isSorted();
  if (isFree && isSame) return;
  // A tab shows no cards to insert before: the card comes to the end.
  const before = cardBelow(column, y)?.dataset.task ?? '';
  sendCard(card, { ...(isSame ? {} : { status }), ...(isFree ? {} : { before }) });
}

document.addEventListener('drop', (event) => {
  const column = columnOf(event.target);
  if (dragged === undefined || column === null) return;
  event.preventDefault();
  drop(dragged, column, event.clientY);
});

/** A finger that rests this long on a card lifts it; one that moves further than this before scrolls the page. */
const LIFT_MS = 350;
const STILL_PX = 10;
/** This near to an edge of the window, a lifted card scrolls the page. */
const EDGE_PX = 56;
const SCROLL_PX = 12;

/**
 * The touch that rests on a card, or moves one.
 * @type {{ readonly card: HTMLElement, readonly x: number, readonly y: number, readonly timer: ReturnType<typeof setTimeout> } | undefined}
 */
let touch;

document.addEventListener(
  'touchstart',
  (event) => {
    const card = cardOf(event.target);
    const [finger] = event.touches;
    endTouch();
    if (card === null || finger === undefined || event.touches.length > 1) return;
    if (around(event.target, 'summary, button, input, .menu-body') !== null) return;
    // The browser's own drag would begin a moment later, and end this one.
    card.draggable = false;
    touch = { card, x: finger.clientX, y: finger.clientY, timer: setTimeout(() => lift(card), LIFT_MS) };
  },
  { passive: true },
);

/** @param {HTMLElement} card */
function lift(card) {
  dragged = card;
  root.dataset.dragging = '';
  card.classList.add('is-dragged', 'is-lifted');
  navigator.vibrate?.(10);
}

/**
 * The column or the tab under a finger.
 * @param {Touch} finger
 */
function columnUnder({ clientX, clientY }) {
  const under = document.elementFromPoint(clientX, clientY);
  return columnOf(under) ?? around(under, '[data-tab]');
}

document.addEventListener(
  'touchmove',
  (event) => {
    const [finger] = event.touches;
    if (touch === undefined || finger === undefined) return;
    const [x, y] = [finger.clientX - touch.x, finger.clientY - touch.y];
    if (dragged === undefined) {
      if (Math.hypot(x, y) > STILL_PX) endTouch();
      return;
    }
    event.preventDefault();
    touch.card.style.translate = `${x}px ${y}px`;
    if (finger.clientY < EDGE_PX) scrollBy(0, -SCROLL_PX);
    else if (finger.clientY > innerHeight - EDGE_PX) scrollBy(0, SCROLL_PX);
    const column = columnUnder(finger);
    if (column === null) clearMarks();
    else mark(column, finger.clientY);
  },
  { passive: false },
);

document.addEventListener(
  'touchend',
  (event) => {
    const [finger] = event.changedTouches;
    const lifted = dragged;
    if (touch === undefined || lifted === undefined || finger === undefined) {
      endTouch();
      return;
    }
    // The card was not pressed.
    event.preventDefault();
    const column = columnUnder(finger);
    if (column !== null) drop(lifted, column, finger.clientY);
    endTouch();
  },
  { passive: false },
);

document.addEventListener('touchcancel', endTouch);
document.addEventListener('contextmenu', (event) => {
  if (touch !== undefined && dragged !== undefined) event.preventDefault();
});

function endTouch() {
  if (touch === undefined) return;
  clearTimeout(touch.timer);
  touch.card.classList.remove('is-lifted');
  touch.card.style.removeProperty('translate');
  touch.card.draggable = true;
  touch = undefined;
  endDrag();
}

/**
 * Moves the focus to the next card in a direction.
 * @param {HTMLElement} card
 * @param {string} key
 */
function focusTowards(card, key) {
  const column = columnOf(card);
  if (column === null) return;
  const cards = cardsOf(column).filter((one) => one.offsetParent !== null);
  const at = cards.indexOf(card);
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    linkOf(cards[at + (key === 'ArrowDown' ? 1 : -1)])?.focus();
    return;
  }
  const columns = allColumns().filter((one) => cardsOf(one).length > 0);
  const beside = columns[columns.indexOf(column) + (key === 'ArrowRight' ? 1 : -1)];
  if (beside !== undefined) linkOf(cardsOf(beside)[Math.min(at, cardsOf(beside).length - 1)])?.focus();
}

/**
 * Moves the card.
 * @param {HTMLElement} card
 * @param {string} key
 */
function moveTowards(card, key) {
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    press(card, `button[name="place"][value="${key === 'ArrowDown' ? 'down' : 'up'}"]`);
    return;
  }
  const columns = allColumns().map((one) => one.dataset.column);
  const to = columns[columns.indexOf(columnOf(card)?.dataset.column) + (key === 'ArrowRight' ? 1 : -1)];
  if (to !== undefined) press(card, `.menu-body button[name="status"][value="${to}"]`);
}

/**
 * @param {HTMLElement} card
 * @param {string} selector of a button of the card
 */
function press(card, selector) {
  const button = /** @type {HTMLElement | null} */ (card.querySelector(selector));
  button?.click();
}

document.addEventListener('keydown', (event) => {
  const card = cardOf(event.target);
  if (card === null || !event.key.startsWith('Arrow') || event.ctrlKey || event.metaKey || event.altKey) return;
  if (around(event.target, '[data-menu][open]') !== null) return;
  event.preventDefault();
  if (event.shiftKey) moveTowards(card, event.key);
  else focusTowards(card, event.key);
});

document.addEventListener('focusin', ({ target }) => {
  focused = cardOf(target)?.dataset.task;
});

/** Makes cards draggable, and returns the focus to a card that was moved. */
function dress() {
  for (const card of cardsOf(document)) card.draggable = true;
  if (focused === undefined || document.activeElement !== document.body) return;
  linkOf(document.getElementById(`task-${focused}`))?.focus();
}

document.addEventListener('cairn:shown', dress);
dress();
