/** What script adds to pages that work without it: copy buttons, times in the reader's own zone. */

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The server writes times in the zone that the last page told; here the first page is put right, and the next told. */
function rewriteTimes() {
  if (!zone || document.documentElement.dataset.zone === zone) return;
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser.
  document.cookie = `cairn_zone=${zone}; Path=/; SameSite=Lax; Max-Age=31536000`;
  const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of document.querySelectorAll('time[datetime*="T"]')) {
    const exact = moments.format(new Date(time.dateTime));
    if (time.title === time.textContent || !('ago' in time.dataset)) time.textContent = exact;
    if ('ago' in time.dataset) time.title = exact;
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
