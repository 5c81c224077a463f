// Tests notifications through the page: a click in the settings turns them on, the node sends a push message, the service worker shows it, a
// click on it opens the email, and signing out ends the subscription. Chromium without an account has no push service: the subscription is
// the test's, and the message is given to Chromium as its push service would.
import type { Page } from 'playwright-core';
import { findProgram } from '../../../dev/executables.js';
import { storeOf } from '../../../dev/node-accounts.js';
import { inTime } from '../../../src/concurrency/time-bounds.js';
import {
  accessibilityFaults,
  browserOfFile,
  openWindow,
  STEP_MS,
  signIn,
  testInBrowser,
} from '../../support/browser/browser.js';
import { deliver, originOf, startPageNode } from '../../support/browser/page-node.js';
import { startPushService, type TestSubscription } from '../../support/peers/push-service.js';

/** A browser whose push service is the test's. */
const browserWith = ({ endpoint, p256dh, auth }: TestSubscription) => `{
  const json = ${JSON.stringify({ endpoint, keys: { p256dh, auth } })};
  const made = { endpoint: json.endpoint, toJSON: () => json, unsubscribe: async () => localStorage.removeItem('test.push') };
  PushManager.prototype.subscribe = async () => {
    localStorage.setItem('test.push', '');
    return made;
  };
  PushManager.prototype.getSubscription = async () => (localStorage.getItem('test.push') === null ? null : made);
}`;
const shown = `navigator.serviceWorker.ready.then((registration) => registration.getNotifications()).then((all) =>
  all.map(({ title, body }) => ({ title, body })))`;
const clicked = `self.registration.getNotifications().then(([notification]) => {
  self.dispatchEvent(new NotificationEvent('notificationclick', { notification }));
})`;

async function until(page: Page, isIt: () => Promise<boolean>): Promise<void> {
  while (!(await within(isIt()))) await within(page.evaluate('new Promise(requestAnimationFrame)'));
}

/** A step that Playwright does not bound fails before the test does, and its stack says which one it is. */
function within<T>(step: Promise<T>): Promise<T> {
  const late = new Error(`no answer in ${STEP_MS} ms`);
  return inTime(step, STEP_MS, () => late);
}

testInBrowser('notifications are turned on by a click, open their email, and end with the session', async (t) => {
  const service = await startPushService(t);
  // Chromium without windows shows no notifications.
  await browserOfFile(findProgram('chromium'));
  const { node, account, client } = await startPageNode(t, 'zoe', { MANSIO_PUSH_ALLOW_PRIVATE: 'true' });
  const { publicKey } = (await (await client.request('GET', '/api/push-subscriptions/vapid-public-key')).json()) as {
    readonly publicKey: string;
  };
  const origin = originOf(node);
  const window = await openWindow(t, origin, { serviceWorkers: 'allow' });
  const { page, context, faults } = window;
  await context.addInitScript(browserWith(service.subscribe(publicKey)));
  await context.grantPermissions(['notifications'], { origin });
  await signIn(window, account.key);
  await within(page.evaluate('navigator.serviceWorker.ready'));
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const subscribed = async () =>
    (await sql`select session_id from push_subscriptions`).map(({ session_id }) => session_id);

  await page.goto(`${origin}/settings/general`);
  const toggle = page.getByLabel('Notifications of new mail in this browser');
  await toggle.waitFor();
  t.false(await toggle.isChecked());
  t.deepEqual(await accessibilityFaults(window), []);
  await toggle.click();
  await page.getByText('Saved').waitFor();
  t.true(await toggle.isChecked());
  const [session] = (await (await client.request('GET', '/api/sessions')).json()) as { readonly id: string }[];
  t.deepEqual(await subscribed(), [session!.id]);

  await page.reload();
  await page.getByRole('checkbox', { name: 'Notifications of new mail', checked: true }).waitFor();
  await deliver(node, {
    from: 'Ann <ann@remote.test>',
    to: account.email,
    subject: 'The parrot 💌',
    text: 'It is back.',
  });
  await service.receiver.until(() => service.payloads().length === 1);
  const devTools = await context.newCDPSession(page);
  const known = new Promise<string>((resolve) => {
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [registration] }) => {
      if (registration !== undefined) resolve(registration.registrationId);
    });
  });
  await devTools.send('ServiceWorker.enable');
  const [{ text: data }] = service.messages as [(typeof service.messages)[0]];
  await devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await within(known), data });
  await until(page, async () => (await page.evaluate<unknown[]>(shown)).length === 1);
  t.deepEqual(await page.evaluate(shown), [{ title: 'Ann', body: 'The parrot 💌' }]);
  await within(context.serviceWorkers()[0]!.evaluate(clicked));
  await page.waitForURL(/\/inbox\/[\da-f-]{36}$/);
  await page.getByRole('heading', { name: 'The parrot 💌' }).waitFor();
  await until(page, async () => (await page.evaluate<unknown[]>(shown)).length === 0);

  await devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await within(known), data });
  await until(page, async () => (await page.evaluate<unknown[]>(shown)).length === 1);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  t.deepEqual(await subscribed(), []);
  await until(page, async () => (await page.evaluate<unknown[]>(shown)).length === 0);
  await until(page, () => page.evaluate("localStorage.getItem('test.push') === null"));
  t.deepEqual(service.faults, []);
  t.deepEqual(faults, []);
});
