/** Adds script to pages that also work without it: copy buttons, times in the reader's time zone, shortcuts. */

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const DAY_MS = 24 * 3_600_000;
/** @type {readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[]} */
const UNITS = [
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/**
 * The same format as on the server; distant or future times are shown as dates.
 * @param {number} at milliseconds since 1970
 */
function agoText(at) {
  const age = Date.now() - at;
  if (age < 0 || age > 30 * DAY_MS) return moments.format(at);
  const found = UNITS.find(([, ms]) => age >= ms);
  return found === undefined ? 'just now' : relative.format(-Math.floor(age / found[1]), found[0]);
}

/** Rewrites times and sends the time zone in a cookie: the server formats the first page before it knows the zone. */
function rewriteTimes() {
  const isTold = !zone || document.documentElement.dataset.zone === zone;
  if (!isTold) {
    const [prefix, more] = location.protocol === 'https:' ? ['__Host-', '; Secure'] : ['', ''];
    // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser.
    document.cookie = `${prefix}cairn_zone=${zone}; Path=/; SameSite=Lax; Max-Age=31536000${more}`;
  }
  for (const time of /** @type {NodeListOf<HTMLTimeElement>} */ (document.querySelectorAll('time[data-ago]'))) {
    const at = Date.parse(time.dateTime);
    if (!isTold) time.title = moments.format(at);
    const text = agoText(at);
    if (time.textContent !== text) time.textContent = text;
  }
}

/** @param {Element} button */
async function copy(button) {
  const code = button.parentElement?.querySelector('code');
  const word = button.firstChild;
  if (!code || word === null) return;
  try {
    await navigator.clipboard.writeText(code.textContent);
    word.textContent = 'Copied';
  } catch {
    // Without TLS there is no clipboard: the text is selected, to be copied by keyboard.
    getSelection()?.selectAllChildren(code);
    word.textContent = 'Selected';
  }
  setTimeout(() => {
    word.textContent = 'Copy';
  }, 2000);
}

document.addEventListener('click', ({ target }) => {
  const button = /** @type {Element} */ (target).closest('[data-copy]');
  if (button !== null) void copy(button);
  const reveal = /** @type {Element} */ (target).closest('[data-reveal]');
  if (reveal !== null) showTyped(reveal, reveal.previousElementSibling?.getAttribute('type') === 'password');
  if (/** @type {Element} */ (target).closest('[data-print]') !== null) print();
});

/**
 * Shows what is typed in the password field before a button, or hides it.
 * @param {Element} button
 * @param {boolean} isShown
 */
function showTyped(button, isShown) {
  button.previousElementSibling?.setAttribute('type', isShown ? 'text' : 'password');
  if (button.firstChild !== null) button.firstChild.textContent = isShown ? 'Hide' : 'Show';
}

/** A browser would remember a password that is sent, or left, in a field of text. */
function hideTyped() {
  for (const button of document.querySelectorAll('[data-reveal]')) showTyped(button, false);
}

document.addEventListener('submit', hideTyped, true);
addEventListener('pagehide', hideTyped);

/** Prepares new content of the page. */
function dress() {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll('[data-copy], [data-print], [data-reveal]')
  )) {
    button.hidden = false;
  }
  rewriteTimes();
}

/**
 * Uploads files dropped on the page through its upload form.
 * @param {HTMLFormElement} form
 */
function takeDrops(form) {
  /** @param {DragEvent} event */
  const filesOf = ({ dataTransfer }) => (dataTransfer?.types.includes('Files') ? dataTransfer.files : undefined);
  const input = /** @type {HTMLInputElement} */ (form.querySelector('input[type="file"]'));
  document.addEventListener('dragover', (event) => {
    if (filesOf(event) === undefined) return;
    event.preventDefault();
    const details = form.closest('details');
    if (details !== null) details.open = true;
  });
  document.addEventListener('drop', (event) => {
    const files = filesOf(event);
    if (files === undefined) return;
    event.preventDefault();
    input.files = files;
    checkSizes(input);
    form.requestSubmit();
  });
}

for (const form of document.querySelectorAll('form')) if (form.matches('[data-upload]')) takeDrops(form);

/**
 * Says what cannot be uploaded before it is sent: the hub says it only after the last byte, on a page without the choice.
 * @param {HTMLInputElement} input
 */
