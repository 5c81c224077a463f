// Tests the settings of the page through a whole node, as people use them.
import type { ExecutionContext } from 'ava';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { accessibilityFaults, openWindow, signIn, testInBrowser } from '../../support/browser/browser.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode } from '../../support/node.js';
import { until } from '../../support/until.js';

const BACKGROUND = 'getComputedStyle(document.body).backgroundColor';

async function world(t: ExecutionContext) {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test', MANSIO_HOSTNAME: 'mail.example.test' });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const { key } = await createAccount(sql, 'zoe@example.test');
  await sql.end();
  const origin = `http://127.0.0.1:${port(node, 'http')}`;
  return {
    node,
    client: new MailboxClient(node, key),
    async open(options: Parameters<typeof openWindow>[2] = {}) {
      const window = await openWindow(t, origin, options);
      await signIn(window, key);
      return window;
    },
  };
}

testInBrowser(
  'a theme applies in every window at once and survives a reload; Back and the keys lead out',
  async (t) => {
    const { client, open } = await world(t);
    const window = await open({ colorScheme: 'light' });
    const { page } = window;
    const other = await open({ colorScheme: 'light' });
    const light = await page.evaluate<string>(BACKGROUND);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'General' }).waitFor();
    t.is(new URL(page.url()).pathname, '/settings');
    await page.getByRole('radio', { name: 'Dark' }).check();
    await page.getByText('Saved', { exact: true }).waitFor();
    const dark = await page.evaluate<string>(BACKGROUND);
    t.not(dark, light);
    await until(async () => (await other.page.evaluate<string>(BACKGROUND)) === dark);
    t.deepEqual(await accessibilityFaults(window), []);

    await page.getByLabel('Time to undo sending').selectOption({ label: '20 seconds' });
    await page.getByLabel('Show the beginning of each email in lists').uncheck();
    await page.getByLabel('Order of lists').selectOption('By sender');
    await until(async () => {
      const chosen = await client.get<Record<string, unknown>>('/api/preferences');
      return chosen['undoSendSeconds'] === 20 && chosen['showPreview'] === false && chosen['defaultSort'] === 'sender';
    });
    await page.reload();
    await page.getByRole('radio', { name: 'Dark', checked: true }).waitFor();
    t.is(await page.evaluate(BACKGROUND), dark);
    await page.getByRole('heading', { name: 'General' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Order and view: By sender' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'General' }).waitFor();

    // What is not saved is told, and the former setting stays.
    await page.route('**/api/preferences', (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );
    await page.getByRole('radio', { name: 'Light' }).click();
    await page.getByText('This was not saved, so the former setting is kept.').waitFor();
    await page.getByRole('radio', { name: 'Dark', checked: true }).waitFor();
    t.deepEqual([...window.faults, ...other.faults], []);
  },
);

testInBrowser('the name is changed; a browser is signed out from another one, at once', async (t) => {
  const { client, open } = await world(t);
  const window = await open({ path: '/settings/profile' });
  const { page } = window;
  await page.getByLabel('Display name').fill('Zoë Ünal');
  await page.getByText('Saved', { exact: true }).waitFor();
  t.is((await client.get<{ readonly displayName: string }>('/api/profile')).displayName, 'Zoë Ünal');
  await page.getByText('Zoë Ünal', { exact: true }).waitFor();
  await page.getByLabel('Display name').fill('');
  await page.getByText('A name is needed. Until you write one, “Zoë Ünal” is kept.').waitFor();

  const other = await open({ userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' });
  const phone = await open({ userAgent: 'Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0' });
  await page.getByRole('link', { name: 'Devices' }).click();
  const devices = page.getByRole('list', { name: 'Devices' }).getByRole('listitem');
  await devices.nth(2).waitFor();
  t.true((await devices.first().textContent())!.includes('This browser'));
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('button', { name: 'Sign out: Firefox on Linux' }).click();
  await page.getByText('Firefox on Linux is signed out.').waitFor();
  await other.page.getByLabel('API key').waitFor();
  t.is(await devices.count(), 2);
  await page.getByRole('button', { name: 'Sign out all other browsers' }).click();
  await page.getByText('1 other browser is signed out.').waitFor();
  await phone.page.getByLabel('API key').waitFor();
  await page.getByRole('button', { name: 'Sign out of this browser' }).click();
  await page.getByLabel('API key').waitFor();
  t.deepEqual([...window.faults, ...other.faults, ...phone.faults], []);
});

testInBrowser('the settings fit a phone', async (t) => {
  const { open } = await world(t);
  const window = await open({ viewport: { width: 320, height: 640 } });
  const { page } = window;
  const sections = ['General', 'Profile', 'Devices'];
  await page.goto(`${new URL(page.url()).origin}/settings`);
  for (const section of sections) {
    await page.getByRole('link', { name: section }).click();
    await page.getByRole('heading', { name: section }).waitFor();
    t.is(await page.evaluate('document.documentElement.scrollWidth'), 320, section);
    t.deepEqual(await accessibilityFaults(window), [], section);
    await page.getByRole('link', { name: 'Back' }).click();
  }
  t.deepEqual(window.faults, []);
});
