// Opens every message of the corpus (test/web/hostile) in the page, in Chromium: no script runs, no other host is contacted, and nothing
// covers the page. Chromium's own log of its network says which hosts were looked up or contacted, whoever asked.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { createTransport } from 'nodemailer';
import { chromium, type Page } from 'playwright-core';
import { accountOn, port } from '../../../dev/node-accounts.js';
import { temporaryDirectory } from '../../../dev/temporary-directory.js';
import { BROWSER_TEST_MS, lightBrowser, signIn, testInBrowser } from '../../support/browser/browser.js';
import { MailboxClient } from '../../support/clients/mailbox-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { until } from '../../support/until.js';
import { HOSTILE_DOMAIN, type HostileMessage, hostileMessages } from '../../web/hostile/messages.js';

/** A host that the browser is told to contact at the end, so that its log proves to have such hosts. */
const CONTROL = `control.${HOSTILE_DOMAIN}`;
/** Families of messages that wait for a click. A link that deceives goes where its title says, as whoever presses it wants. */
const PRESSED = new Set(['address', 'cover', 'form', 'handler', 'mathml', 'svg']);
/** Connections over which the messages come. */
const CONNECTIONS = 4;

async function deliver(node: TestNode, messages: readonly HostileMessage[], recipient: string): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: port(node, 'mx'),
    tls: { rejectUnauthorized: false },
    pool: true,
    maxConnections: CONNECTIONS,
    maxMessages: Number.POSITIVE_INFINITY,
  });
  const envelope = { from: 'mallory@sender.test', to: recipient };
  await Promise.all(messages.map(({ eml }) => transport.sendMail({ envelope, raw: eml })));
  transport.close();
}

interface Item {
  readonly id: string;
  readonly messageId: string;
}

async function idsByNumber(client: MailboxClient, count: number): Promise<ReadonlyMap<number, string>> {
  const ids = new Map<number, string>();
  for (let page = 1; ids.size < count; page++) {
    const response = await client.request('GET', `/api/emails?pageSize=100&page=${page}`);
    const { items } = (await response.json()) as { readonly items: readonly Item[] };
    if (items.length === 0) break;
    for (const { id, messageId } of items) ids.set(Number.parseInt(messageId.replace('<', ''), 10), id);
  }
  return ids;
}

interface Watched {
  readonly page: Page;
  readonly origin: string;
  /** What happened that must not happen. */
  readonly faults: string[];
  close(): Promise<string>;
}

