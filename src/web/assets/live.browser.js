/**
 * Updates pages live: shows changes made elsewhere (server-sent events at /live), and submits marked forms without
 * leaving the page. In both cases the server renders the page again, and the shown page is morphed into it.
 */

const root = document.documentElement;
const page = () => /** @type {HTMLElement} */ (document.getElementById('page'));

/** Minimum time between two updates of a page. */
const REST_MS = 700;
/** Pause in typing before a search is sent. */
const TYPING_MS = 200;
/** Scrolled further than this, the reader is assumed to be reading. */
const READING_PX = 240;
/** Delays before a lost stream is checked. They grow, so that a page above the hub's maximum of streams asks rarely. */
const CHECK_MS = [3000, 10_000, 30_000, 120_000];
/** A hub that says nothing for this long cannot be reached. */
const REACHED_MS = 10_000;
/** A second submit of a form within this time is the second half of a double click. */
const DOUBLE_MS = 2000;

let shownMark = root.dataset.mark;
/** @type {EventSource | undefined} */
let source;
let changes = 0;
let isRenewing = false;
let isDue = false;
let checks = 0;
let isChecking = false;
let isLost = false;
/**
 * The form that the bar says was not sent: that stays until it is tried again.
 * @type {HTMLFormElement | undefined}
 */
let unsent;

/**
 * True when the value of a field differs from the one sent by the server.
 * @param {Element} field
 */
function isTyped(field) {
  if (field instanceof HTMLSelectElement) {
    const options = [...field.options];
    // Without a default of its own, a list begins with its first option.
    const hasDefault = field.multiple || options.some((one) => one.defaultSelected);
    return options.some((one, at) => one.selected !== (hasDefault ? one.defaultSelected : at === 0));
  }
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (!(field instanceof HTMLInputElement)) return false;
  return /^(checkbox|radio)$/.test(field.type)
    ? field.checked !== field.defaultChecked
    : field.value !== field.defaultValue;
}

/**
 * True for a form that was pressed and has no answer yet: it sends what was pressed, whatever the page shows by then.
 * @param {HTMLFormElement} form
 */
const isPressed = (form) => form === unsent || asking.has(form) || sending.has(form);

/**
 * Keeps opened elements, forms that were pressed, and forms with changes: their hidden fields belong to the content shown
 * before.
 * @param {HTMLFormElement | null | undefined} sent
 */
const keeping = (sent) => ({
  callbacks: {
    /** @param {Element} element */
    beforeNodeMorphed: (element) =>
      element === sent ||
      !(element instanceof HTMLFormElement) ||
      !(isPressed(element) || [...element.elements].some(isTyped)),
    /** @param {Element} element */
    beforeNodeRemoved: (element) =>
      ![...document.forms].some((form) => form !== sent && isPressed(form) && element.contains(form)),
    /**
     * @param {string} name
     * @param {Element} element
     */
    beforeAttributeUpdated(name, element) {
      if (name === 'open' && element.matches('details, dialog')) return false;
      if (name === 'hidden' && element.matches('[data-copy], [data-reveal], [data-swap] button')) return false;
      // What was kept within it is of the state before.
      if (name === 'data-state') return ![...element.querySelectorAll('input, select, textarea')].some(isTyped);
      return !(/^(value|checked|selected)$/.test(name) && isTyped(element));
    },
  },
});

/**
 * True when the page already includes this state of the account, for example after the reader's own action.
 * @param {string} mark
 */
function isShown(mark) {
  const [epoch, count, ofVaults] = mark.split('.');
  const [shownEpoch, shownCount, shownOfVaults] = (shownMark ?? '').split('.');
  if (epoch !== shownEpoch) return false;
  // The first number orders the marks; a push into a vault raises only the second one.
  return count === shownCount ? Number(ofVaults) <= Number(shownOfVaults) : Number(count) < Number(shownCount);
}

