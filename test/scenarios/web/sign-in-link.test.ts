// Tests links for one sign-in in Chromium: what a person sees, the cookie that the browser keeps, and the requests that it then makes.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAccount, port, storeOf } from '../../../dev/node-accounts.js';
import { issueLink, LINK_MS } from '../../../src/actors/account/sign-in-link.js';
import { postgresSessions } from '../../../src/store/postgres/accounts/sessions.js';
import { accessibilityFaults, openWindow, testInBrowser } from '../../support/browser/browser.js';
import { startTestNode } from '../../support/node.js';

testInBrowser('a link signs a browser in, and asks before it signs somebody else out', async (t) => {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  t.teardown(() => node.stop());
  const sql = await storeOf(node);
  t.teardown(() => sql.end());
  const origin = `http://localhost:${port(node, 'http')}`;
  const link = async (name: string) => {
    const account = await createAccount(sql, `${name}@example.test`);
    const { token } = await issueLink(postgresSessions(sql), randomBytes, account.id, LINK_MS);
    return `/link/${token}`;
  };
  const [anns, bobs] = [await link('ann'), await link('bob')];

  const window = await openWindow(t, origin, { path: anns });
  const { page, context, faults } = window;
  await page.getByText('ann@example.test').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  t.deepEqual(await context.cookies(), []);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/link/'));
  const [cookie] = await context.cookies();
  t.like(cookie, { name: 'mansio', httpOnly: true, sameSite: 'Strict', path: '/' });
  t.is(await page.evaluate('document.cookie'), '');
  const whoAmI = () => page.evaluate(`fetch('/api/profile').then((reply) => reply.json()).then(({ email }) => email)`);
  t.is(await whoAmI(), 'ann@example.test');
  // The page may write, and a page of another port of the same host may neither write nor read.
  const rename = `fetch('${origin}/api/profile', { method: 'PUT', credentials: 'include', headers: { 'content-type': 'application/json' },
    body: '{"displayName":"Ann B."}' }).then(({ status }) => status, () => 'blocked')`;
  t.is(await page.evaluate(rename), 204);
  const foreign = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<p>foreign'),
  ).listen(0);
  t.teardown(() => foreign.close());
  const other = await context.newPage();
  await other.goto(`http://localhost:${(foreign.address() as AddressInfo).port}/`);
  t.is(await other.evaluate(rename), 'blocked');
  // The browser adds the cookie to WebSockets of both pages, because the host is the same.
  const connects = `new Promise((resolve) => {
    const socket = new WebSocket('${origin.replace('http', 'ws')}/hubs/email');
    socket.onopen = () => resolve(true);
    socket.onerror = () => resolve(false);
  })`;
  t.true(await page.evaluate(connects));
  t.false(await other.evaluate(connects));
  await other.close();

  await page.goto(origin + bobs);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('ann@example.test is signed in').waitFor();
  t.deepEqual(await accessibilityFaults(window), []);
  t.is((await context.cookies())[0]?.value, cookie?.value);
  await page.getByRole('button', { name: 'Sign in as bob@example.test' }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/link/'));
  t.is(await whoAmI(), 'bob@example.test');
  await page.goto(origin + bobs);
  await page.getByText('mansio account link ADDRESS').waitFor();
  t.deepEqual(faults, []);
});
