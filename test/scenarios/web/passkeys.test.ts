// Tests passkeys with Chromium and its virtual authenticator on the page of a whole node: registered after a sign-in by key, and then the
// way in for a browser without a session.
import type { ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { accountOn, port } from '../../../dev/node-accounts.js';
import { openWindow, testInBrowser } from '../../support/browser/browser.js';
import { startTestNode } from '../../support/node.js';

async function windowWithAuthenticator(t: ExecutionContext) {
  const node = await startTestNode({ MANSIO_HOSTED_DOMAINS: 'example.test' });
  t.teardown(() => node.stop());
  const account = await accountOn(node, 'ann');
  // Authenticators know names of hosts, no addresses.
  const window = await openWindow(t, `http://localhost:${port(node, 'http')}`);
  const devtools = await window.context.newCDPSession(window.page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
    },
  });
  return { ...window, account };
}

interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Asks the node as a script of the page does. */
function ask(page: Page, method: string, path: string, body?: unknown, key?: string): Promise<Answer> {
  const request = { method, path, body, key };
  return page.evaluate(async (of) => {
    const headers: Record<string, string> = of.body === undefined ? {} : { 'content-type': 'application/json' };
    if (of.key !== undefined) headers['authorization'] = `Bearer ${of.key}`;
    const text = of.body === undefined ? null : JSON.stringify(of.body);
    const response = await fetch(of.path, { method: of.method, headers, body: text });
    const content = await response.text();
    return { status: response.status, json: content === '' ? {} : JSON.parse(content) };
  }, request);
}

/** What the authenticator answers to the options of the node. */
function answerOf(page: Page, ceremony: 'create' | 'get', options: unknown): Promise<unknown> {
  return page.evaluate(
    async ({ ceremony, options }) => {
      // Node's types have none of these.
      const { navigator, PublicKeyCredential } = globalThis as never as {
        navigator: { credentials: Record<string, (options: unknown) => Promise<{ toJSON(): unknown }>> };
        PublicKeyCredential: Record<string, (json: unknown) => unknown>;
      };
      const parse = ceremony === 'create' ? 'parseCreationOptionsFromJSON' : 'parseRequestOptionsFromJSON';
      const publicKey = PublicKeyCredential[parse]!(options);
      const credential = await navigator.credentials[ceremony]!({ publicKey });
      return credential.toJSON();
    },
    { ceremony, options },
  );
}

testInBrowser('a passkey of Chromium is registered, signs in once for each challenge, and is deleted', async (t) => {
  const { page, context, account } = await windowWithAuthenticator(t);
  const signedIn = await ask(page, 'POST', '/api/sessions', undefined, account.key);
  t.is(signedIn.status, 201, JSON.stringify(signedIn.json));
  const begun = await ask(page, 'POST', '/api/passkeys/registration');
  t.is(begun.status, 200, JSON.stringify(begun.json));
  const made = await ask(page, 'POST', '/api/passkeys/registration/verify', await answerOf(page, 'create', begun.json));
  t.is(made.status, 201, JSON.stringify(made.json));
  await context.clearCookies();
  t.is((await ask(page, 'GET', '/api/passkeys')).status, 401);
  const offered = await ask(page, 'POST', '/api/passkeys/login');
  const answer = await answerOf(page, 'get', offered.json);
  const login = await ask(page, 'POST', '/api/passkeys/login/verify', answer);
  t.is(login.status, 201, JSON.stringify(login.json));
  t.is((await ask(page, 'POST', '/api/passkeys/login/verify', answer)).status, 401);
  const listed = await ask(page, 'GET', '/api/passkeys');
  t.like(listed, { status: 200, json: [{ id: made.json['id'] }] });
  const [passkey] = listed.json as never as { id: string; lastUsedAt: string | null }[];
  t.not(passkey!.lastUsedAt, null);
  t.is((await ask(page, 'DELETE', `/api/passkeys/${passkey!.id}`)).status, 204);
  const next = await ask(page, 'POST', '/api/passkeys/login');
  t.is((await ask(page, 'POST', '/api/passkeys/login/verify', await answerOf(page, 'get', next.json))).status, 401);
});
