// Tests signing in at a real OpenID provider, in Chromium through a whole node: the way there and back, and refusals of the provider.
import { port } from '../../../dev/node-accounts.js';
import { accessibilityFaults, openWindow, testInBrowser } from '../../support/browser/browser.js';
import { PAGE_SETTINGS } from '../../support/browser/page-node.js';
import { startTestNode } from '../../support/node.js';
import { startProvider } from '../../support/peers/oidc-provider.js';

testInBrowser('a browser signs in at the provider and goes on where it was; refusals are told', async (t) => {
  const provider = await startProvider(t);
  provider.signsIn({ sub: 'anna', email: 'anna@example.test', email_verified: true, name: 'Anna' });
  const node = await startTestNode({
    ...PAGE_SETTINGS,
    MANSIO_OIDC_AUTHORITY: provider.authority,
    MANSIO_OIDC_CLIENT_ID: 'web',
  });
  t.teardown(() => node.stop());
  const origin = `http://localhost:${port(node, 'http')}`;
  const window = await openWindow(t, origin, { path: '/archive' });
  const { page, context, faults } = window;
  const begin = page.getByRole('button', { name: `Continue with ${new URL(provider.authority).host}` });
  await begin.waitFor();
  t.deepEqual(await accessibilityFaults(window), []);

  // What the field could offer is not there, which nobody has asked for: it takes the place of no other text.
  const offers = context.waitForEvent('requestfinished', (request) => request.url().endsWith('/api/passkeys/login'));
  await context.route('**/api/passkeys/login', (route) => route.fulfill({ status: 503, json: {} }));
  provider.denies('access_denied', 'Ask your administrator.');
  await begin.click();
  await page.getByText('access was refused there.').waitFor();
  await offers;
  await page.getByText('Ask your administrator.').waitFor();
  t.is(page.url(), `${origin}/archive`);
  t.deepEqual(await accessibilityFaults(window), []);

  await begin.click();
  await page.getByRole('heading', { name: 'Archive' }).waitFor();
  t.is(page.url(), `${origin}/archive`);
  await page.getByText('anna@example.test', { exact: true }).waitFor();
  const names = (await context.cookies()).map(({ name }) => name);
  t.true(names.includes('mansio'));
  t.false(names.includes('mansio-oidc'), 'the secret of the sign-in is gone');

  // A link of somebody else, with a code of their own, changes nothing.
  await page.goto(`${origin}/sign-in/oidc?code=theirs&state=theirs&error_description=Evil`);
  await page.getByText('Nobody was signed in: this sign-in was not begun here').waitFor();
  await page.getByText('anna@example.test', { exact: true }).waitFor();
  t.is(await page.getByText('Evil').count(), 0);
  t.is(page.url(), `${origin}/inbox`);
  const foreign = faults.filter((fault) => !fault.startsWith(`request: ${provider.authority}/authorize`));
  t.deepEqual(foreign, []);
});
