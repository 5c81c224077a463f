// Tests every route of the table over real sockets: what it replies on success, and the refusals that only it has. Refusals that
// all routes share are in refusals.test.ts; gateway.ts checks every reply against the OpenAPI document.
import type { ExecutionContext } from 'ava';
import test from '../../support/test.js';
import { ACCOUNT } from './cases/account-cases.js';
import { ADDRESSES } from './cases/address-cases.js';
import { withAliases } from './cases/aliases.js';
import { EMAILS } from './cases/email-cases.js';
import { BASES, type Case, fill, READ_ID, type Step, stepsOf } from './cases/endpoint-case.js';
import { FOLDERS } from './cases/folder-cases.js';
import { labelFilterCases } from './cases/label-filter-cases.js';
import { OUTBOUND } from './cases/outbound-cases.js';
import { PASSKEYS } from './cases/passkey-cases.js';
import { PUSH_CASES } from './cases/push-cases.js';
import { SERVICE } from './cases/service-cases.js';
import { SIEVE } from './cases/sieve-cases.js';
import { WEBHOOKS } from './cases/webhook-cases.js';
import { KEY_ID } from './fake-account-api.js';
import { ALICE, type Scopes } from './fakes.js';
import { type Gateway, startGateway } from './gateway.js';

const pathOf = (route: string): string => route.slice(route.indexOf(' ') + 1);

/** Mounts the cases at `base`; a path that is only a query is appended to the path of the route. */
const emailSteps = (base: string): readonly Step[] =>
  stepsOf(EMAILS).map(({ route, path = pathOf(route), ...rest }) => ({
    ...rest,
    route: route.replace(' ', ` ${base}`),
    path: base + (path.startsWith('?') ? pathOf(route) + path : path).replace('{id}', READ_ID),
  }));

const ACCOUNT_STEPS = stepsOf({ ...ACCOUNT, ...ADDRESSES, ...PASSKEYS, ...PUSH_CASES, ...WEBHOOKS }).map(
  ({ path, ...rest }) => ({
    ...rest,
    path: path ?? pathOf(rest.route).replaceAll(/\{\w+\}/g, KEY_ID),
  }),
);

const GROUPS: Readonly<Record<string, readonly Step[]>> = {
  ...Object.fromEntries(BASES.map((base) => [base, emailSteps(base)])),
  folders: FOLDERS,
  'labels and filters': labelFilterCases(),
  'Sieve scripts': SIEVE,
  'outbound mail': OUTBOUND,
  'the account itself': ACCOUNT_STEPS,
};

test('every route has cases, and one of success unless it is not implemented', async (t) => {
  const gateway = await startGateway(t);
  const steps = [...Object.values(GROUPS).flat(), ...stepsOf(SERVICE)];
  const names = gateway.routes.map(({ method, path }) => `${method} ${path}`);
  t.deepEqual(names.sort(), [...new Set(steps.map(({ route }) => route))].sort());
  for (const { method, path, replies } of gateway.routes) {
    for (const status of Object.keys(replies).map(Number)) {
      // An unhealthy server and revalidation have tests of their own.
      if (status === 503 || status === 304) continue;
      // So has the policy of a domain, because fetch cannot name another host, and what depends on cookies and hosts.
      if (path === '/.well-known/mta-sts.txt' && status === 200) continue;
      if (path === '/link/{token}' && status === (method === 'GET' ? 403 : 200)) continue;
      if (/^\/api\/(?:passkeys\/(?:registration|login)|oidc|profile\/sending|sessions\/links$)/.test(path)) continue;
      t.true(
        steps.some((step) => step.route === `${method} ${path}` && step.status === status),
        `${method} ${path}: no case of ${status}`,
      );
    }
  }
});

for (const [group, steps] of Object.entries(GROUPS)) {
  test(`replies of ${group}`, async (t) => {
    const gateway = await startGateway(t);
    fill(gateway);
    const fetch = withAliases(gateway);
    const keys = new Map<string, string>();
    for (const { route, path = pathOf(route), as = ['app'], ...rest } of steps) {
      const { directory } = gateway;
      const name = as.join();
      const key =
        keys.get(name) ?? (name === 'service' ? directory.serviceKey(ALICE) : directory.key(ALICE, ...(as as Scopes)));
      keys.set(name, key);
      await run(t, { ...gateway, fetch }, route, path, rest, key);
    }
  });
}

test('replies of the public endpoints, without a credential', async (t) => {
  const gateway = await startGateway(t);
  for (const { route, path = pathOf(route), ...rest } of stepsOf(SERVICE))
    await run(t, gateway, route, path, rest, null);
});

async function run(
  t: ExecutionContext,
  gateway: Gateway,
  route: string,
  path: string,
  { json, xml, headers = {}, status, isPage = false, isEndless = false, fields, before, check }: Omit<Case, 'path'>,
  key: string | null,
): Promise<void> {
  const method = route.split(' ')[0]!;
  const where = `${method} ${path} ${JSON.stringify(json)?.slice(0, 80) ?? ''}`;
  await before?.(gateway.mailboxes);
  const response = await gateway.fetch(path, {
    method,
    key,
    redirect: 'manual',
    ...(json === undefined ? {} : { json }),
    headers: { ...headers, ...(xml !== undefined && { 'content-type': 'text/xml' }) },
    ...(xml === undefined ? {} : { body: xml }),
  });
  t.is(response.status, status, where);
  if (isEndless) await response.body?.cancel();
  const text = isEndless ? '' : await response.text();
  t.is(response.headers.get('x-content-type-options'), 'nosniff', where);
  if (key !== null && status < 300 && status !== 204) {
    t.regex(response.headers.get('cache-control') ?? '', /no-store|private, no-cache/, where);
  }
  const type = response.headers.get('content-type');
  const isJson = type?.startsWith('application/json') || type === 'application/problem+json';
  const body = isJson ? JSON.parse(text) : undefined;
  if (status === 204) t.is(text, '', where);
  if (status >= 400 && !isPage) {
    t.is(type, 'application/problem+json', where);
    t.is(body.status, status, where);
    t.regex(body.type, /^https:\/\/www\.rfc-editor\.org\/rfc\/rfc\d+#section-/, where);
    t.is(status === 400, typeof body.errors === 'object', where);
  }
  if (fields) t.deepEqual(Object.keys(body.errors).sort(), [...fields].sort(), where);
  check?.(t, body, response);
}
