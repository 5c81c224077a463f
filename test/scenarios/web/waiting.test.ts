// Tests what the page shows while it waits for the server, and what its first visitors stumbled over: nothing is covered or cut.
import type { Page, Route } from 'playwright-core';
import { accessibilityFaults, testInBrowser } from '../../support/browser/browser.js';
import { deliver, startPageNode } from '../../support/browser/page-node.js';
import { until } from '../../support/until.js';

const COUNTS = `document.querySelector('.list-counts')`;
const FROM = 'Mirjam Köhler <mirjam@koehler.test>';

const mail = (to: string, subject: string) => ({ from: FROM, to, subject, text: `The text of ${subject}.` });

/** Holds the requests that match until `release` is called; `held` are those so far. */
async function hold(page: Page, url: RegExp): Promise<{ held: readonly Route[]; release: () => Promise<void> }> {
  const held: Route[] = [];
  let isOver = false;
  await page.route(url, async (route) => {
    if (isOver) await route.continue();
    else held.push(route);
  });
  const release = async () => {
    isOver = true;
    await Promise.all(held.map((route) => route.continue()));
  };
  return { held, release };
}

testInBrowser('folders, rows and the head of an email are there before slow replies', async (t) => {
  const { node, account, open } = await startPageNode(t, 'zoe');
  await deliver(node, mail(account.email, 'Contract'));
  const window = await open();
  const { page, faults } = window;
  await page.getByRole('option', { name: 'Contract' }).waitFor();
  const profile = await hold(page, /\/api\/profile$/);
  await page.reload();
  await page.getByRole('link', { name: /^Inbox/ }).waitFor();
  await page.getByRole('option', { name: 'Contract' }).waitFor();
  // On a slow machine the page shows the profile that it has kept meanwhile.
  await until(() => profile.held.length > 0);
  await profile.release();
  await page.getByText(account.email, { exact: true }).first().waitFor();

  const email = await hold(page, /\/api\/emails\/[\da-f-]{36}$/);
  await page.getByRole('option', { name: 'Contract' }).click();
  const article = page.getByRole('article', { name: 'Contract' });
  await article.getByText('mirjam@koehler.test').waitFor();
  t.is(await page.getByText('The text of Contract.').count(), 1, 'the row alone');
  t.deepEqual(await accessibilityFaults(window), []);
  await email.release();
  await article.getByText('The text of Contract.').waitFor();
  await article.getByRole('button', { name: 'Print' }).waitFor();
  await page.keyboard.press('e');
  await page.getByText('Everything is filed.').waitFor();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  await page.reload();
  await page.getByLabel('API key').waitFor();
  t.is(await page.getByRole('link', { name: /^Inbox/ }).count(), 0);
  t.deepEqual(faults, []);
});

testInBrowser('the pill of new emails covers no row, and a phone cuts no count in German', async (t) => {
  const { node, account, open } = await startPageNode(t, 'zoe');
  await deliver(node, ...Array.from({ length: 14 }, (_, i) => mail(account.email, `Contract ${i}`)));
  const { page, faults } = await open({ viewport: { width: 390, height: 600 } });
  await page.evaluate(`localStorage.setItem('mansio.language', 'de')`);
  await page.reload();
  const count = page.getByText('14 ungelesen · 14', { exact: true });
  await count.waitFor();
  t.true(await page.evaluate(`(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(${COUNTS})`));
  await page.getByRole('button', { name: /Neueste zuerst/ }).waitFor();
  await page.evaluate(`document.querySelector('.list-scroll').scrollTo(0, 300)`);
  await deliver(node, mail(account.email, 'Ticket'));
  const pill = page.getByRole('button', { name: '1 neu' });
  await pill.waitFor();
  const list = (await page.locator('.list-scroll').boundingBox())!;
  const { y, height } = (await pill.boundingBox())!;
  t.true(y + height <= list.y);
  await pill.click();
  await page.getByRole('option', { name: 'Ticket' }).waitFor();
  await pill.waitFor({ state: 'detached' });
  t.deepEqual(faults, []);
});

testInBrowser('keys are listed by what they are for; Cc unfolds; a draft that is put away has a name', async (t) => {
  const { open } = await startPageNode(t, 'zoe');
  const window = await open();
  const { page, faults } = window;
  // The keys of a list are bound when it is read.
  await page.getByText(/^printf /).waitFor();
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('heading', { level: 3 }).first().waitFor();
  const groups = ['In the list', 'Act on emails', 'Write', 'Go to', 'Everywhere'];
  t.deepEqual(await sheet.getByRole('heading', { level: 3 }).allTextContents(), groups);
  await sheet.getByRole('region', { name: 'Act on emails' }).getByText('Undo the last action').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.keyboard.press('Escape');

  await page.keyboard.press('c');
  const card = page.getByRole('dialog', { name: 'New email' });
  const row = async (name: string) =>
    (await card
      .locator('.recipients')
      .filter({ has: page.getByText(name, { exact: true }) })
      .boundingBox())!;
  const to = await row('To');
  t.is((await row('Bcc')).y, to.y);
  t.deepEqual(await accessibilityFaults(window), []);
  await card.getByText('Bcc', { exact: true }).click();
  await page.keyboard.type('bob@example.test,');
  await card.getByRole('button', { name: 'Change bob@example.test' }).waitFor();
  t.true((await row('Bcc')).y > to.y);
  t.is((await row('Cc')).y, to.y);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'bob@example.test' }).click();
  await card.getByRole('button', { name: 'Change bob@example.test' }).waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  t.deepEqual(faults, []);
});
