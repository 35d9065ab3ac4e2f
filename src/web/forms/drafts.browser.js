/**
 * Keeps text being written in the storage of this tab, which other sites and tabs cannot read. Text that was not saved
 * returns to its form, also after the session ended or the hub restarted. Saving, signing out, and signing in to
 * another account remove it.
 */

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} DraftField */
/**
 * @typedef {object} Draft
 * @property {string | undefined} owner
 * @property {string | undefined} page
 * @property {string | null} action
 * @property {number} at
 * @property {[name: string, value: string | boolean][]} fields
 * @property {boolean} [isSent]
 * @property {boolean} [isLost]
 */

const root = document.documentElement;
const { owner, refused } = root.dataset;
const PREFIX = 'cairn-draft ';
/** Pause in typing before the text is stored. */
const TYPING_MS = 300;
/** Stored text is removed after a day, also in a tab that stays open. */
const KEPT_MS = 24 * 3_600_000;
const LEAVING = ['/signout', '/settings/delete'];

/**
 * Undefined where the browser forbids storage.
 * @type {Storage | undefined}
 */
let storage;
try {
  storage = sessionStorage;
} catch {
  // The pages work without it.
}

const keys = () => Object.keys(storage ?? {}).filter((key) => key.startsWith(PREFIX));
/**
 * Of a key that is stored.
 * @param {string} key
 * @returns {Draft}
 */
const read = (key) => JSON.parse(storage?.getItem(key) ?? 'null');
/** @param {string} key */
const remove = (key) => storage?.removeItem(key);
/** @param {HTMLFormElement} form */
const keyOf = (form) => `${PREFIX}${owner} ${form.dataset.draft}`;

/**
 * @param {string} key
 * @param {Draft} draft
 */
function write(key, draft) {
  try {
    storage?.setItem(key, JSON.stringify(draft));
  } catch {
    // The storage is full: an earlier text is worse than none.
    remove(key);
  }
}

/**
 * @param {DraftField} field
 * @returns {field is HTMLInputElement}
 */
const isBox = (field) => /^(checkbox|radio)$/.test(field.type);
/** @param {HTMLFormElement} form */
const fieldsOf = (form) =>
  /** @type {DraftField[]} */ ([...form.elements]).filter(
    ({ name, type }) => name && name !== 'csrf' && !/^(submit|file)$/.test(type),
  );
/** @param {DraftField} field */
const stateOf = (field) => (isBox(field) ? field.checked : field.value);

