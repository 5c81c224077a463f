// Tests the page of a link for one sign-in over real sockets: it changes nothing, its form signs in, and asks before it displaces somebody.

import { NO_SPAN, NO_TRACER, type Span, type Tracer } from '../../../../../src/actors/runtime/tracing.js';
import { rawRequest } from '../../../../support/clients/raw-request.js';
import test from '../../../../support/test.js';
import { BOBS_LINK, SESSION_ID } from '../../fake-account-api.js';
import { ALICE, BOB } from '../../fakes.js';
import { type Gateway, startGateway } from '../../gateway.js';

const PATH = `/link/${BOBS_LINK}`;
/** What Chromium sends with a form of a page with the policy no-referrer. */
const FORM = {
  Origin: 'null',
  'Sec-Fetch-Site': 'same-origin',
  'Content-Type': 'application/x-www-form-urlencoded',
};

const ask = async ({ port }: Gateway, line: string, fields: Readonly<Record<string, string>> = {}, body = '') => {
  const reply = await rawRequest(port, line, fields, body);
  return { ...reply, html: reply.body.toString() };
};

test('the page names the account, has no script, and changes nothing', async (t) => {
  const gateway = await startGateway(t);
  for (const line of [`GET ${PATH}`, `GET ${PATH}`, `HEAD ${PATH}`, `GET ${PATH}`]) {
    const { status, headers, html } = await ask(gateway, line, { 'Sec-Purpose': 'prefetch' });
    t.is(status, 200);
    t.is(headers.get('referrer-policy'), 'no-referrer');
    t.is(headers.get('cache-control'), 'no-store');
    t.is(headers.get('x-content-type-options'), 'nosniff');
    t.is(
      headers.get('content-security-policy'),
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    t.is(headers.get('set-cookie'), null);
    if (line.startsWith('HEAD')) continue;
    t.regex(html, /Bob &lt;b&gt; \(bob@example\.test\)/);
    t.regex(html, /<form method="post">\s*<button type="submit">Sign in<\/button>/);
    t.notRegex(html, /<script|<style|style=|\son\w+=|https?:|<b>/);
    t.false(html.includes(BOBS_LINK));
  }
  t.is((await ask(gateway, `POST ${PATH}`, FORM)).status, 303);
});

test('the style of the page is where the page names it', async (t) => {
  const gateway = await startGateway(t);
  const { html } = await ask(gateway, `GET ${PATH}`);
  const href = /<link rel="stylesheet" href="([^"]+)"/.exec(html)![1]!;
  const style = await ask(gateway, `GET ${new URL(href, `http://localhost${PATH}`).pathname}`);
  t.is(style.status, 200);
  t.is(style.headers.get('content-type'), 'text/css; charset=utf-8');
});

test('the button signs in once, and goes to the page', async (t) => {
  const gateway = await startGateway(t);
  const first = await ask(gateway, `POST ${PATH}`, FORM);
  t.is(first.status, 303);
  t.is(first.headers.get('location'), '/');
  t.is(first.headers.get('set-cookie'), 'mansio=mansio_session; Max-Age=15552000; Path=/; HttpOnly; SameSite=Strict');
  for (const line of [`POST ${PATH}`, `GET ${PATH}`]) {
    const gone = await ask(gateway, line, line.startsWith('POST') ? FORM : {});
    t.is(gone.status, 410);
    t.is(gone.headers.get('content-type'), 'text/html; charset=utf-8');
    t.is(gone.headers.get('set-cookie'), null);
    t.regex(gone.html, /<code>mansio account link ADDRESS<\/code>/);
    t.notRegex(gone.html, /bob|<button/i);
  }
});