function checkSizes(input) {
  const [fileMax = 0, formMax = 0, filesMax = 0] = (input.dataset.most ?? '').split(' ').map(Number);
  const files = [...(input.files ?? [])];
  const large = files.filter(({ size }) => size > fileMax);
  const inMiB = (/** @type {number} */ bytes) => `${Math.floor(bytes / 2 ** 20)} MiB`;
  const names = large.map(({ name }) => `“${name}”`).join(', ');
  let wrong = '';
  if (large.length > 0) wrong = `Larger than ${inMiB(fileMax)}: ${names}. Choose without.`;
  else if (files.length > filesMax) wrong = `At most ${filesMax} files can be uploaded at once.`;
  else if (files.reduce((sum, { size }) => sum + size, 0) > formMax) {
    wrong = `Together these files are larger than ${inMiB(formMax)}. Choose fewer.`;
  }
  input.setCustomValidity(wrong);
}

document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.most === undefined) return;
  checkSizes(target);
  target.reportValidity();
});

document.addEventListener('cairn:shown', dress);
dress();
setInterval(rewriteTimes, 30_000);

const keysDialog = /** @type {HTMLDialogElement | null} */ (document.getElementById('shortcuts'));
/** @type {Readonly<Record<string, string>>} */
const GO = { h: '/', t: '/tasks', v: '/vaults', d: '/documents/docs', a: '/activity', s: '/search' };
let isGoing = false;

/** Keyboard shortcuts, inactive in text fields. */
document.addEventListener('keydown', (event) => {
  const { key } = event;
  const target = /** @type {HTMLElement} */ (event.target);
  if (key === 'Escape') {
    closeTop(target);
    return;
  }
  if (isSave(event)) {
    save(event, target);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, textarea, select')) return;
  if (isGoing) {
    isGoing = false;
    const path = GO[key];
    if (path !== undefined) location.assign(path);
    return;
  }
  if (key === 'g') isGoing = true;
  else if (key === '?') keysDialog?.showModal();
  else if (key === '/') focusField(event, document.getElementById('search-q'));
  else if (key === 'f') focusField(event, document.getElementById('filter-q'));
  else if (key === 'n') focusField(event, document.getElementById('new-content'));
  else if (key === 'u') {
    const undo = /** @type {HTMLElement | null} */ (document.querySelector('.notice.is-toast button'));
    undo?.click();
  }
});

/** @param {KeyboardEvent} event */
function isSave({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  return (ctrlKey || metaKey) && !altKey && !shiftKey && (key === 's' || key === 'Enter');
}

/**
 * Sends the form around a field, or else the form of the page that holds a longer text. On a page without one, the keys keep
 * their meaning in the browser.
 * @param {KeyboardEvent} event
 * @param {HTMLElement} target
 */
function save(event, target) {
  const own = target.closest('form');
  const form = own?.method === 'post' ? own : document.querySelector('form[data-draft]');
  if (!(form instanceof HTMLFormElement)) return;
  event.preventDefault();
  if (!event.repeat) form.requestSubmit(form.querySelector('button.primary'));
}

/** Shows why a form was refused, wherever on the page it stands. */
function showRefusal() {
  const found = [...document.querySelectorAll('main .error')].find((error) => error.checkVisibility());
  const { top = 0, bottom = 0 } = found?.getBoundingClientRect() ?? {};
  if (top < 0 || bottom > innerHeight) found?.scrollIntoView({ block: 'center', behavior: 'instant' });
}

showRefusal();
// Where a link says so, the next task can be typed at once.
if (location.hash === '#new-content') document.getElementById('new-content')?.focus();

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement | null} field
 */
function focusField(event, field) {
  if (field === null) {
    if (event.key === '/') location.assign('/search');
    return;
  }
  event.preventDefault();
  field.focus();
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) field.select();
}

/**
 * Closes an open menu, confirmation or notice; otherwise removes the focus from a field.
 * @param {HTMLElement} target
 */
function closeTop(target) {
  const open = target.closest('details[data-menu][open], details.confirm[open]');
  if (open instanceof HTMLDetailsElement) {
    open.open = false;
    open.querySelector('summary')?.focus();
  } else if (document.querySelector('.notice.is-toast') !== null) {
    document.getElementById('notices')?.replaceChildren();
  } else if (target.matches('input, textarea, select')) {
    target.blur();
  }
}