async function openWatched(t: ExecutionContext, origin: string): Promise<Watched> {
  const log = join(temporaryDirectory(), 'network.json');
  const browser = await chromium.launch({
    executablePath: lightBrowser(),
    args: ['--no-sandbox', `--log-net-log=${log}`],
    timeout: 0,
  });
  t.teardown(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const faults: string[] = [];
  context.on('page', (other) => void faults.push(`a window opened: ${other.url()}`));
  page.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('download', (download) => void faults.push(`a download: ${download.url()}`));
  page.on('pageerror', (error) => void faults.push(`an error: ${error.stack}`));
  page.on('console', (line) => {
    if (line.type() !== 'debug') faults.push(`the console: ${line.text()}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^(?:https?|wss?):$/.test(url.protocol) && url.origin.replace(/^ws/, 'http') !== origin) {
      faults.push(`a request: ${url}`);
    }
  });
  await page.goto(`${origin}/inbox`);
  return {
    page,
    origin,
    faults,
    async close() {
      await (await context.newPage()).goto(`http://${CONTROL}/`).catch(() => undefined);
      faults.splice(faults.indexOf('a window opened: about:blank'), 1);
      await browser.close();
      return readFileSync(log, 'utf8');
    },
  };
}

/**
 * Runs in the page: goes to a message as a link of the page does, waits until it is shown, and returns where its frame is and what is wrong
 * with the page, which shows what the click into the message before has done too.
 */
const VISIT = `async (path, mark) => {
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
  const isShown = () => {
    const frame = document.querySelector('.message-frame');
    if (frame === null) return document.querySelector('.message-text')?.innerText.includes(mark);
    return frame.getAttribute('aria-busy') === 'false' && frame.srcdoc.includes(mark);
  };
  while (!isShown()) await new Promise(requestAnimationFrame);
  const faults = [];
  if (window.pwned !== undefined) faults.push('a script set a global');
  if (/pwned/.test(document.title)) faults.push('a script set the title');
  if (document.cookie.includes('pwned')) faults.push('a cookie was set');
  if (location.pathname !== path) faults.push('the page went to ' + location);
  const frames = [...document.querySelectorAll('iframe')];
  if (frames.length > 1 || frames.some((frame) => frame.getAttribute('sandbox') !== 'allow-popups allow-popups-to-escape-sandbox'))
    faults.push('frames: ' + frames.map((frame) => frame.outerHTML));
  const pane = document.querySelector('.message-pane').getBoundingClientRect();
  const box = frames[0]?.getBoundingClientRect();
  if (box !== undefined && (box.left < pane.left || box.right > pane.right)) faults.push('the frame leaves its pane');
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page is wider than its window');
  const controls = document.querySelectorAll('nav a, #search, .message-bar button, [role=option], [role=row]');
  if (controls.length < 10) faults.push('the page has lost its controls');
  for (const control of controls) {
    const { left, top, width, height } = control.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    if (width === 0 || x > innerWidth || y > innerHeight || x < 0 || y < 0 || control.closest('.message') !== null) continue;
    if (document.elementFromPoint(x, y)?.closest('iframe, .message') != null)
      faults.push('something covers ' + control.outerHTML.slice(0, 200));
  }
  return { faults, frame: box && { x: box.x, y: box.y } };
}`;

interface Visit {
  readonly faults: readonly string[];
  readonly frame?: { readonly x: number; readonly y: number };
}

testInBrowser('hostile messages run no script, contact no other host and cover nothing', async (t) => {
  // Many messages are opened, which takes minutes on a machine that does much else.
  t.timeout(2 * BROWSER_TEST_MS);
  const node = await startTestNode({
    MANSIO_HOSTED_DOMAINS: 'example.test',
  });
  t.teardown(() => node.stop());
  const account = await accountOn(node, 'zoe');
  const messages = hostileMessages(account.email);
  t.true(messages.length >= 200);
  await deliver(node, messages, account.email);
  const client = new MailboxClient(node, account.key);
  let ids: ReadonlyMap<number, string> = new Map();
  await until(async () => {
    ids = await idsByNumber(client, messages.length);
    return ids.size === messages.length;
  });

  const watched = await openWatched(t, `http://127.0.0.1:${port(node, 'http')}`);
  const { page, faults } = watched;
  await signIn(watched, account.key);
  // Before the sign-in the page was told that it needs one.
  faults.splice(0);

  for (const { number, family, mark, eml } of messages) {
    const visit = `(${VISIT})(${JSON.stringify(`/inbox/${ids.get(number)}`)}, ${JSON.stringify(mark)})`;
    const { frame, faults: found } = await page.evaluate<Visit>(visit);
    t.deepEqual([...faults.splice(0), ...found], [], `at ${number} ${family}:\n${eml.slice(0, 1000)}`);
    // Below the mark are what asks to be pressed and what reacts to the pointer.
    if (frame !== undefined && PRESSED.has(family)) await page.mouse.click(frame.x + 60, frame.y + 90);
  }
  const log = await watched.close();
  t.true(log.includes(CONTROL), 'the log has the hosts that the browser contacts');
  t.deepEqual(log.match(new RegExp(`\\bm\\d+\\.${HOSTILE_DOMAIN}`, 'g')), null);
  t.deepEqual(faults, []);
});
