// Tests the settings of the page through a whole node, as people use them.
import type { ExecutionContext } from 'ava';
import { port, storeOf } from '../../../dev/node-accounts.js';
import { accessibilityFaults, flashed, openWindow, testInBrowser } from '../../support/browser/browser.js';
import { originOf, startPageNode } from '../../support/browser/page-node.js';
import { imapFlow } from '../../support/clients/imap-programs.js';
import { mansio } from '../../support/command.js';
import { until } from '../../support/until.js';

const BACKGROUND = 'getComputedStyle(document.body).backgroundColor';

const start = (t: ExecutionContext) => startPageNode(t, 'zoe', { MANSIO_HOSTNAME: 'mail.example.test' });

testInBrowser(
  'a theme applies in every window at once and survives a reload; Back and the keys lead out',
  async (t) => {
    const { client, open } = await start(t);
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

testInBrowser('senders are blocked and allowed as they are written, and what is no name is told', async (t) => {
  const { client, open } = await start(t);
  const window = await open({ path: '/settings/senders' });
  const { page } = window;
  await page.getByLabel('Blocked senders').fill('Spam.test\nbo@peer.test');
  await page.getByText('Saved', { exact: true }).waitFor();
  t.deepEqual(await client.get('/api/senders'), { allowed: [], blocked: ['bo@peer.test', 'spam.test'] });
  await page.getByLabel('Allowed senders').fill('ann@spam.test no@');
  await page.getByText('“no@” is neither an address nor a domain.').waitFor();
  await page.getByLabel('Allowed senders').fill('ann@spam.test');
  await page.getByText('Saved', { exact: true }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.reload();
  await until(async () => (await page.getByLabel('Allowed senders').inputValue()) === 'ann@spam.test');
  t.is(await page.getByLabel('Blocked senders').inputValue(), 'bo@peer.test\nspam.test');
});

testInBrowser('an address elsewhere is added, confirmed by its link, forwarded to and removed', async (t) => {
  const { node, client, open } = await startPageNode(t, 'zoe', { MANSIO_PUBLIC_URL: 'https://mail.example.test/' });
  const window = await open({ path: '/settings/forwarding' });
  const { page } = window;
  await page.getByText('You have no confirmed address elsewhere').waitFor();
  const field = page.getByLabel('Add an address');
  await field.fill('zoe@far.test');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('A mail with a link is on its way to zoe@far.test.').waitFor();
  t.is(await field.inputValue(), '');
  const list = page.getByRole('list', { name: 'Your addresses elsewhere' });
  await list.getByText('Not confirmed yet').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  // One mail an hour.
  await page.getByRole('button', { name: 'Send the mail to zoe@far.test again' }).click();
  await page.getByText('one per address and hour').waitFor();

  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  await sql`update addresses set verified = true where address = 'zoe@far.test'`;
  await page.evaluate('window.dispatchEvent(new Event("focus"))');
  await list.getByText('Confirmed', { exact: true }).waitFor();
  await page.getByLabel('Forward my mail').check();
  await until(async () => (await client.get<{ isEnabled: boolean }>('/api/forwarding')).isEnabled);
  await page.getByRole('button', { name: 'Remove zoe@far.test' }).click();
  await page.getByText('zoe@far.test is removed').waitFor();
  await until(
    async () => (await client.get<{ additionalAddresses: unknown[] }>('/api/profile')).additionalAddresses.length === 0,
  );
  await list.waitFor({ state: 'detached' });
});

testInBrowser('a suspended account is told why nothing is sent', async (t) => {
  const { node, account, open } = await start(t);
  const window = await open();
  const { page } = window;
  const note = page.getByRole('region', { name: 'This account is suspended' });
  t.is(await note.count(), 0);
  await mansio(node.dataDir, ['account', 'suspend', account.email, '--why', 'Ask the operator.']);
  await note.getByText('Ask the operator.').waitFor();
  t.is(await note.getByRole('button').count(), 0, 'whom the operator has suspended does not resume');
  t.deepEqual(await accessibilityFaults(window), []);
  await mansio(node.dataDir, ['account', 'resume', account.email]);
  await note.waitFor({ state: 'detached' });
});

testInBrowser('the name is changed; a browser is signed out from another one, at once', async (t) => {
  const { client, open } = await start(t);
  const window = await open({ path: '/settings/profile' });
  const { page } = window;
  await page.getByLabel('Display name').fill('Zoë Ünal');
  await page.getByText('Saved', { exact: true }).waitFor();
  t.is((await client.get<{ readonly displayName: string }>('/api/profile')).displayName, 'Zoë Ünal');
  await page.getByText('Zoë Ünal', { exact: true }).waitFor();
  await page.getByRole('heading', { name: 'Storage' }).waitFor();
  await page.getByText('0 bytes in use').waitFor();
  await page.getByText('0 emails', { exact: true }).waitFor();
  await page.getByLabel('Display name').fill('');
  await page.getByText('A name is needed. Until you write one, “Zoë Ünal” is kept.').waitFor();

  const other = await open({ userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' });
  await page.getByRole('link', { name: 'Devices' }).click();
  const devices = page.getByRole('list', { name: 'Devices' }).getByRole('listitem');
  await devices.nth(1).waitFor();
  // What signs in meanwhile is there at once.
  const phone = await open({ userAgent: 'Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0' });
  await devices.nth(2).waitFor();
  t.true((await devices.first().textContent())!.includes('This browser'));
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('button', { name: 'Sign out: Firefox on Linux' }).click();
  await page.getByText('Firefox on Linux is signed out.').waitFor();
  await other.page.getByLabel('API key').waitFor();
  await until(async () => (await devices.count()) === 2);
  await page.getByRole('button', { name: 'Sign out all other browsers' }).click();
  await page.getByText('Firefox on Android is signed out.').waitFor();
  await phone.page.getByLabel('API key').waitFor();
  await page.getByRole('button', { name: 'Sign out of this browser' }).click();
  await page.getByLabel('API key').waitFor();
  t.deepEqual([...window.faults, ...other.faults, ...phone.faults], []);
});

testInBrowser('a phone is signed in by the code that a browser shows, which says so', async (t) => {
  const { node, open } = await start(t);
  const window = await open({ path: '/settings/devices', permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = window;
  const show = page.getByRole('button', { name: 'Show the code' });
  const code = page.getByRole('region', { name: 'QR code that signs a phone in' });
  const link = async () => (await code.locator('code').textContent())!;
  await show.click();
  await code.getByRole('img', { name: 'QR code that signs a phone in' }).waitFor();
  await code.getByText('is this computer itself').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  const closed = await link();
  await page.getByRole('button', { name: 'Close the code' }).click();
  await show.waitFor();
  await show.click();
  await page.setViewportSize({ width: 320, height: 640 });
  await code.getByRole('button', { name: 'Copy the link' }).click();
  const copied = await link();
  await until(async () => (await page.evaluate('navigator.clipboard.readText()')) === copied);
  t.is(await page.evaluate('document.documentElement.scrollWidth'), 320);
  t.deepEqual(await accessibilityFaults(window), []);

  const phone = await openWindow(t, originOf(node), {
    path: new URL(closed).pathname,
    userAgent: 'Mozilla/5.0 (Android 14; Mobile; rv:130.0) Gecko/130.0 Firefox/130.0',
    viewport: { width: 320, height: 640 },
  });
  await phone.page.getByText('This link no longer works').waitFor();
  // A browser has one link: a code in another window takes the place of the one here, which says so.
  const replaced = await link();
  const beside = await window.context.newPage();
  await beside.goto(`${originOf(node)}/settings/devices`);
  await beside.getByRole('button', { name: 'Show the code' }).click();
  await page.getByText('Another window of this browser shows a new code.').waitFor();
  t.is(await code.count(), 0);
  await phone.page.goto(replaced);
  await phone.page.getByText('This link no longer works').waitFor();
  await show.click();
  await beside.getByText('Another window of this browser shows a new code.').waitFor();
  await beside.close();
  // Nothing asks again and again whether the phone is there.
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await phone.page.goto(await link());
  t.deepEqual(asked, []);
  await phone.page.getByText('zoe@example.test').waitFor();
  await phone.page.getByRole('button', { name: 'Sign in' }).click();
  await phone.page.getByRole('heading', { name: 'Inbox' }).waitFor();
  await page.getByText('Signed in on Firefox on Android.').waitFor();
  await code.waitFor({ state: 'detached' });
  t.deepEqual(await accessibilityFaults(window), []);
  // A code whose time is over is not shown any more.
  await page.route('**/api/sessions/links', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), expiresInSeconds: 1 } });
  });
  await show.click();
  await page.getByText('The time of the code is over. Show a new one.').waitFor();
  await code.waitFor({ state: 'detached' });
  // The phone is a device like the others.
  await page.getByRole('button', { name: 'Sign out: Firefox on Android' }).click();
  await phone.page.getByLabel('API key').waitFor();
  t.deepEqual([...window.faults, ...phone.faults], []);
});

testInBrowser('a key for a mail program is made, logs in over IMAP, is replaced and revoked', async (t) => {
  const { node, client, open } = await start(t);
  const window = await open({ path: '/settings/keys', permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = window;
  await page.getByLabel('Name', { exact: true }).fill('Thunderbird at home');
  await page.getByLabel('What it is for').selectOption('Mail program: IMAP and SMTP');
  await page.getByRole('button', { name: 'Make the key' }).click();
  const issued = page.getByRole('region', { name: 'The key of Thunderbird at home' });
  // It is said for two seconds.
  const copied = flashed(window, 'Copied');
  await issued.getByRole('button', { name: 'Copy the key' }).click();
  await copied;
  const key = await page.evaluate<string>('navigator.clipboard.readText()');
  t.is(await issued.locator('code').first().textContent(), key);
  t.deepEqual(await accessibilityFaults(window), []);

  // A phone scans the same.
  await issued.getByText('Set up a phone with a QR code').click();
  await issued.getByRole('img', { name: 'QR code' }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);

  // What is to be typed is where the servers listen.
  const typed = async (server: string) =>
    (await issued.getByRole('region', { name: server }).locator('code').allTextContents()).join(' ');
  const host = 'mail.example.test';
  t.is(await typed('Incoming mail: IMAP'), `${host} ${port(node, 'imaps')} SSL/TLS zoe@example.test`);
  t.regex(await typed('Outgoing mail: SMTP'), /^mail\.example\.test \d+ (?:SSL\/TLS|STARTTLS) zoe@example\.test$/);
  const logIn = (pass: string) => imapFlow(node, { id: '', email: 'zoe@example.test', key: pass });
  const program = logIn(key);
  await program.connect();
  await program.logout();

  await issued.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Replace: Thunderbird at home' }).click();
  await page.getByRole('button', { name: 'Replace', exact: true }).click();
  await issued.waitFor();
  const replaced = (await issued.locator('code').first().textContent())!;
  t.not(replaced, key);
  await t.throwsAsync(logIn(key).connect());
  const again = logIn(replaced);
  await again.connect();
  await again.logout();

  await page.getByRole('button', { name: 'Revoke: Thunderbird at home' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Revoke: Thunderbird at home' }).click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('Thunderbird at home is revoked.').waitFor();
  await t.throwsAsync(logIn(replaced).connect());

  await page.getByLabel('Name', { exact: true }).fill('Phone');
  await page.getByLabel('What it is for').selectOption('iPhone, iPad or Mac: a profile for Apple Mail');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the profile' }).click();
  t.is((await saved).suggestedFilename(), 'mail.mobileconfig');
  await page.getByRole('button', { name: 'Revoke: Phone' }).waitFor();
  const { keys } = await client.get<{ readonly keys: readonly { readonly name: string }[] }>('/api/smtp-credentials');
  t.true(keys.some(({ name }) => name === 'Phone'));
  t.deepEqual(window.faults, []);
});

testInBrowser('a signature is written with formats, bounded, and at the end of a new email', async (t) => {
  const { node, client, open } = await start(t);
  const stored = async () => (await client.get<{ readonly signature: string }>('/api/preferences')).signature;
  // What another program has stored does nothing in the page.
  const hostile = '<b>Zoë</b><img src="https://elsewhere.test/p.png" onerror="alert(1)"><script>alert(2)</script>';
  await client.request('PUT', '/api/preferences', { signature: hostile });
  const window = await open({ path: '/settings/signature' });
  const { page } = window;
  const editor = page.getByRole('textbox', { name: 'Signature' });
  await editor.getByText('Zoë').waitFor();
  await page.getByRole('button', { name: 'Italic' }).waitFor();
  t.is(await stored(), hostile);
  t.deepEqual(await accessibilityFaults(window), []);
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Ünal');
  await page.keyboard.press('Control+a');
  await page.getByRole('button', { name: 'Italic' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  await until(async () => /<i>Ünal<\/i>/.test(await stored()));
  t.notRegex(await stored(), /script|onerror/);

  await page.keyboard.press('Control+End');
  await page.keyboard.insertText('x'.repeat(11_000));
  await page.getByText('This is too long to be saved.').waitFor();
  await page.getByRole('link', { name: 'Profile' }).click();
  await page.getByLabel('Display name').waitFor();
  t.regex(await stored(), /<i>Ünal<\/i>/);
  t.true((await stored()).length < 11_000);
  await page.getByRole('button', { name: 'Compose' }).click();
  const text = page.getByRole('dialog').getByRole('textbox', { name: 'Message body' });
  await text.getByText('Ünal').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard draft' }).click();

  // A further address has a name and a signature of its own, and the text follows its sender.
  await client.request('POST', '/api/profile/addresses', { address: 'shop@example.test' });
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  await sql`update addresses set verified = true where address = 'shop@example.test'`;
  await page.goto(`${new URL(page.url()).origin}/settings/profile`);
  await page.getByLabel('Name beside shop@example.test').fill('The shop');
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Signature' }).click();
  await page.getByLabel('Address').selectOption('shop@example.test');
  await editor.getByText('Ünal').click();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Open until six');
  const identities = async () =>
    (await client.get<{ identities: { displayName: string; signature: string }[] }>('/api/preferences')).identities;
  await until(async () => /Open until six/.test((await identities())[0]?.signature ?? ''));
  t.like(await identities(), [{ address: 'shop@example.test', displayName: 'The shop' }]);
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('button', { name: 'Compose' }).click();
  await text.getByText('Ünal').waitFor();
  await page.getByRole('dialog').getByRole('toolbar', { name: 'Formats' }).waitFor();
  await text.press('A');
  await page.getByLabel('From', { exact: true }).selectOption('shop@example.test');
  await text.getByText('Open until six').waitFor();
  t.is(await text.getByText('Ünal').count(), 0);
  await page.getByLabel('From', { exact: true }).selectOption('zoe@example.test');
  await text.getByText('Ünal').waitFor();
  t.is(await text.getByText('Open until six').count(), 0);
  await text.getByText('A', { exact: true }).waitFor();
  t.deepEqual(window.faults, []);
});

testInBrowser('the settings fit a phone', async (t) => {
  const { open } = await start(t);
  const window = await open({ viewport: { width: 320, height: 640 } });
  const { page } = window;
  const sections = ['General', 'Profile', 'Signature', 'Filters', 'Forwarding', 'Vacation', 'Scripts', 'Senders'];
  sections.push('Devices', 'Mail programs', 'About');
  await page.goto(`${new URL(page.url()).origin}/settings`);
  for (const section of sections) {
    await page.getByRole('link', { name: section }).click();
    await page.getByRole('heading', { name: section }).waitFor();
    t.is(await page.evaluate('document.documentElement.scrollWidth'), 320, section);
    const inner = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.settings-section'))`;
    t.is(await page.evaluate(inner), 0, section);
    t.deepEqual(await accessibilityFaults(window), [], section);
    await page.getByRole('link', { name: 'Back' }).click();
  }
  await page.getByRole('link', { name: 'About' }).click();
  const opened = window.context.waitForEvent('page');
  await page.getByRole('link', { name: 'Licences of the libraries in this page' }).click();
  await (await opened).getByText('Copyright (c) 2015-present Jason Miller').waitFor();
  t.deepEqual(window.faults, []);
});
