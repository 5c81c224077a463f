// Tests Web Push up to a browser's service worker: the test decrypts what the node sent to the push service and gives it to Chromium as
// its push service would, and the service worker shows the notification.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import { findProgram } from '../../../dev/executables.js';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode } from '../../support/node.js';
import { startPushService } from '../../support/peers/push-service.js';
import { testWith } from '../../support/test-with.js';

/** The shortest possible service worker. */
const SERVICE_WORKER = `
  self.addEventListener('install', () => self.skipWaiting());
  self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
  self.addEventListener('push', (event) => {
    const { title, ...options } = event.data.json();
    const shown = async () => {
      await self.registration.showNotification(title, options);
      for (const client of await self.clients.matchAll()) client.postMessage('shown');
    };
    event.waitUntil(shown());
  });`;

const PAGE = `<!doctype html><title>Mail</title><script>
  shown = 0;
  navigator.serviceWorker.addEventListener('message', () => shown++);
</script>`;

interface Shown {
  readonly title: string;
  readonly body: string;
  readonly icon: string;
  readonly badge: string;
  readonly data: unknown;
}

/** Opens a page of an application with its service worker. */
async function openApplication(t: ExecutionContext, executablePath: string) {
  const server = createServer((request, response) => {
    const isWorker = request.url === '/service-worker.js';
    response.writeHead(200, { 'content-type': isWorker ? 'text/javascript' : 'text/html' });
    response.end(isWorker ? SERVICE_WORKER : PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // root cannot use Chromium's sandbox.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 0 });
  t.teardown(() => browser.close());
  const context = await browser.newContext();
  // The time-out of the test is the limit.
  context.setDefaultTimeout(0);
  await context.grantPermissions(['notifications'], { origin });
  const page = await context.newPage();
  await page.goto(origin);
  const devTools = await context.newCDPSession(page);
  const registrationId = await registered(page, devTools);
  return {
    deliver: (data: string) => devTools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data }),
    async shown(count: number): Promise<Shown[]> {
      await page.waitForFunction(`shown >= ${count}`);
      return page.evaluate(`(async () => {
        const registration = await navigator.serviceWorker.ready;
        const shown = await registration.getNotifications();
        return shown.map(({ title, body, icon, badge, data }) => ({ title, body, icon, badge, data }));
      })()`);
    },
  };
}

/** Returns the id that Chromium has given to the page's service worker. */
async function registered(page: Page, devTools: CDPSession): Promise<string> {
  const known = new Promise<string>((resolve) => {
    devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: [registration] }) => {
      if (registration !== undefined) resolve(registration.registrationId);
    });
  });
  await devTools.send('ServiceWorker.enable');
  await page.evaluate(`(async () => {
    const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
    await navigator.serviceWorker.register('/service-worker.js');
    await controlled;
  })()`);
  return known;
}

testWith('chromium')("a new email becomes a notification of the browser's service worker", async (t) => {
  t.timeout(600_000);
  const service = await startPushService(t);
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
    MANSIO_PUSH_ALLOW_PRIVATE: 'true',
    MANSIO_PUBLIC_URL: 'https://mail.example.test',
  });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  const { email, key } = await createAccount(sql, 'ann@example.test');
  await sql.end();
  const client = new MailboxClient(node, key);
  t.is((await client.request('POST', '/api/push-subscriptions', service.subscribe())).status, 201);

  const application = await openApplication(t, findProgram('chromium')!);
  const transport = createTransport({ host: '127.0.0.1', port: port(node, 'mx'), tls: { rejectUnauthorized: false } });
  for (const subject of ['Grüße 💌', 'And another']) {
    await transport.sendMail({ from: 'Zoë 💌 <zoe@remote.test>', to: email, subject, text: subject });
  }
  await service.receiver.until(() => service.payloads().length === 2);
  for (const { text } of service.messages) await application.deliver(text);

  const shown = await application.shown(2);
  const { items } = (await (await client.request('GET', '/api/emails')).json()) as {
    readonly items: readonly { readonly id: string; readonly subject: string }[];
  };
  for (const { id, subject } of items) {
    t.like(
      shown.find(({ body }) => body === subject),
      {
        title: 'Zoë 💌',
        icon: 'https://mail.example.test/icons/icon-192.png',
        badge: 'https://mail.example.test/icons/badge-72.png',
        data: { emailId: id, url: `https://mail.example.test/emails/${id}` },
      },
    );
  }
  t.is(shown.length, 2);
  t.deepEqual(service.faults, []);
});
