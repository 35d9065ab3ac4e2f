/** What script adds to pages that work without it: copy buttons, times in the reader's own zone. */

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = [
  ['day', 24 * 3_600_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** As the server writes it; what is far away or ahead by its date. */
function agoText(at) {
  const age = Date.now() - at;
  if (age < 0 || age > 30 * UNITS[0][1]) return moments.format(at);
  const found = UNITS.find(([, ms]) => age >= ms);
  return found === undefined ? 'just now' : relative.format(-Math.floor(age / found[1]), found[0]);
}

/** The server writes times in the zone that the last page told; here the first page is put right, and the next told. */
function rewriteTimes() {
  const isTold = !zone || document.documentElement.dataset.zone === zone;
  if (!isTold) {
    // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser.
    document.cookie = `cairn_zone=${zone}; Path=/; SameSite=Lax; Max-Age=31536000`;
  }
  for (const time of document.querySelectorAll('time[data-ago]')) {
    const at = new Date(time.dateTime);
    if (!isTold) time.title = moments.format(at);
    const text = agoText(at);
    if (time.textContent !== text) time.textContent = text;
  }
}

async function copy(button) {
  const code = button.parentElement.querySelector('code');
  const word = button.firstChild;
  try {
    await navigator.clipboard.writeText(code.textContent);
    word.textContent = 'Copied';
  } catch {
    // No clipboard without TLS: then the text is selected, so that the keyboard's own copy takes it.
    getSelection().selectAllChildren(code);
    word.textContent = 'Selected';
  }
  setTimeout(() => {
    word.textContent = 'Copy';
  }, 2000);
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-copy]');
  if (button !== null) void copy(button);
});

/** What each new part of a page needs. */
function dress() {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;
  rewriteTimes();
}

/** Files that are dropped on the page are uploaded by the form that the page has for them. */
function takeDrops(form) {
  const carriesFiles = (event) => event.dataTransfer?.types.includes('Files');
  const input = form.querySelector('input[type="file"]');
  document.addEventListener('dragover', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    form.closest('details').open = true;
  });
  document.addEventListener('drop', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  });
}

for (const form of document.querySelectorAll('[data-upload]')) takeDrops(form);

document.addEventListener('cairn:shown', dress);
dress();
setInterval(rewriteTimes, 30_000);

const keysDialog = document.getElementById('shortcuts');
const GO = { h: '/', t: '/tasks', v: '/vaults', s: '/search' };
let isGoing = false;

/** Keys that act anywhere but where text is typed. */
document.addEventListener('keydown', (event) => {
  const { key, target } = event;
  if (key === 'Escape') {
    closeTop(target);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, textarea, select')) return;
  if (isGoing) {
    isGoing = false;
    if (GO[key] !== undefined) location.assign(GO[key]);
    return;
  }
  if (key === 'g') isGoing = true;
  else if (key === '?') keysDialog?.showModal();
  else if (key === '/') focusField(event, document.getElementById('filter-q') ?? document.getElementById('search-q'));
  else if (key === 'n') focusField(event, document.getElementById('new-content'));
});

function focusField(event, field) {
  if (field === null) {
    if (event.key === '/') location.assign(GO.s);
    return;
  }
  event.preventDefault();
  field.focus();
  field.select();
}

/** Closes what is open: a menu, a step that asks again, a notice; and takes the focus out of a field. */
function closeTop(target) {
  const open = target.closest('details[data-menu][open], details.confirm[open]');
  if (open !== null) {
    open.open = false;
    open.querySelector('summary').focus();
  } else if (document.querySelector('.notice.is-toast') !== null) {
    document.getElementById('notices').replaceChildren();
  } else if (target.matches('input, textarea, select')) {
    target.blur();
  }
}

/** One menu at a time, and none when something else is clicked. */
document.addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll('details[data-menu][open]')) {
    if (!menu.contains(target)) menu.open = false;
  }
});
