// Tests the page without a network: it opens from the cache of its service worker with what was read last, what is done and written then is
// sent when there is a network again, and the end of the session leaves nothing behind.
import type { Page } from 'playwright-core';
import { accountOn } from '../../../dev/node-accounts.js';
import { accessibilityFaults, openWindow, signIn, testInBrowser } from '../../support/browser/browser.js';
import { deliver, originOf, startPageNode } from '../../support/browser/page-node.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';

/** The worker has kept the page, and answers for it. */
const CONTROLLED = `navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null ||
  new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', () => resolve(true))))`;
/** The groups of entries that the page has kept, as IndexedDB has them. */
const KEPT = `new Promise((resolve, reject) => {
  const opening = indexedDB.open('mansio-mail');
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const all = opening.result.transaction('entries').objectStore('entries').getAll();
    all.onsuccess = () => {
      opening.result.close();
      resolve(all.result.map(({ group, key }) => group + ' ' + key));
    };
  };
})`;
const OFFLINE = 'Offline: what you do is sent later';

const row = (page: Page, subject: string) => page.getByRole('option', { name: subject });
async function untilKept(page: Page, isIt: (kept: readonly string[]) => boolean): Promise<void> {
  while (!isIt(await page.evaluate(KEPT))) await page.evaluate('new Promise(requestAnimationFrame)');
}
const has = (kept: readonly string[], group: string) => kept.some((entry) => entry.startsWith(`${group} `));

testInBrowser('without a network mail is read, filed and written, and everything is sent afterwards', async (t) => {
  const { node, account, client } = await startPageNode(t, 'zoe');
  const friend = await accountOn(node, 'friend');
  const text = 'It is signed.';
  await deliver(node, { from: 'ann@remote.test', to: account.email, subject: 'Contract', text });
  await deliver(node, { from: 'ann@remote.test', to: account.email, subject: 'Never opened', text });
  const window = await openWindow(t, originOf(node), { serviceWorkers: 'allow' });
  const { page, context, faults } = window;
  const body = page.getByRole('region', { name: 'Message' }).getByText(text);
  await signIn(window, account.key);
  await row(page, 'Contract').click();
  await body.waitFor();
  await page.getByText('1 unread · 2', { exact: true }).waitFor();
  // What writes is loaded from the cache afterwards.
  t.true(await page.evaluate(CONTROLLED));
  await untilKept(page, (kept) => has(kept, 'emails') && has(kept, 'lists') && !has(kept, 'actions'));

  await context.setOffline(true);
  await page.reload();
  await page.getByText(OFFLINE).waitFor();
  await body.waitFor();
  await row(page, 'Never opened').click();
  await page.getByText('This browser has not kept this email').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await page.getByRole('link', { name: 'Archive' }).click();
  await page.getByText('This browser has not kept this list').waitFor();
  await page.getByRole('link', { name: /^Inbox/ }).click();
  await row(page, 'Contract').click();
  await page.keyboard.press('e');
  await row(page, 'Contract').waitFor({ state: 'detached' });
  await page.keyboard.press('c');
  await page.getByLabel('To', { exact: true }).fill(`${friend.email},`);
  await page.getByLabel('Subject').fill('Written on the train');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Not sent yet: the server does not answer').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  await untilKept(page, (kept) => has(kept, 'actions'));

  await page.reload();
  await row(page, 'Never opened').waitFor();
  // The list that was kept last is shown, and then what has been done since.
  await row(page, 'Contract').waitFor({ state: 'detached' });
  await page.getByText('Not sent yet: the server does not answer').waitFor();
  await context.setOffline(false);
  await page.getByText(OFFLINE).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Archive' }).click();
  await row(page, 'Contract').waitFor();
  await untilKept(page, (kept) => !has(kept, 'actions'));
  const inbox = new MailboxClient(node, friend.key);
  const subjects = async () =>
    ((await (await inbox.request('GET', '/api/emails')).json()) as { items: { subject: string }[] }).items.map(
      ({ subject }) => subject,
    );
  while (!(await subjects()).includes('Written on the train'))
    await page.evaluate('new Promise(requestAnimationFrame)');
  t.deepEqual(await subjects(), ['Written on the train']);

  const [session] = (await (await client.request('GET', '/api/sessions')).json()) as { readonly id: string }[];
  t.is((await client.request('DELETE', `/api/sessions/${session!.id}`)).status, 204);
  await page.getByLabel('API key').waitFor();
  await untilKept(page, (kept) => kept.length === 0);
  t.deepEqual(faults, []);
});