/** @param {string} text */
const parse = (text) => new DOMParser().parseFromString(text, 'text/html');

/**
 * Names the rows of a list by what their first form sends: a renewed page then finds each again, where its place alone
 * would put an opened question into another row.
 * @param {Element | null} within
 */
function nameRows(within) {
  const named = new Set(Array.from(within?.querySelectorAll('[id]') ?? [], ({ id }) => id));
  for (const form of within?.querySelectorAll('li form, tr form') ?? []) {
    const row = form.closest('li, tr');
    const fields = /** @type {NodeListOf<HTMLInputElement>} */ (
      form.querySelectorAll('input[type="hidden"]:not([name="csrf"])')
    );
    const name = [form.getAttribute('action'), ...Array.from(fields, ({ value }) => value)].join(' ');
    if (row === null || row.id !== '' || named.has(name)) continue;
    named.add(name);
    row.id = name;
  }
}

/**
 * Morphs the page into a newly rendered one.
 * @param {Document} next
 * @param {HTMLFormElement | null} [sent] the form that it answers, null for a link; undefined: the notices stay
 */
function show(next, sent) {
  nameRows(page());
  nameRows(next.getElementById('page'));
  Idiomorph.morph(page(), next.getElementById('page'), keeping(sent));
  if (sent !== undefined) {
    document.getElementById('notices')?.replaceChildren(...(next.getElementById('notices')?.childNodes ?? []));
  }
  document.title = next.title;
  shownMark = next.documentElement.dataset.mark ?? shownMark;
  document.dispatchEvent(new CustomEvent('cairn:shown'));
}

/** A page with more blocks than this names the first of them, so that its request stays short. */
const STATES_MAX = 400;

/** Names the blocks that this page shows: the hub leaves them out of the renewed page. */
function shownStates() {
  const blocks = /** @type {HTMLElement[]} */ ([...page().querySelectorAll('[data-state]')]);
  return blocks.slice(0, STATES_MAX).map(({ dataset }) => dataset.state);
}

/**
 * Puts the blocks that the hub left out into a renewed page. False: this page shows one of them no more as it was named.
 * @param {Document} next
 * @param {ReadonlySet<string | undefined>} named
 */
function fill(next, named) {
  const csrf = next.querySelector('input[name="csrf"]')?.getAttribute('value');
  for (const gap of next.querySelectorAll('[data-same]')) {
    const shown = document.getElementById(gap.id);
    if (shown === null || !named.has(shown.dataset.state)) return false;
    const copy = /** @type {HTMLElement} */ (shown.cloneNode(true));
    if (csrf) for (const token of copy.querySelectorAll('input[name="csrf"]')) token.setAttribute('value', csrf);
    gap.replaceWith(copy);
  }
  return true;
}

/** True when a change of the page would disturb the reader's current action or position. */
function isBusy() {
  return scrollY > READING_PX || isInUse();
}

/** True while the reader drags, chooses or selects something. */
function isInUse() {
  if (root.dataset.dragging !== undefined) return true;
  if (document.querySelector('details[data-menu][open], dialog[open]') !== null) return true;
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && page().contains(selection.anchorNode);
}

const bar = document.createElement('div');
const barText = document.createElement('span');
const barButton = document.createElement('button');
Object.assign(bar, { className: 'live-bar', hidden: true });
bar.setAttribute('role', 'status');
Object.assign(barButton, { className: 'button small primary', type: 'button' });
bar.append(barText, barButton);

/**
 * @param {string} text
 * @param {string} label
 * @param {() => void} act
 */
function tell(text, label, act) {
  if (unsent !== undefined) return;
  barText.textContent = text;
  barButton.textContent = label;
  barButton.onclick = act;
  bar.hidden = false;
  if (!bar.isConnected) document.body.append(bar);
}

function hideBar() {
  if (unsent === undefined) bar.hidden = true;
}

