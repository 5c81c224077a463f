// Tests sending from the page to servers elsewhere: an answer to all and a forward with dropped files, an email that is sent later, and the
// way to recipients whose servers put off, refuse, and take mail again; also to addresses that do not exist.
import type { Locator, Page } from 'playwright-core';
import {
  accessibilityFaults,
  BROWSER_TEST_MS,
  openWindow,
  signIn,
  testInBrowser,
} from '../../support/browser/browser.js';
import { deliver, originOf } from '../../support/browser/page-node.js';
import { until } from '../../support/until.js';
import { world } from '../mail/outbound-remotes.js';

const card = (page: Page): Locator => page.getByRole('dialog');
const field = (page: Page, label: string): Locator => card(page).getByLabel(label, { exact: true });
const body = (page: Page): Locator => card(page).getByRole('textbox', { name: 'Message body' });
const steps = (page: Page): Locator =>
  page.getByRole('list', { name: 'Recipients and their steps' }).getByRole('listitem');

/** Drops a file on an element of the page, as a file manager does. */
const dropOn = (selector: string, file: string) => `(async () => {
  const data = new DataTransfer();
  data.items.add(${file});
  for (const type of ['dragenter', 'dragover', 'drop'])
    document.querySelector(${JSON.stringify(selector)})
      .dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
})()`;
const PICTURE = `await (async () => {
  const canvas = document.createElement('canvas');
  return new File([await new Promise((done) => canvas.toBlob(done))], 'red.png', { type: 'image/png' });
})()`;

testInBrowser('an answer to all, a forward, and an email for later leave as they were written', async (t) => {
  t.timeout(BROWSER_TEST_MS);
  const { node, sender, messagesAt } = await world(t, { 'remote.test': [{}] });
  await deliver(node, {
    from: 'Mia <mia@remote.test>',
    envelope: { from: 'mia@remote.test', to: sender.email },
    to: `${sender.email}, Omar <omar@remote.test>`,
    cc: 'lee@remote.test',
    subject: 'The plan',
    messageId: '<plan@remote.test>',
    text: 'Is it done?',
    attachments: [{ filename: 'plan.txt', content: 'The plan itself' }],
  });
  const window = await openWindow(t, originOf(node));
  await signIn(window, sender.key);
  const { page, faults } = window;
  await page.getByRole('option').filter({ hasText: 'The plan' }).click();

  await page.getByRole('button', { name: 'Reply all' }).click();
  for (const name of ['Mia', 'Omar', 'lee@remote.test'])
    await card(page)
      .getByRole('button', { name: `Remove ${name}` })
      .waitFor();
  t.is(
    await card(page)
      .getByRole('button', { name: `Remove ${sender.email}` })
      .count(),
    0,
  );
  await body(page).click();
  await page.keyboard.type('It is.');
  await page.evaluate(dropOn('[contenteditable]', PICTURE));
  await body(page).locator('img').waitFor();
  await page.evaluate(dropOn('[role=dialog]', `new File(['Prices'], 'prices.csv', { type: 'text/csv' })`));
  await card(page).getByText('prices.csv').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.keyboard.press('Control+Enter');
  await steps(page).and(page.locator('[data-state=delivered]')).nth(2).waitFor();
  await until(() => messagesAt('remote.test').length === 1);
  const [answer] = messagesAt('remote.test');
  const answered = answer!.text;
  t.regex(answered, /^In-Reply-To: <plan@remote\.test>/im);
  t.regex(answered, /^To: .*mia@remote\.test.*\r?\n?.*omar@remote\.test/im);
  t.regex(answered, /^Cc: .*lee@remote\.test/im);
  t.regex(answered, /prices\.csv/);
  t.regex(answered, /^Content-ID: </im);
  await page.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('button', { name: 'Forward' }).click();
  await card(page).getByText('plan.txt').waitFor();
  await field(page, 'To').fill('new@remote.test,');
  await page.keyboard.press('Control+Enter');
  await steps(page).and(page.locator('[data-state=delivered]')).waitFor();
  await until(() => messagesAt('remote.test').length === 2);
  const forwarded = messagesAt('remote.test')[1]!.text;
  t.regex(forwarded, /^Subject: Fwd: The plan/im);
  t.regex(forwarded, /plan\.txt/);
  t.notRegex(forwarded, /^In-Reply-To:/im);
  await page.getByRole('button', { name: 'Close' }).click();

  await page.keyboard.press('c');
  await field(page, 'To').fill('late@remote.test,');
  await field(page, 'Subject').fill('Not yet');
  await card(page).getByRole('button', { name: 'Send later' }).click();
  await page.getByRole('menuitem', { name: 'Tomorrow afternoon' }).click();
  await page.getByText(/^Will be sent: .*\b13:00$/).waitFor();
  await page.getByRole('button', { name: 'Cancel sending' }).click();
  await field(page, 'Subject').waitFor();
  t.is(messagesAt('remote.test').length, 2);
  t.deepEqual(faults, []);
});

testInBrowser('the way to a server that puts off, refuses, and takes it in the end is seen', async (t) => {
  t.timeout(BROWSER_TEST_MS);
  let reply: string | undefined = '451 4.3.2 come back later';
  const { node, sender, messagesAt } = await world(
    t,
    { 'slow.test': [{ behaviour: { rcpt: () => reply } }] },
    { MANSIO_OUTBOUND_MAX_RETRIES: '1000' },
  );
  const window = await openWindow(t, originOf(node));
  await signIn(window, sender.key);
  const { page, faults } = window;
  const step = (state: string) => steps(page).and(page.locator(`[data-state=${state}]`));
  await page.keyboard.press('c');
  await field(page, 'To').fill('sam@slow.test,');
  await field(page, 'Subject').fill('Patience');
  await page.keyboard.press('Control+Enter');
  await step('retrying').getByText('will be tried again').waitFor();
  await step('retrying').getByText('mx0.slow.test: 451 4.3.2 come back later').first().waitFor();
  reply = '550 5.7.1 not from you';
  await step('failed').getByText('mx0.slow.test: 550 5.7.1 not from you').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  t.is(messagesAt('slow.test').length, 0);
  reply = undefined;
  await page.getByRole('button', { name: 'Send again' }).click();
  await step('delivered').waitFor();
  t.is(messagesAt('slow.test').length, 1);
  t.is(await page.getByRole('button', { name: 'Send again' }).count(), 0);
  await page.getByRole('button', { name: 'Close' }).click();

  // Nothing is sent to an address that does not exist, until its sender says so.
  reply = '550 5.1.1 nobody has this name';
  await page.keyboard.press('c');
  await field(page, 'To').fill('nobody@slow.test,');
  await field(page, 'Subject').fill('Are you there?');
  await page.keyboard.press('Control+Enter');
  await step('failed').getByText('nobody has this name').waitFor();
  await page.goto(`${originOf(node)}/settings/profile`);
  const suppressed = page.getByRole('list', { name: 'Addresses that do not exist' }).getByRole('listitem');
  await suppressed.getByText('550 5.1.1 nobody has this name').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('button', { name: 'Send to nobody@slow.test again' }).click();
  await page.getByRole('status').getByText('Emails to nobody@slow.test are sent again.').waitFor();
  t.is(await suppressed.count(), 0);
  t.deepEqual(faults, []);
});
