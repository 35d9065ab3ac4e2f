/** Keeps what opens near what was pressed and inside the window: menus and confirmations flip at edges, long panels scroll. */

/** Kept free between a panel and the edge of the window. */
const EDGE_PX = 8;
/** Between a panel and its button. */
const GAP_PX = 4;
/** Panels that lie over the page. */
const OVER = 'details[data-menu][open], details.confirm[open]';

/**
 * The element that was pressed last, until what it opens is in sight.
 * @type {HTMLDetailsElement | undefined}
 */
let pressed;

/** @param {HTMLDetailsElement} details */
const summaryOf = (details) => /** @type {HTMLElement} */ (details.querySelector('summary'));

/**
 * Puts a panel below its button, or above it where there is more room, and moves it sideways into the window.
 * @param {HTMLDetailsElement} details
 */
function place(details) {
  const body = /** @type {HTMLElement | null} */ (details.querySelector('.confirm-body, .menu-body'));
  if (body === null) return;
  body.classList.add('is-placed');
  for (const side of ['left', 'right', 'top', 'bottom']) body.style.removeProperty(side);
  const button = summaryOf(details).getBoundingClientRect();
  const around = details.getBoundingClientRect();
  const { left, width, height } = body.getBoundingClientRect();
  const room = document.documentElement.clientWidth - EDGE_PX - width;
  const x = Math.max(EDGE_PX, Math.min(left, room));
  const below = innerHeight - button.bottom - GAP_PX - EDGE_PX;
  const isAbove = height > below && button.top - GAP_PX - EDGE_PX >= height;
  const y = isAbove ? button.top - GAP_PX - height : button.bottom + GAP_PX;
  body.style.right = 'auto';
  body.style.left = `${x - around.left}px`;
  body.style.top = `${y - around.top}px`;
}

/**
 * Scrolls as far as needed for what was opened, but never so far that its button leaves the window.
 * @param {HTMLDetailsElement} details
 */
function showAll(details) {
  const body = details.querySelector('.confirm-body, .menu-body') ?? details;
  const missing = body.getBoundingClientRect().bottom + EDGE_PX - innerHeight;
  const free = summaryOf(details).getBoundingClientRect().top - EDGE_PX;
  if (missing > 0 && free > 0) scrollBy({ top: Math.min(missing, free), behavior: 'instant' });
}

function placeAll() {
  for (const details of document.querySelectorAll('details')) if (details.matches(OVER)) place(details);
}

document.addEventListener('click', ({ target }) => {
  const element = /** @type {Element} */ (target);
  const details = element.closest('summary')?.parentElement;
  pressed = details instanceof HTMLDetailsElement ? details : undefined;
  // A click elsewhere closes what lies over the page.
  for (const open of document.querySelectorAll('details')) {
    if (open.matches(OVER) && !open.contains(element)) open.open = false;
  }
});

// The event does not bubble.
document.addEventListener(
  'toggle',
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.open) return;
    if (target.matches(OVER)) place(target);
    if (pressed !== target) return;
    pressed = undefined;
    showAll(target);
  },
  true,
);

addEventListener('resize', placeAll);
document.addEventListener('cairn:shown', placeAll);