async function renew() {
  if (isRenewing) {
    isDue = true;
    return;
  }
  isRenewing = true;
  isDue = false;
  try {
    const named = new Set(shownStates());
    let response = await renewal(named);
    let next = parse(await response.text());
    if (!fill(next, named)) {
      response = await renewal(new Set());
      next = parse(await response.text());
    }
    if (response.redirected) movedTo(new URL(response.url));
    else if (response.ok) renewWith(next);
  } catch {
    // No network: the stream reports the change again after reconnecting.
  }
  setTimeout(() => {
    isRenewing = false;
    if (isDue) changed();
  }, REST_MS);
}

/**
 * Asks the hub for this page without the blocks of these states.
 * @param {ReadonlySet<string | undefined>} states
 */
function renewal(states) {
  return fetch(location.href, { headers: { 'X-Live': ['1', ...states].join(' ') }, cache: 'no-store' });
}

/** @param {Document} next */
function renewWith(next) {
  /** @param {Document} of */
  const script = (of) => of.querySelector('script[type="module"]')?.getAttribute('src');
  if (script(next) !== script(document)) {
    tell('Cairn was updated.', 'Reload', () => location.reload());
    return;
  }
  changes = 0;
  hideBar();
  show(next);
}

/**
 * The page redirects elsewhere: the reader is signed out, or its subject was resolved elsewhere.
 * @param {URL} to
 */
function movedTo(to) {
  if (to.pathname === '/signin') signedOut();
  else tell('This was resolved elsewhere.', 'Continue', () => location.assign(to.href));
}

function changed() {
  // The page of a refused form has what was typed, and the hub does not.
  if (root.dataset.refused !== undefined) return;
  if (!isBusy()) {
    void renew();
    return;
  }
  tell(changes === 1 ? '1 change' : `${changes} changes`, 'Show', () => {
    scrollTo({ top: 0 });
    void renew();
  });
}

function signedOut() {
  source?.close();
  source = undefined;
  tell('You are signed out.', 'Sign in', () => location.reload());
}

function checkLater() {
  if (isChecking) return;
  isChecking = true;
  setTimeout(check, CHECK_MS[Math.min(checks, CHECK_MS.length - 1)]);
}

/**
 * Checks a lost stream. A browser reconnects automatically after a lost connection, but not after an error status, such as
 * that of a hub about to stop.
 */
async function check() {
  const isWanted = source !== undefined && source.readyState !== EventSource.OPEN;
  const isReached = isWanted && (await isHubReached());
  isChecking = false;
  if (!isWanted) return;
  if (isReached) {
    checks += 1;
    found();
    listen();
    return;
  }
  checks = 0;
  isLost = true;
  tell('Cairn cannot be reached. Changes made elsewhere do not appear.', 'Reload', () => location.reload());
  checkLater();
}

async function isHubReached() {
  try {
    const signal = AbortSignal.timeout(REACHED_MS);
    // A proxy answers 502 to 504 for a hub that is down. A refusal comes from a hub, which then says why.
    return (await fetch('/live', { method: 'HEAD', cache: 'no-store', signal })).status < 500;
  } catch {
    return false;
  }
}

/** The hub is reached again: removes the message that it was not. */
function found() {
  if (isLost) hideBar();
  isLost = false;
}

/** Opens the stream while the page is visible. Browsers limit connections to six a host, shared by all open pages. */
function listen() {
  const { live } = root.dataset;
  if (live === undefined || document.visibilityState !== 'visible') {
    source?.close();
    source = undefined;
    return;
  }
  if (source !== undefined && source.readyState !== EventSource.CLOSED) return;
  const topics = new Set([...live.split(' '), 'all']);
  source = new EventSource(`/live?mark=${encodeURIComponent(shownMark ?? '')}`);
  source.addEventListener('change', ({ data, lastEventId }) => {
    if (isShown(lastEventId)) return;
    let count = 0;
    for (const [topic, rows] of Object.entries(JSON.parse(data))) if (topics.has(topic)) count += rows;
    if (count === 0) return;
    changes += count;
    changed();
  });
  source.addEventListener('signed-out', signedOut);
  source.addEventListener('error', checkLater);
  source.addEventListener('open', () => {
    checks = 0;
    found();
  });
}

