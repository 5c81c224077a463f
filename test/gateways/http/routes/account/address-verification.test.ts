// Tests the page that verifies an address over real sockets: it names the account that asks, GET changes nothing, a POST confirms once.
import { rawRequest } from '../../../../support/clients/raw-request.js';
import test from '../../../../support/test.js';
import { TAKEN_TOKEN, VERIFICATION_TOKEN } from '../../fake-account-api.js';
import { startGateway } from '../../gateway.js';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

test('the page of a link names who asks, and its button confirms once', async (t) => {
  const { port } = await startGateway(t);
  const ask = async (line: string) => {
    const { status, headers, body } = await rawRequest(port, line, line.startsWith('POST') ? FORM : {}, '');
    return { status, headers, html: body.toString() };
  };
  const path = `/verify?token=${VERIFICATION_TOKEN}`;
  for (const line of [`GET ${path}`, `HEAD ${path}`, `GET ${path}`]) {
    const { status, headers, html } = await ask(line);
    t.is(status, 200);
    t.is(headers.get('referrer-policy'), 'no-referrer');
    t.is(headers.get('cache-control'), 'no-store');
    t.regex(headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'self'; form-action 'self'/);
    if (line.startsWith('HEAD')) continue;
    t.regex(html, /Bob &lt;b&gt; \(bob@example\.test\) asks that mail may be forwarded to far@elsewhere\.test\./);
    t.regex(html, /<form method="post">\s*<button type="submit">Confirm<\/button>/);
    t.notRegex(html, /<script|<style|style=|\son\w+=|https?:|<b>/);
    const href = /<link rel="stylesheet" href="([^"]+)"/.exec(html)![1]!;
    t.is((await ask(`GET ${new URL(href, `http://localhost${path}`).pathname}`)).status, 200);
  }
  const done = await ask(`POST ${path}`);
  t.is(done.status, 200);
  t.regex(done.html, /Mail may be forwarded to far@elsewhere\.test now/);
  for (const line of [`POST ${path}`, `GET ${path}`, 'GET /verify?token=', `POST /verify?token=${'x'.repeat(43)}`]) {
    const gone = await ask(line);
    t.is(gone.status, 410, line);
    t.notRegex(gone.html, /bob|<button/i);
  }
  const taken = await ask(`POST /verify?token=${TAKEN_TOKEN}`);
  t.is(taken.status, 409);
  t.regex(taken.html, /Another account of this server has confirmed far@elsewhere\.test/);
  t.is((await ask('GET /verify')).status, 400);
});

test('the page speaks the language of the browser', async (t) => {
  const { port } = await startGateway(t);
  const ask = async (line: string, language: string) => {
    const fields = { 'Accept-Language': language, ...(line.startsWith('POST') ? FORM : {}) };
    return (await rawRequest(port, line, fields, '')).body.toString();
  };
  const path = `/verify?token=${VERIFICATION_TOKEN}`;
  const german = await ask(`GET ${path}`, 'de-AT,de;q=0.9,en;q=0.5');
  t.regex(german, /<html lang="de" dir="ltr">/);
  t.regex(german, /Bob &lt;b&gt; \(bob@example\.test\) bittet darum, .* far@elsewhere\.test weitergeleitet/);
  t.regex(german, /<button type="submit">Bestätigen</);
  const arabic = await ask(`GET ${path}`, 'ar');
  t.regex(arabic, /<html lang="ar" dir="rtl">/);
  t.regex(arabic, /\u2068far@elsewhere\.test\u2069/);
  t.regex(await ask(`GET ${path}`, 'fr, *;q=0.1'), /<html lang="en"/);
  t.regex(await ask(`POST /verify?token=${TAKEN_TOKEN}`, 'de'), /gehört zu einem anderen Konto/);
  t.regex(await ask(`POST ${path}`, 'ar'), /تم تأكيد عنوانك/);
  t.regex(await ask(`GET ${path}`, 'de'), /Dieser Link gilt nicht mehr/);
});