test('other pages cannot post the form', async (t) => {
  const gateway = await startGateway(t);
  for (const fields of [
    { ...FORM, 'Sec-Fetch-Site': 'cross-site' },
    { ...FORM, 'Sec-Fetch-Site': 'same-site' },
    { ...FORM, 'Sec-Fetch-Site': '' },
    { ...FORM, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
    { ...FORM, Origin: 'http://localhost:3000', 'Sec-Fetch-Site': 'same-site' },
  ]) {
    const { status, headers } = await ask(gateway, `POST ${PATH}`, fields);
    t.is(status, 403, JSON.stringify(fields));
    t.is(headers.get('set-cookie'), null);
  }
  t.is((await ask(gateway, `POST ${PATH}`, { Origin: 'http://localhost' })).status, 303);
});

test('it asks first when somebody else is signed in', async (t) => {
  const gateway = await startGateway(t);
  const Cookie = `mansio=${gateway.directory.session(ALICE, SESSION_ID)}`;
  const isSignedIn = async () => (await (await gateway.fetch('/api/sessions')).text()).includes(SESSION_ID);
  const asked = await ask(gateway, `POST ${PATH}`, { ...FORM, Cookie });
  t.is(asked.status, 200);
  t.is(asked.headers.get('set-cookie'), null);
  t.regex(asked.html, /a@example\.test is signed in/);
  t.regex(asked.html, /<button type="submit">Sign in as bob@example\.test<\/button>/);
  t.true(await isSignedIn());
  const field = /<input type="hidden" name="(\w+)" value="(\w+)">/.exec(asked.html)!;
  const done = await ask(gateway, `POST ${PATH}`, { ...FORM, Cookie }, `${field[1]}=${field[2]}`);
  t.is(done.status, 303);
  t.false(await isSignedIn(), 'the other session has ended');
});

test('it does not ask who is signed in already', async (t) => {
  const gateway = await startGateway(t);
  const Cookie = `mansio=${gateway.directory.session(BOB)}`;
  t.is((await ask(gateway, `POST ${PATH}`, { ...FORM, Cookie })).status, 303);
});

test('over http it works under localhost only, and says so', async (t) => {
  const gateway = await startGateway(t);
  const Host = 'mail.example.test';
  for (const line of [`GET ${PATH}`, `POST ${PATH}`]) {
    const { status, html } = await ask(gateway, line, { ...(line.startsWith('POST') && FORM), Host });
    t.is(status, 403);
    t.regex(html, /Sessions need https/);
  }
  t.is((await ask(gateway, `GET ${PATH}`)).status, 200);
});

test('the page is in the language of the reader', async (t) => {
  const gateway = await startGateway(t);
  const page = (line: string, language: string, fields: Readonly<Record<string, string>> = {}) =>
    ask(gateway, line, { 'Accept-Language': language, ...fields });
  const german = await page(`GET ${PATH}`, 'de-AT,de;q=0.9,en;q=0.5');
  t.regex(german.html, /<html lang="de" dir="ltr">/);
  t.regex(german.html, /<button type="submit">Anmelden<\/button>/);
  const arabic = await page('GET /link/unknown', 'ar');
  t.regex(arabic.html, /<html lang="ar" dir="rtl">/);
  t.regex(arabic.html, /<code>mansio account link ADDRESS<\/code>/);
  const Cookie = `mansio=${gateway.directory.session(ALICE, SESSION_ID)}`;
  t.regex((await page(`POST ${PATH}`, 'de', { ...FORM, Cookie })).html, /Als bob@example\.test anmelden/);
  const foreign = await page(`POST ${PATH}`, 'de', { ...FORM, 'Sec-Fetch-Site': 'cross-site' });
  t.is(foreign.status, 403);
  t.regex(foreign.html, /Eine andere Seite/);
  t.regex((await page(`GET ${PATH}`, 'de', { Host: 'mail.example.test' })).html, /brauchen https/);
});

test('no log line and no span has the token', async (t) => {
  const traced: unknown[] = [];
  const span: Span = {
    ...NO_SPAN,
    rename: (name) => void traced.push(name),
    set: (attributes) => void traced.push(attributes),
    end: (failure) => void traced.push(failure),
  };
  const start: Tracer['start'] = (name, options) => {
    traced.push(name, options);
    return span;
  };
  const gateway = await startGateway(t, { tracer: { ...NO_TRACER, start } });
  await ask(gateway, `GET ${PATH}`);
  await ask(gateway, `POST ${PATH}`, { ...FORM, Origin: 'https://evil.example' });
  await ask(gateway, `POST ${PATH}`, FORM);
  await ask(gateway, 'POST /api/sessions', { 'Content-Type': 'application/json' }, JSON.stringify({ link: BOBS_LINK }));
  const lines = JSON.stringify(gateway.log.lines);
  t.true(lines.includes('"route":"/link/{token}"'));
  t.false(lines.includes(BOBS_LINK));
  t.true(JSON.stringify(traced).includes('POST /link/{token}'));
  t.false(JSON.stringify(traced).includes(BOBS_LINK));
});