/**
 * Shows the page returned by a request in place of this one, or navigates to it if its path differs.
 * @param {Response} response
 * @param {HTMLFormElement} [form] that was sent
 */
async function follow(response, form) {
  const to = new URL(response.url);
  if (to.pathname !== location.pathname && response.redirected) {
    location.assign(to.href);
    return;
  }
  const next = parse(await response.text());
  if (next.getElementById('page') === null) throw new Error('no page came back');
  // What was typed while the form was being sent stays.
  if (response.ok && form?.method === 'post' && fieldsOf(form) === sending.get(form)) form.reset();
  if (response.ok) history.replaceState(null, '', to.pathname + to.search);
  changes = 0;
  if (form?.method === 'post') unsent = undefined;
  hideBar();
  show(next, form ?? null);
}

/**
 * The fields of a form, and those of the button that sends it.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} [submitter]
 */
function sentBy(form, submitter) {
  const fields = Array.from(new FormData(form, submitter), ([name, value]) => [
    name,
    typeof value === 'string' ? value : value.name,
  ]);
  return new URLSearchParams(fields);
}

/**
 * The address of a GET form, without empty fields.
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} [submitter]
 */
function askedBy(form, submitter) {
  const query = sentBy(form, submitter);
  for (const [name, value] of Array.from(query)) if (value === '') query.delete(name);
  return `${form.getAttribute('action')}?${query}`;
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
function send(form, submitter) {
  if (form.method !== 'post') return fetch(askedBy(form, submitter));
  const action = submitter?.getAttribute('formaction') ?? form.getAttribute('action') ?? '';
  // Only an answer that is shown in place of this page takes the notice; another page that it leads to shows it.
  const headers = { 'X-Shown': location.pathname };
  return fetch(action, { method: 'POST', body: sentBy(form, submitter), headers });
}

/**
 * Forms being sent, with their fields.
 * @type {WeakMap<HTMLFormElement, string>}
 */
const sending = new WeakMap();

/** @param {HTMLFormElement} form */
function fieldsOf(form) {
  return sentBy(form).toString();
}

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const { submitter } = event;
  if (event.defaultPrevented || !form.matches('form[data-swap]')) return;
  event.preventDefault();
  if (sending.has(form)) return;
  sending.set(form, fieldsOf(form));
  form.ariaBusy = 'true';
  const next = nextTo(submitter);
  for (const menu of document.querySelectorAll('details')) if (menu.matches('[data-menu]')) menu.open = false;
  send(form, submitter)
    .then(
      (response) =>
        follow(response, form).then(
          () => focusFirst(next),
          () => {
            // Submits without script, so that the browser shows the answer.
            delete form.dataset.swap;
            sending.delete(form);
            form.requestSubmit(submitter);
          },
        ),
      () => notSent(form, submitter),
    )
    .finally(() => {
      form.ariaBusy = 'false';
      sending.delete(form);
    });
});

/**
 * What can be pressed after an element, and then what is before it, the nearest first.
 * @param {HTMLElement | null} element
 */
function nextTo(element) {
  const all = /** @type {HTMLElement[]} */ ([...page().querySelectorAll('a[href], button, summary')]);
  const at = element === null ? -1 : all.indexOf(element);
  return at === -1 ? [] : [...all.slice(at + 1), ...all.slice(0, at).reverse()];
}

/**
 * What was pressed is gone from the page: the next one takes the focus, so that a keyboard goes on from there.
 * @param {readonly HTMLElement[]} next
 */
