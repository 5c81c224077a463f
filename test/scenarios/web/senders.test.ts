// Tests what an email may ask of its reader's page: pictures of a sender that is remembered, and addresses that begin an email.
import type { Page } from 'playwright-core';
import { accessibilityFaults, testInBrowser, watch } from '../../support/browser/browser.js';
import { deliver, originOf, startPageNode } from '../../support/browser/page-node.js';
import { imapFlow } from '../../support/clients/imap-programs.js';
import { until } from '../../support/until.js';

const HTML = `<p>Our new otters. <img src="https://pictures.test/otter.png" alt="Otter">
  <a href="mailto:tours@koehler.test?subject=A%20tour&amp;cc=bob@example.test&amp;body=Dear%20team,%0D%0Awe%20are%20four.">Book a tour</a></p>`;

/** As a move from another server brings it: nobody has checked its sender. */
const moved = (subject: string) =>
  [
    'From: Zoo News <news@koehler.test>',
    'To: zoe@example.test',
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: text/html; charset=utf-8',
    '',
    HTML,
    '',
  ].join('\r\n');

const picture = (page: Page) => page.frameLocator('iframe').locator('img[alt=Otter][src]');
const read = (page: Page, subject: string) => page.getByRole('option', { name: subject }).click();

testInBrowser('pictures of a proven sender are shown in every window, until the settings take it back', async (t) => {
  const { node, account, client, open } = await startPageNode(t, 'zoe');
  const imap = imapFlow(node, account);
  await imap.connect();
  for (const subject of ['First', 'Second']) await imap.append('INBOX', moved(subject));
  await imap.logout();
  // What comes from elsewhere and is not signed only claims to be of this sender.
  await deliver(node, { from: 'news@koehler.test', to: account.email, subject: 'Third', html: HTML });
  const window = await open();
  const other = await open();
  const { page } = window;
  const remembered = async () =>
    (await client.get<{ readonly pictureSenders: readonly string[] }>('/api/preferences')).pictureSenders;

  await read(page, 'First');
  const always = page.getByRole('button', { name: 'Always show those of news@koehler.test' });
  await always.waitFor();
  t.is(await picture(page).count(), 0);
  t.deepEqual(await accessibilityFaults(window), []);
  await always.click();
  await picture(page).waitFor();
  await page.getByText('Pictures of news@koehler.test are shown from now on').waitFor();
  await until(async () => (await remembered()).join() === 'news@koehler.test');

  await read(other.page, 'Second');
  await picture(other.page).waitFor();
  await read(other.page, 'Third');
  await other.page.getByRole('button', { name: 'Show pictures' }).waitFor();
  t.is(await other.page.getByRole('button', { name: /^Always show/ }).count(), 0);
  t.is(await picture(other.page).count(), 0);

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'No longer show pictures of news@koehler.test' }).click();
  await page.getByText('Saved', { exact: true }).waitFor();
  t.deepEqual(await remembered(), []);
  // The other window has heard of it.
  await other.page.getByRole('link', { name: 'Settings' }).click();
  await other.page.getByRole('heading', { name: 'General' }).waitFor();
  const isRemembered = other.page.getByRole('button', { name: 'No longer show pictures of news@koehler.test' });
  await isRemembered.waitFor({ state: 'detached' });
  await other.page.goBack();
  await read(other.page, 'First');
  await other.page.getByRole('button', { name: 'Show pictures' }).waitFor();
  await picture(other.page).waitFor({ state: 'detached' });
  t.deepEqual([...window.faults, ...other.faults], []);
});

testInBrowser('an address in a text or in HTML begins an email with all that its link says', async (t) => {
  const { node, account, open } = await startPageNode(t, 'zoe');
  const text = 'Write to mailto:tours@koehler.test?subject=A%20tour please.';
  await deliver(
    node,
    { from: 'news@koehler.test', to: account.email, subject: 'Plain', text },
    { from: 'news@koehler.test', to: account.email, subject: 'Formatted', html: HTML },
  );
  const { page, context, faults } = await open();
  await read(page, 'Plain');
  await page
    .getByRole('article')
    .getByRole('link', { name: /^mailto:tours@koehler\.test/ })
    .click();
  const card = page.getByRole('dialog', { name: 'A tour' });
  await card.getByRole('button', { name: 'Change tours@koehler.test' }).waitFor();
  await card.getByRole('button', { name: 'Close' }).click();

  // A frame without scripts opens the page again, which is signed in.
  await read(page, 'Formatted');
  const opened = context.waitForEvent('page');
  await page.frameLocator('iframe').getByRole('link', { name: 'Book a tour' }).click();
  const tab = await opened;
  watch(tab, originOf(node), faults);
  const form = tab.getByRole('dialog', { name: 'A tour' });
  await form.getByRole('button', { name: 'Change tours@koehler.test' }).waitFor();
  await form.getByRole('button', { name: 'Change bob@example.test' }).waitFor();
  await form.getByRole('textbox', { name: 'Message body' }).getByText('we are four.').waitFor();
  t.is(new URL(tab.url()).pathname, '/inbox');
  t.deepEqual(faults, []);
});