/** @param {DraftField} field */
function isTyped(field) {
  if (field.type === 'hidden') return false;
  if (field instanceof HTMLSelectElement) {
    const options = [...field.options];
    const hasDefault = field.multiple || options.some((one) => one.defaultSelected);
    return options.some((one, at) => one.selected !== (hasDefault ? one.defaultSelected : at === 0));
  }
  return isBox(field) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

/**
 * Hidden fields too: they contain the version that the text is based on.
 * @param {HTMLFormElement} form
 * @returns {Draft}
 */
const draftOf = (form) => ({
  owner,
  page: form.dataset.draft,
  action: form.getAttribute('action'),
  at: Date.now(),
  fields: fieldsOf(form).map((field) => [field.name, stateOf(field)]),
});

/**
 * The stored texts that a form contains, or was rendered with: also those first written in another form.
 * @param {HTMLFormElement} form
 */
function keysOf(form) {
  const content = form.elements.namedItem('content');
  if (!(content instanceof HTMLInputElement || content instanceof HTMLTextAreaElement)) return [];
  const { value, defaultValue } = content;
  return keys().filter((key) => {
    const { action, fields } = read(key);
    const [, kept] = fields.find(([name]) => name === 'content') ?? [];
    return action === form.getAttribute('action') && (kept === value || kept === defaultValue);
  });
}

/** @param {HTMLFormElement} form */
function store(form) {
  if (storage === undefined || owner === undefined) return;
  if (fieldsOf(form).some(isTyped)) write(keyOf(form), draftOf(form));
  else remove(keyOf(form));
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;
/** @type {HTMLFormElement | undefined} */
let typing;

function flush() {
  clearTimeout(waiting);
  if (typing !== undefined) store(typing);
  typing = undefined;
}

document.addEventListener('input', ({ target }) => {
  const { form } = /** @type {DraftField} */ (target);
  if (!form?.dataset.draft) return;
  if (typing !== form) flush();
  typing = form;
  clearTimeout(waiting);
  waiting = setTimeout(flush, TYPING_MS);
});
addEventListener('pagehide', flush);

/**
 * Fills a form and returns a function that undoes it.
 * @param {HTMLFormElement} form
 * @param {Draft} draft
 * @returns {() => void}
 */
function fill(form, { fields }) {
  const before = draftOf(form);
  const left = [...fields];
  for (const field of fieldsOf(form)) {
    const found = left.find(([name]) => name === field.name);
    if (found === undefined) continue;
    left.splice(left.indexOf(found), 1);
    const [, value] = found;
    if (isBox(field)) field.checked = value === true;
    else field.value = String(value);
  }
  form.querySelector('textarea')?.dispatchEvent(new Event('input', { bubbles: true }));
  return () => fill(form, before);
}

/**
 * @param {string} label
 * @param {() => void} act
 */
function button(label, act) {
  const made = Object.assign(document.createElement('button'), { type: 'button', className: 'button small' });
  made.textContent = label;
  made.addEventListener('click', act);
  return made;
}

/**
 * A notice of sentences and times, with buttons.
 * @param {readonly (Node | string)[]} parts
 * @param {readonly HTMLElement[]} buttons
 */
function notice(parts, buttons) {
  const box = Object.assign(document.createElement('div'), { className: 'notice kept-text' });
  box.setAttribute('role', 'status');
  const text = document.createElement('p');
  text.append(...parts);
  box.append(text, ...buttons);
  return box;
}

/** @param {Draft} draft */
function timeOf({ at }) {
  const time = Object.assign(document.createElement('time'), { dateTime: new Date(at).toISOString() });
  time.dataset.ago = '';
  return time;
}

/**
 * Puts stored text into its form.
 * @param {HTMLFormElement} form
 * @param {string} key
 * @param {Draft} draft
 */
function restore(form, key, draft) {
  const isShown = fieldsOf(form).every(
    (field) =>
      field.type === 'hidden' || draft.fields.some(([name, value]) => name === field.name && value === stateOf(field)),
  );
  if (isShown) {
    // The form came back with the text, and with the version that it would replace now.
    write(key, { ...draftOf(form), isLost: draft.isLost === true });
    return;
  }
  const undo = fill(form, draft);
  const box = notice(
    ['Your unsaved text from ', timeOf(draft), ' was restored.'],
    [
      button('Discard it', () => {
        undo();
        flush();
        remove(key);
        box.remove();
        form.querySelector('textarea')?.focus();
      }),
    ],
  );
  form.prepend(box);
}

/**
 * Says on another page that text was not saved, with a way back to it.
 * @param {string} key
 * @param {Draft} draft
 */
function offer(key, draft) {
  const link = Object.assign(document.createElement('a'), {
    className: 'button small primary',
    href: draft.page ?? '',
  });
  link.textContent = 'Continue writing';
  const box = notice(
    ['Text you wrote ', timeOf(draft), ' was not saved. It is kept in this tab.'],
    [
      link,
      button('Discard it', () => {
        remove(key);
        box.remove();
      }),
    ],
  );
  document.getElementById('notices')?.append(box);
}

/**
 * What became of the text sent by the page before: a page of the account, shown without an error, means that it was saved.
 * @param {string} key
 * @param {Draft} draft
 */
function settle(key, draft) {
  const isUnsent =
    refused !== undefined || owner === undefined || document.querySelector('form[data-draft=""]') !== null;
  if (isUnsent) write(key, { ...draft, isSent: false, isLost: true });
  else remove(key);
}

for (const key of keys()) {
  const draft = read(key);
  const isForeign = owner !== undefined && draft.owner !== owner;
  if (isForeign || Date.now() - draft.at > KEPT_MS) remove(key);
  else if (draft.isSent) settle(key, draft);
}

if (storage !== undefined) {
  const forms = [...document.querySelectorAll('form')].filter((form) => form.matches('[data-draft]'));
  for (const key of keys()) {
    const draft = read(key);
    const form = forms.find((one) => keyOf(one) === key);
    if (form !== undefined) restore(form, key, draft);
    else if (draft.isLost && (owner !== undefined || Number(refused) >= 429) && forms.length === 0) offer(key, draft);
  }
  document.dispatchEvent(new CustomEvent('cairn:shown'));
}

const others = new BroadcastChannel('cairn');
const removeAll = () => keys().forEach(remove);
others.addEventListener('message', removeAll);

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  if (event.defaultPrevented || form.method !== 'post') return;
  if (LEAVING.includes(form.getAttribute('action') ?? '')) {
    removeAll();
    others.postMessage('signed out');
    return;
  }
  flush();
  for (const key of keysOf(form)) write(key, { ...read(key), isSent: true });
});

/** A link out of a form, such as Cancel, discards its text. */
document.addEventListener('click', ({ target }) => {
  const form = /** @type {Element} */ (target).closest('form[data-draft] a')?.closest('form');
  if (!form) return;
  flush();
  for (const key of keysOf(form)) remove(key);
});