function focusFirst(next) {
  if (document.activeElement !== document.body) return;
  next.find((one) => one.isConnected && one.checkVisibility())?.focus({ preventScroll: true });
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
function notSent(form, submitter) {
  const kept = form.querySelector(ENTERED) === null ? '' : ', and your text is still here';
  unsent = undefined;
  tell(`Cairn cannot be reached. Nothing was sent${kept}.`, 'Try again', () => {
    unsent = undefined;
    hideBar();
    form.requestSubmit(submitter);
  });
  unsent = form;
}

/** What a person typed in a form. */
const ENTERED = 'textarea, input:not([type="hidden"], [type="file"])';

/** Forms that are about to be sent: the hub is being asked whether it can be reached, or it was. */
/** @type {WeakSet<HTMLFormElement>} */
const asking = new WeakSet();
/** @type {WeakSet<HTMLFormElement>} */
const reached = new WeakSet();
/** @type {WeakMap<HTMLFormElement, number>} */
const sentAt = new WeakMap();

/** Sends a form only once the hub was reached: else the browser's error page would take its place. A double click sends once. */
document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const { submitter, timeStamp } = event;
  if (event.defaultPrevented || form.method !== 'post') return;
  if (!reached.delete(form)) {
    event.preventDefault();
    void askFirst(form, submitter);
  } else if (timeStamp - (sentAt.get(form) ?? -DOUBLE_MS) < DOUBLE_MS) event.preventDefault();
  else sentAt.set(form, timeStamp);
});

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
async function askFirst(form, submitter) {
  if (asking.has(form)) return;
  asking.add(form);
  form.ariaBusy = 'true';
  const isReached = await isHubReached();
  asking.delete(form);
  form.ariaBusy = 'false';
  if (!isReached) {
    notSent(form, submitter);
    return;
  }
  unsent = undefined;
  hideBar();
  reached.add(form);
  form.requestSubmit(submitter);
}

/** Number of the latest search while typing; an answer to an earlier one is dropped. */
let asked = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

/** @param {HTMLFormElement} form */
async function ask(form) {
  asked += 1;
  const mine = asked;
  const response = await fetch(askedBy(form));
  if (mine === asked && response.ok) await follow(response, form);
}

/**
 * @param {Event} event
 * @param {number} delayMs
 */
function askLater({ target }, delayMs) {
  const { form } = /** @type {HTMLInputElement} */ (target);
  if (form?.dataset.swap !== 'typing') return;
  clearTimeout(typing);
  typing = setTimeout(() => {
    ask(form).catch(() => undefined);
  }, delayMs);
}

document.addEventListener('input', (event) => askLater(event, TYPING_MS));
document.addEventListener('change', (event) => askLater(event, 0));

document.addEventListener('click', (event) => {
  const link = /** @type {Element} */ (event.target).closest('a[data-swap]');
  if (!(link instanceof HTMLAnchorElement) || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  fetch(link.href)
    .then((response) => follow(response))
    .catch(() => location.assign(link.href));
});

/** Hides the buttons of forms that search while typing. */
function hideButtons() {
  for (const button of document.querySelectorAll('button')) {
    if (button.matches('form[data-swap="typing"] button')) button.hidden = true;
  }
}

document.addEventListener('cairn:shown', hideButtons);
hideButtons();
document.addEventListener('visibilitychange', listen);

/** Shows a page that has no stream as it is now, when its reader comes back to it. */
function comeBack() {
  if (root.dataset.renews === undefined || document.visibilityState !== 'visible') return;
  if (!isRenewing && !isInUse()) void renew();
}

document.addEventListener('visibilitychange', comeBack);
addEventListener('focus', comeBack);
// A page restored from the back/forward cache has no stream.
addEventListener('pageshow', listen);
addEventListener('pagehide', () => {
  source?.close();
  source = undefined;
});

// A form that came back keeps the address of its page: neither Back nor Reload asks to send it again.
if (root.dataset.refused === '422' && document.referrer.startsWith(`${location.origin}/`)) {
  history.replaceState(null, '', document.referrer);
}
