// Tests the page without a network: it opens from the cache of its service worker.
import { openWindow, signIn, testInBrowser } from '../../support/browser/browser.js';
import { originOf, startPageNode } from '../../support/browser/page-node.js';

/** The worker has kept the page, and answers for it. */
const controlled = `navigator.serviceWorker.ready.then(() => navigator.serviceWorker.controller !== null ||
  new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', () => resolve(true))))`;

testInBrowser('the page opens without a network, and goes on when there is one', async (t) => {
  const { node, account } = await startPageNode(t, 'zoe');
  const window = await openWindow(t, originOf(node), { serviceWorkers: 'allow' });
  const { page, context, faults } = window;
  await signIn(window, account.key);
  t.true(await page.evaluate(controlled));

  await context.setOffline(true);
  await page.reload();
  await page.getByText('Offline', { exact: true }).waitFor();
  await context.setOffline(false);
  await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
  await page.getByText('Offline', { exact: true }).waitFor({ state: 'detached' });
  t.deepEqual(faults, []);
});
