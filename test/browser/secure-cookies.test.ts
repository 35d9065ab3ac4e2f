/** Cookies of a hub under TLS, as a browser keeps them. */
import { expect, test } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { useBrowser } from '../support/use-browser.ts';

const { cert, key } = selfSigned({ name: 'localhost' });
const { visit } = useBrowser({ env: { CAIRN_TLS_CERT: cert, CAIRN_TLS_KEY: key } });

test('[WEB-2] under TLS each cookie is Secure and of this host alone, also the one that a script sets', async () => {
  const { context, page } = await visit({ ignoreHTTPSErrors: true, timezoneId: 'Pacific/Niue' });
  await page.goto('/signin');
  const cookies = await context.cookies();
  expect(cookies.map(({ name }) => name).toSorted()).toEqual(['__Host-cairn_session', '__Host-cairn_zone']);
  expect(cookies.filter(({ secure, domain }) => !secure || domain.startsWith('.'))).toEqual([]);
  await page.reload();
  expect(await page.getAttribute('html', 'data-zone')).toBe('Pacific/Niue');
});
