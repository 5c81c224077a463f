// Tests lists with a row per conversation: a new answer moves the row up, an action is for all of its emails, and who wants single emails
// switches the rows.
import type { Page } from 'playwright-core';
import { flashed, testInBrowser } from '../../support/browser/browser.js';
import { deliver, startPageNode } from '../../support/browser/page-node.js';
import { until } from '../../support/until.js';

const rows = (page: Page) => page.getByRole('option');

/** Resolves when the page has said so, for three seconds: what it says replaces the offer of an action that was faster. */
async function takeBack(page: Page): Promise<void> {
  const undone = flashed({ page }, 'Undone');
  await page.keyboard.press('z');
  await undone;
}

testInBrowser('a conversation is one row, live, and acted on as a whole', async (t) => {
  const { node, account, client, open } = await startPageNode(t, 'ida');
  const mail = (name: string, subject: string, messageId: string, more: object = {}) => ({
    from: `${name} <${name.toLowerCase()}@zoo.test>`,
    to: account.email,
    subject,
    text: `The text of ${name}.`,
    messageId,
    ...more,
  });
  await deliver(
    node,
    mail('Otto', 'Giraffes', '<g1@zoo.test>'),
    mail('Lena', 'Invoice', '<i1@zoo.test>'),
    mail('Nora', 'Re: Giraffes', '<g2@zoo.test>', { inReplyTo: '<g1@zoo.test>' }),
  );
  const { page, context, faults } = await open();
  await page.getByText('3 unread · 2', { exact: true }).waitFor();
  await page.getByRole('option', { name: /Otto, Nora 2 emails/ }).waitFor();
  t.is(await rows(page).count(), 2);

  await deliver(node, mail('Lena', 'Re: Invoice', '<i2@zoo.test>', { inReplyTo: '<i1@zoo.test>' }));
  await rows(page).first().getByText('Re: Invoice', { exact: true }).waitFor();
  t.is(await rows(page).count(), 2);
  await page.getByText('4 unread · 2', { exact: true }).waitFor();

  await rows(page).filter({ hasText: 'Giraffes' }).click();
  await page.getByText('2 unread · 2', { exact: true }).waitFor();
  await page.getByRole('heading', { name: 'Re: Giraffes', level: 1 }).waitFor();
  // What is typed before the window of an answer has the focus is no key of the page.
  await page.evaluate(
    `for (const key of ['r', '#']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`,
  );
  const answer = page.getByRole('dialog', { name: 'Re: Giraffes' });
  await answer.locator(':focus').waitFor();
  await answer.getByRole('button', { name: 'Close' }).click();
  await answer.waitFor({ state: 'detached' });
  await page.evaluate(
    `document.querySelector('.reply-buttons button').click();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '#', bubbles: true }))`,
  );
  await answer.locator(':focus').waitFor();
  t.is(await page.getByText(/moved to Trash/i).count(), 0);
  await answer.getByRole('button', { name: 'Close' }).click();
  await answer.waitFor({ state: 'detached' });
  await page.keyboard.press('e');
  await page.getByText('2 emails moved to Archive').waitFor();
  await rows(page).filter({ hasText: 'Giraffes' }).waitFor({ state: 'detached' });
  // The page shows what is done before the server has done it.
  const archived = async () => (await client.get<{ totalCount: number }>('/api/folders/archive/emails')).totalCount;
  await until(async () => (await archived()) === 2);
  await takeBack(page);
  await rows(page).filter({ hasText: 'Giraffes' }).waitFor();

  // The whole list is selected by emails, a row is left out with all of its emails, and what is said is what is done.
  await page.keyboard.press('x');
  await page.getByText('2 emails selected', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Select all 2 conversations in Inbox' }).click();
  await page.getByText('4 emails selected', { exact: true }).waitFor();
  await page.keyboard.press('x');
  await page.getByText('2 emails selected', { exact: true }).waitFor();
  await page.keyboard.press('e');
  await page.getByText('2 emails moved to Archive').waitFor();
  await page.getByRole('option').nth(1).waitFor({ state: 'detached' });
  await takeBack(page);
  await page.getByRole('option').nth(1).waitFor();

  // A row names 20 emails of a long conversation, and is read and moved with all of them.
  const answers = Array.from({ length: 23 }, (_, n) =>
    mail('Lena', `Re: Invoice ${n}`, `<r${n}@zoo.test>`, { inReplyTo: '<i1@zoo.test>' }),
  );
  await deliver(node, ...answers);
  await page.getByText('25 unread · 2', { exact: true }).waitFor();
  await page.getByRole('option', { name: /25 emails/ }).click();
  await page.getByText('2 conversations', { exact: true }).waitFor();
  await page.getByRole('heading', { name: /^Re: Invoice/, level: 1 }).waitFor();
  await page.keyboard.press('e');
  await page.getByText('25 emails moved to Archive').waitFor();
  await until(async () => (await archived()) === 25);
  await takeBack(page);
  await page.getByRole('option', { name: /25 emails/ }).waitFor();
  await until(async () => (await archived()) === 0);
  // Without a network, too: the server names the others when it is there again.
  await context.setOffline(true);
  await page.getByRole('option', { name: /25 emails/ }).focus();
  await page.keyboard.press('e');
  await page.getByText('25 emails moved to Archive').waitFor();
  await page.getByRole('option', { name: /25 emails/ }).waitFor({ state: 'detached' });
  await context.setOffline(false);
  await until(async () => (await archived()) === 25);
  // The page can be loaded again, whether it knows the names of all emails by now or not.
  await page.reload();
  await page.getByText('25 emails moved to Archive').waitFor();
  await page.getByRole('option', { name: /Otto/ }).waitFor();
  await page.keyboard.press('z');
  await page.getByRole('option', { name: /25 emails/ }).waitFor();
  await until(async () => (await archived()) === 0);

  await page.getByRole('button', { name: /^Order and view/ }).click();
  await page.getByRole('menuitemcheckbox', { name: 'One row per conversation' }).click();
  await page.getByText('27 emails', { exact: true }).waitFor();
  t.true((await rows(page).count()) > 2);
  // A click with Shift selects from the row that was clicked before, which stays where it is.
  const before = await rows(page).nth(0).boundingBox();
  await rows(page)
    .nth(0)
    .click({ modifiers: ['ControlOrMeta'] });
  await page.getByText('1 selected', { exact: true }).waitFor();
  t.deepEqual(await rows(page).nth(0).boundingBox(), before);
  await rows(page)
    .nth(3)
    .click({ modifiers: ['Shift'] });
  await page.getByText('4 selected', { exact: true }).waitFor();
  // Arrows with Shift select from a row on, and back.
  await page.keyboard.press('Escape');
  await rows(page).nth(1).focus();
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await page.getByText('3 selected', { exact: true }).waitFor();
  await page.keyboard.press('Shift+ArrowUp');
  await page.getByText('2 selected', { exact: true }).waitFor();
  await rows(page).nth(2).and(page.locator(':focus')).waitFor();
  t.is(await rows(page).nth(2).getAttribute('aria-selected'), 'true');
  t.deepEqual(faults, []);
});
