/** What script adds to pages that work without it: copy buttons, and times in the reader's own zone. */

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The server writes times in the zone that the last page told; here the first page is put right, and the next told. */
function rewriteTimes() {
  if (!zone || document.documentElement.dataset.zone === zone) return;
  // biome-ignore lint/suspicious/noDocumentCookie: the cookie store is not in every browser.
  document.cookie = `cairn_zone=${zone}; Path=/; SameSite=Lax; Max-Age=31536000`;
  const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of document.querySelectorAll('time[datetime*="T"]')) {
    time.textContent = moments.format(new Date(time.dateTime));
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

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', () => copy(button));
}
rewriteTimes();
