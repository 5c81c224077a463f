// Tests the page through a node, as people use it: a newcomer's first minute, the keys, a phone, and two windows of an account while the node
// is killed and started again.
import type { Page } from 'playwright-core';
import { accountOn, port } from '../../../dev/node-accounts.js';
import { freePort } from '../../../dev/ports.js';
import {
  accessibilityFaults,
  BROWSER_TEST_MS,
  openWindow,
  signIn,
  testInBrowser,
} from '../../support/browser/browser.js';
import { deliver, originOf, PAGE_SETTINGS, startPageNode } from '../../support/browser/page-node.js';
import type { EmailList } from '../../support/clients/mailbox-client.js';
import { nodeDirectory, startTestNode, type TestNode } from '../../support/node.js';
import { until } from '../../support/until.js';

/** Presses a key that Playwright's keyboard does not have. */
function press(page: Page, event: object): Promise<unknown> {
  const init = JSON.stringify({ ...event, bubbles: true });
  return page.evaluate(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', ${init}))`);
}

/** Delivers emails with these subjects. */
function deliverTo(node: TestNode, to: string, ...subjects: readonly string[]): Promise<void> {
  const from = 'Mirjam Köhler <mirjam@koehler.test>';
  return deliver(node, ...subjects.map((subject) => ({ from, to, subject, text: `The text of ${subject}.` })));
}

const row = (page: Page, subject: string) => page.getByRole('option', { name: subject });
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });

testInBrowser('the first minute: a key signs in, mail appears, is read, filed and brought back by keys', async (t) => {
  const { node, account, client } = await startPageNode(t, 'zoe');
  const subjectsOf = async (folder: string) =>
    (await client.get<EmailList>(`/api/folders/${folder}/emails`)).items.map(({ subject }) => subject);
  const window = await openWindow(t, originOf(node));
  const { page, faults } = window;
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByLabel('API key').fill(account.key.slice(0, -1));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('This key is not valid').waitFor();
  await signIn(window, account.key);

  const line = page.getByText(/^printf .* smtp:\/\/127\.0\.0\.1:\d+ .*zoe@example\.test/);
  await line.waitFor();
  t.regex((await line.textContent())!, new RegExp(`smtp://127\\.0\\.0\\.1:${port(node, 'mx')} `));
  t.deepEqual(await accessibilityFaults(window), []);

  await deliverTo(node, account.email, 'Feeding plan 💌');
  await row(page, 'Feeding plan 💌').waitFor();
  await page.getByText('1 unread · 1', { exact: true }).waitFor();
  await page.getByRole('link', { name: /^Inbox.*1 unread/ }).waitFor();
  await deliverTo(node, account.email, 'Contract', 'Ticket');
  await page.getByText('3 unread · 3', { exact: true }).waitFor();
  t.is(await page.getByRole('option').count(), 3);

  // The first row is the newest; `j` goes on to the next, Enter opens it, also when a folder had the focus.
  await page.getByRole('link', { name: /^Inbox/ }).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/inbox\/[\da-f-]{36}$/);
  await page.getByRole('heading', { name: 'Contract' }).waitFor();
  await page.getByText('2 unread · 3', { exact: true }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);

  await page.keyboard.press('e');
  await page.getByText('Moved to Archive').waitFor();
  // The offer to undo survives a reload.
  await row(page, 'Contract').waitFor({ state: 'detached' });
  await page.getByText('2 unread · 2', { exact: true }).waitFor();
  await page.reload();
  await row(page, 'Ticket').waitFor();
  await page.getByText('Moved to Archive').waitFor();
  // What is taken back slowly leaves the offer of what was done meanwhile.
  let answer = () => {};
  const mayAnswer = new Promise<void>((done) => {
    answer = done;
  });
  await page.route(/\/api\/emails\//, async (route) => {
    if (route.request().method() !== 'GET') await mayAnswer;
    await route.continue();
  });
  await page.keyboard.press('z');
  await page.getByText('Being undone…').waitFor();
  await row(page, 'Feeding plan 💌').click();
  await page.getByRole('heading', { name: 'Feeding plan 💌' }).waitFor();
  await page.keyboard.press('e');
  await page.getByText('Moved to Archive').waitFor();
  answer();
  await until(async () => (await subjectsOf('archive')).join() === 'Feeding plan 💌');
  await page.keyboard.press('z');
  await until(async () => (await subjectsOf('archive')).length === 0);
  await row(page, 'Feeding plan 💌').waitFor();
  await page.unroute(/\/api\/emails\//);

  await page.keyboard.press('/');
  await page.keyboard.type('ticket is:unread');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/search\?q=ticket/);
  await row(page, 'Ticket').waitFor();
  await row(page, 'Contract').waitFor({ state: 'detached' });
  // `j` of an Arabic keyboard, and `#` of a Spanish one on Windows.
  await press(page, { key: 'ت', code: 'KeyJ' });
  await press(page, { key: '#', code: 'Digit3', ctrlKey: true, altKey: true, modifierAltGraph: true });
  await row(page, 'Ticket').waitFor({ state: 'detached' });
  await page.goBack();
  await heading(page, 'Inbox').waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Move to Trash').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.keyboard.press('Escape');

  // A label is made where it is put on.
  await row(page, 'Contract').click();
  await page.keyboard.press('l');
  await page.keyboard.type('Zoo society');
  await page.getByRole('option', { name: 'Make the label “Zoo society”' }).click();
  await page.getByRole('link', { name: 'Zoo society' }).click();
  await row(page, 'Contract').waitFor();

  await page.getByRole('link', { name: 'Trash' }).click();
  await row(page, 'Ticket').click();
  await page.keyboard.press('#');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row(page, 'Ticket').waitFor({ state: 'detached' });
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  t.deepEqual(faults, []);
});

