// Tests searching in the page: operators, what is not understood, Trash and Junk, and actions on a whole search, whose rows are not all loaded.
import type { Page } from 'playwright-core';
import { accessibilityFaults, flashed, openWindow, signIn, testInBrowser } from '../../support/browser/browser.js';
import { deliver, originOf, startPageNode } from '../../support/browser/page-node.js';

/** More than the page loads of a list at its beginning. */
const REPORTS = 120;

const counts = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search mail' }).fill(text);
  await page.keyboard.press('Enter');
}

testInBrowser('a search finds senders alone, and actions mean all of it, with one undo', async (t) => {
  const { node, account } = await startPageNode(t, 'ann');
  const mail = (from: string, subject: string) => ({ from, to: account.email, subject, text: 'To zoe.' });
  const report = (n: number) => mail('Zoë Ünal <zoe@remote.test>', `Report ${n}`);
  await deliver(node, ...Array.from({ length: REPORTS }, (_, n) => report(n)), mail('bob@remote.test', 'Other'));
  const window = await openWindow(t, originOf(node));
  const { page, faults } = window;
  await signIn(window, account.key);
  await counts(page, `${REPORTS + 1} unread · ${REPORTS + 1}`);

  await page.keyboard.press('/');
  await page.keyboard.type('report lar');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'larger:5M' }).waitFor();
  await page.keyboard.press('Escape');
  await search(page, 'from:zoe is:odd');
  await page.getByText('Not understood, and searched as words: is:odd').waitFor();
  await page.getByText('Nothing found.').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await search(page, 'from:zoe');
  await counts(page, `${REPORTS} unread · ${REPORTS}`);

  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: `Select all ${REPORTS} of this search` }).click();
  await counts(page, `${REPORTS} selected`);
  t.deepEqual(await accessibilityFaults(window), []);
  // What comes later is not selected, and moves no row under the mouse.
  await page.getByRole('option').nth(2).hover();
  await deliver(node, report(REPORTS));
  await page.getByRole('option', { name: `Report ${REPORTS}` }).waitFor();
  await page.keyboard.press('I');
  await page.getByText(`${REPORTS} emails marked as read`).waitFor();
  await page.getByRole('button', { name: 'Clear the selection' }).click();
  await page.getByRole('button', { name: '1 new' }).click();
  await counts(page, `1 unread · ${REPORTS + 1}`);
  await page.reload();
  await counts(page, `1 unread · ${REPORTS + 1}`);
  await page.keyboard.press('z');
  await counts(page, `${REPORTS + 1} unread · ${REPORTS + 1}`);

  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: /^Select all/ }).click();
  await counts(page, `${REPORTS + 1} selected`);
  await page.keyboard.press('#');
  await page.getByText('Nothing found.').waitFor();
  await page.getByRole('button', { name: 'Search there too' }).click();
  await counts(page, `${REPORTS + 1} unread · ${REPORTS + 1}`);
  // It is said for three seconds.
  const undone = flashed(window, 'Undone');
  await page.keyboard.press('z');
  await undone;
  await search(page, 'from:zoe in:inbox');
  await counts(page, `${REPORTS + 1} unread · ${REPORTS + 1}`);
  t.deepEqual(faults, []);
});
