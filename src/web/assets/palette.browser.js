/** One list for everything (Ctrl+K): go to a page, act, and find a task, document or file by the search of the hub. */

/** Pause in typing before the hub is searched. */
const PAUSE_MS = 150;
/** Shorter texts are only compared with the entries of the list. */
const SEARCHED_CHARS = 2;
const FOUND_MAX = 12;

/** @typedef {{ label: string, kind: string, run: () => void, line?: string }} Entry */

/** Pages and acts that no link of the page may name. */
const PLACES = /** @type {const} */ ([
  ['New task', '/tasks#new-content'],
  ['New dev doc', '/documents/docs/new'],
  ['New paper', '/documents/papers/new'],
  ['Papers', '/documents/papers'],
  ['Handoffs', '/documents/handoffs'],
  ['Categories', '/tasks/categories'],
  ['Trash', '/tasks/trash'],
  ['Keys and devices', '/settings#keys'],
  ['Help', '/help'],
]);

const signOut = /** @type {HTMLFormElement | null} */ (document.querySelector('form[action="/signout"]'));

/**
 * @param {string} label
 * @param {string} href
 * @returns {Entry}
 */
const placeOf = (label, href) => ({ label, kind: 'Go', run: () => goTo(href) });

/** @param {string} href */
function goTo(href) {
  const to = new URL(href, location.href);
  const isHere = to.pathname === location.pathname && to.search === location.search;
  location.assign(href);
  if (isHere && to.hash !== '') document.getElementById(to.hash.slice(1))?.focus();
}

/**
 * Links as entries, by their text.
 * @param {ParentNode} of
 * @param {string} selector
 * @param {string} kind
 * @returns {Entry[]}
 */
function linksAs(of, selector, kind) {
  return [...of.querySelectorAll(selector)].flatMap((link) => {
    const href = link.getAttribute('href');
    const label = link.textContent.replaceAll(/\s+/g, ' ').trim();
    return href === null || label === '' ? [] : [{ label, kind, run: () => goTo(href) }];
  });
}

/** @returns {Entry[]} */
function known() {
  const entries = [
    ...linksAs(document, '#page :is(.title-links, .actions) a', 'This page'),
    ...linksAs(document, '.tabs a', 'Go'),
    ...PLACES.map(([label, href]) => placeOf(label, href)),
    { label: 'Keyboard shortcuts', kind: 'Show', run: showShortcuts },
    { label: 'Sign out', kind: 'Do', run: () => signOut?.requestSubmit() },
  ];
  return entries.filter(({ label }, at) => entries.findIndex((one) => one.label === label) === at);
}

function showShortcuts() {
  const dialog = document.getElementById('shortcuts');
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
}

const dialog = document.createElement('dialog');
dialog.className = 'palette';
dialog.setAttribute('aria-label', 'Go anywhere, act and search');
const field = Object.assign(document.createElement('input'), { type: 'text', placeholder: 'Go to, do or find…' });
for (const [name, value] of Object.entries({
  role: 'combobox',
  'aria-label': 'Go to, do or find',
  'aria-expanded': 'true',
  'aria-controls': 'palette-list',
  'aria-autocomplete': 'list',
  autocomplete: 'off',
})) {
  field.setAttribute(name, value);
}
const list = Object.assign(document.createElement('ul'), { id: 'palette-list' });
list.setAttribute('role', 'listbox');
list.setAttribute('aria-label', 'Entries');
dialog.append(field, list);

/** @type {Entry[]} */
let shown = [];
/** @type {Entry[]} */
let found = [];
let chosen = 0;
/** The number of the latest search; an answer to an earlier one is dropped. */
let searches = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let pause;

function render() {
  const text = field.value.trim();
  const words = text.toLowerCase().split(/\s+/);
  const fitting = known().filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const everything = placeOf(`Search everything for “${text}”`, `/search?q=${encodeURIComponent(text)}`);
  shown = [...fitting, ...found, ...(text === '' ? [] : [{ ...everything, kind: 'Find' }])];
  chosen = Math.min(chosen, shown.length - 1);
  list.replaceChildren(...shown.map(optionOf));
  choose(chosen);
}

/**
 * @param {Entry} entry
 * @param {number} at
 */
function optionOf({ label, kind, run, line = '' }, at) {
  const option = Object.assign(document.createElement('li'), { id: `palette-${at}` });
  option.setAttribute('role', 'option');
  const [name, hint] = [document.createElement('bdi'), document.createElement('span')];
  name.textContent = label;
  Object.assign(hint, { className: 'meta', textContent: kind });
  option.append(name);
  if (line !== '') {
    const found = Object.assign(document.createElement('bdi'), { className: 'meta', textContent: line });
    option.append(found);
  }
  option.append(hint);
  option.addEventListener('click', () => {
    dialog.close();
    run();
  });
  return option;
}

/** @param {number} at */
function choose(at) {
  chosen = Math.max(0, Math.min(at, shown.length - 1));
  for (const [index, option] of [...list.children].entries()) {
    option.setAttribute('aria-selected', String(index === chosen));
    if (index === chosen) option.scrollIntoView({ block: 'nearest' });
  }
  field.setAttribute('aria-activedescendant', `palette-${chosen}`);
}

async function search() {
  searches += 1;
  const mine = searches;
  const text = field.value.trim();
  if (text.length < SEARCHED_CHARS) return;
  const response = await fetch(`/search?q=${encodeURIComponent(text)}`);
  if (!response.ok || response.redirected || mine !== searches) return;
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  if (mine !== searches) return;
  found = [...next.querySelectorAll('#page .rows > li')].slice(0, FOUND_MAX).flatMap((row) => {
    const kind = row instanceof HTMLElement ? (row.dataset['kind'] ?? '') : '';
    const line = row.querySelector('p')?.textContent ?? '';
    return linksAs(row, '.row-main > a', kind).map((entry) => ({ ...entry, line }));
  });
  render();
}

field.addEventListener('input', () => {
  chosen = 0;
  found = [];
  searches += 1;
  render();
  clearTimeout(pause);
  pause = setTimeout(() => {
    search().catch(() => undefined);
  }, PAUSE_MS);
});

field.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
  } else if (event.key === 'Enter') {
    event.preventDefault();
    const option = list.children[chosen];
    if (option instanceof HTMLElement) option.click();
  }
});

// A press beside the list closes it.
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog) dialog.close();
});

document.addEventListener('keydown', (event) => {
  const isAsked = event.key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isAsked || signOut === null) return;
  event.preventDefault();
  if (dialog.open) return;
  if (!dialog.isConnected) document.body.append(dialog);
  field.value = '';
  found = [];
  chosen = 0;
  dialog.showModal();
  render();
  // The hub begins with the index of the account, if it has none yet.
  fetch('/search').catch(() => undefined);
});
