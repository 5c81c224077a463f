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