testInBrowser('a phone of 320 px shows list or message, in a language from right to left as well', async (t) => {
  const { node, account } = await startPageNode(t, 'ann');
  await deliverTo(
    node,
    account.email,
    'Contract',
    'Ticket to Zürich HB, coach 12, with a subject that is longer than the row',
  );
  const phone = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
  const window = await openWindow(t, originOf(node), phone);
  const { page, context, faults } = window;
  await signIn(window, account.key);
  await row(page, 'Contract').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  const width = () => page.evaluate('document.documentElement.scrollWidth');
  t.is(await width(), 320);
  await page.getByRole('button', { name: 'Folders' }).click();
  await page.getByRole('link', { name: /^Archive/ }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.keyboard.press('Escape');

  await row(page, 'Contract').tap();
  await page.getByRole('heading', { name: 'Contract' }).waitFor();
  t.false(await row(page, 'Ticket').isVisible());
  t.is(await width(), 320);
  // All buttons are seen: the message does not scroll sideways.
  t.is(await page.locator('.message-pane').evaluate((pane) => pane.scrollWidth - pane.clientWidth), 0);
  await page.getByText('Reply all', { exact: true }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('button', { name: 'Back' }).click();
  await row(page, 'Ticket').waitFor();
  await page.locator('.row:focus .row-subject').getByText('Contract').waitFor();
  t.deepEqual(faults, []);

  const { cookies } = await context.storageState();
  const arabic = await openWindow(t, originOf(node), {
    ...phone,
    locale: 'ar',
    storageState: { cookies, origins: [] },
  });
  await row(arabic.page, 'Contract').waitFor();
  t.is(await arabic.page.evaluate('document.documentElement.dir'), 'rtl');
  t.is(await arabic.page.evaluate('document.documentElement.scrollWidth'), 320);
  t.deepEqual(await accessibilityFaults(arabic), []);
  t.deepEqual(arabic.faults, []);
});

testInBrowser('two windows stay in step while the node is killed and started again', async (t) => {
  t.timeout(BROWSER_TEST_MS);
  const settings = {
    ...PAGE_SETTINGS,
    MANSIO_DATA_DIR: await nodeDirectory(),
    MANSIO_HTTP_PORT: String(await freePort()),
  };
  let node = await startTestNode(settings);
  t.teardown(() => node.stop());
  const account = await accountOn(node, 'omar');
  await deliverTo(node, account.email, 'Before');
  const one = await openWindow(t, originOf(node));
  const other = await openWindow(t, originOf(node), { colorScheme: 'dark' });
  for (const window of [one, other]) {
    await signIn(window, account.key);
    await row(window.page, 'Before').waitFor();
    t.deepEqual(await accessibilityFaults(window), []);
  }

  await node.kill('SIGKILL');
  for (const { page } of [one, other]) await page.getByText('Reconnecting…').waitFor();
  t.true(await row(one.page, 'Before').isVisible());
  node = await startTestNode(settings);
  await deliverTo(node, account.email, 'Afterwards');
  for (const { page } of [one, other]) {
    await row(page, 'Afterwards').waitFor();
    await page.getByText('Reconnecting…').waitFor({ state: 'detached' });
    await page.getByText('2 unread · 2', { exact: true }).waitFor();
  }
  await row(one.page, 'Before').click();
  await other.page.getByText('1 unread · 2', { exact: true }).waitFor();
  await one.page.getByRole('button', { name: 'Archive' }).click();
  await row(other.page, 'Before').waitFor({ state: 'detached' });
  await other.page.getByText('1 unread · 1', { exact: true }).waitFor();
  t.deepEqual([...one.faults, ...other.faults], []);
});
