// Tests the refusals that all routes share, made from the route table: wrong credentials, unknown or foreign ids, other
// methods, bad fields, bodies that are too large or no JSON. A new route is tested automatically.

import type { AnyStruct } from '../../../src/actors/runtime/protocol.js';
import { isRequired } from '../../../src/gateways/http/openapi/json-schema.js';
import type { Route } from '../../../src/gateways/http/route.js';
import { SCOPES } from '../../../src/store/directory.js';
import test from '../../support/test.js';
import { filterIdOf, labelIdOf, outboundIdOf, ownFolderIdOf, runIdOf, withAliases } from './cases/aliases.js';
import { BOBS_ID, BOBS_THREAD_ID, fill, NO_ID, PDF_ID, READ_ID, THREAD_ID } from './cases/endpoint-case.js';
import {
  ADDRESS_ID,
  BOBS_ADDRESS_ID,
  BOBS_KEY_ID,
  BOBS_LINKED_ID,
  BOBS_PASSKEY_ID,
  BOBS_SESSION_ID,
  BOBS_WEBHOOK_ID,
  KEY_ID,
  LINKED_ID,
  PASSKEY_ID,
  SESSION_ID,
  WEBHOOK_ID,
} from './fake-account-api.js';
import { ALICE, BOB, type Scopes } from './fakes.js';
import { type Gateway, startGateway } from './gateway.js';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

interface Ids {
  readonly own: string;
  readonly bobs: string;
}

/** Says which ids a parameter takes, by the path up to it. */
const IDS: readonly (readonly [place: RegExp, ids: Ids])[] = [
  [/emails\/\{id\}\/attachments\/\{attachmentId\}$/, { own: PDF_ID, bobs: BOBS_ID }],
  [/outbound\/\{id\}\/attachments\/\{attachmentId\}$/, { own: PDF_ID, bobs: BOBS_ID }],
  [/(emails\/\{(id|emailId)|outbound\/\w+\/\{emailId)\}$/, { own: READ_ID, bobs: BOBS_ID }],
  [/threads\/\{threadId\}$/, { own: THREAD_ID, bobs: BOBS_THREAD_ID }],
  [/labels\/(emails\/\{emailId\}\/\{labelId\}|\{id\}|\{labelId\})$/, { own: labelIdOf(1), bobs: labelIdOf(3) }],
  [/apply\/\{runId\}$/, { own: runIdOf(1), bobs: runIdOf(2) }],
  [/filters\/\{id\}$/, { own: filterIdOf(1), bobs: filterIdOf(2) }],
  [/folders\/\{id\}$/, { own: ownFolderIdOf(1), bobs: ownFolderIdOf(2) }],
  [/outbound\/(drafts\/)?\{id\}$/, { own: outboundIdOf(1), bobs: outboundIdOf(2) }],
  [/smtp-credentials\/\{keyId\}$/, { own: KEY_ID, bobs: BOBS_KEY_ID }],
  [/autodiscover.json\/v1.0\/\{email\}$/, { own: 'anna@example.test', bobs: 'bob@example.test' }],
  [/passkeys\/\{id\}$/, { own: PASSKEY_ID, bobs: BOBS_PASSKEY_ID }],
  [/addresses\/\{addressId\}$/, { own: ADDRESS_ID, bobs: BOBS_ADDRESS_ID }],
  [/sessions\/links\/\{id\}$/, { own: LINKED_ID, bobs: BOBS_LINKED_ID }],
  [/sessions\/\{id\}$/, { own: SESSION_ID, bobs: BOBS_SESSION_ID }],
  [/sieve\/\{name\}$/, { own: 'main', bobs: 'other' }],
  [/suppressions\/\{address\}$/, { own: 'gone@peer.test', bobs: 'left@peer.test' }],
  [/webhooks\/\{id\}$/, { own: WEBHOOK_ID, bobs: BOBS_WEBHOOK_ID }],
];

function idsOf(path: string, name: string): Ids {
  const place = path.slice(0, path.indexOf(`{${name}}`) + name.length + 2);
  const found = IDS.find(([pattern]) => pattern.test(place));
  if (found === undefined) throw new Error(`no ids for ${place}`);
  return found[1];
}

/** The path of the route, with ids of existing records except where `others` names one. */
const pathOf = ({ path, params }: Route, others: Readonly<Record<string, string>> = {}): string =>
  Object.keys(params).reduce((at, name) => at.replace(`{${name}}`, others[name] ?? idsOf(path, name).own), path);

/** A body that the route accepts; its ids name existing records. */
function bodyOf({ example }: Route): Record<string, unknown> | undefined {
  if (example === undefined) return undefined;
  const own: Readonly<Record<string, unknown>> = { labelId: labelIdOf(1), userId: ALICE, emailId: READ_ID };
  const fields = Object.entries(example as object);
  return Object.fromEntries(fields.map(([name, value]) => [name, own[name] ?? value]));
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const isOwned = ({ access, inDocument }: Route): boolean => inDocument && typeof access === 'object';
const keyFor = ({ access }: Route, { directory }: Gateway): string =>
  directory.key(ALICE, ...(typeof access === 'object' ? access.scopes : (['app'] as const)));

async function refusing(t: Parameters<typeof startGateway>[0]) {
  const started = await startGateway(t);
  fill(started);
  const gateway = { ...started, fetch: withAliases(started) };
  const label = { name: 'Own', color: '#000000', sortOrder: 1 };
  const filter = { name: 'Own', isEnabled: true, priority: 1, subjectContains: 'x' };
  const bob = gateway.directory.key(BOB, 'app');
  for (const key of [gateway.key, bob, bob]) {
    await gateway.fetch('/api/labels', { method: 'POST', key, json: { ...label, name: `Label ${Math.random()}` } });
    await gateway.fetch('/api/folders', { method: 'POST', key, json: { name: `Folder ${Math.random()}` } });
    await gateway.fetch('/api/outbound/drafts', { method: 'POST', key, json: {} });
    const made = await gateway.fetch('/api/filters', { method: 'POST', key, json: filter });
    const { id } = (await made.json()) as { id: string };
    await gateway.fetch(`/api/filters/${id}/apply`, { method: 'POST', key, json: {} });
  }
  const ask = (route: Route, path: string, init: Parameters<Gateway['fetch']>[1] = {}) => {
    const json = bodyOf(route);
    const body = json === undefined || 'body' in init ? {} : { json };
    return gateway.fetch(path, { key: keyFor(route, gateway), ...body, ...init, method: route.method });
  };
  return { ...gateway, gateway, ask };
}

test('no credential or a bad one is 401', async (t) => {
  const { routes, ask } = await refusing(t);
  for (const route of routes.filter(isOwned)) {
    for (const key of [null, 'mansio_nobody', '']) {
      const response = await ask(route, pathOf(route), { key });
      t.is(response.status, 401, nameOf(route));
      t.regex(response.headers.get('www-authenticate') ?? '', /^Bearer/, nameOf(route));
    }
  }
});

/** No key is enough. */
const needsSession = ({ path }: Route): boolean =>
  path === '/api/profile/sending/resume' || path === '/api/sessions/links';

test('a scope that does not reach is 403, one that does is not', async (t) => {
  const { routes, directory, ask } = await refusing(t);
  for (const route of routes.filter(isOwned)) {
    const allowed: readonly string[] = typeof route.access === 'object' ? route.access.scopes : [];
    for (const scope of SCOPES) {
      const key = directory.key(ALICE, scope);
      const nowhere = Object.fromEntries(Object.keys(route.params).map((name) => [name, NO_ID]));
      const response = await ask(route, pathOf(route, nowhere), { key });
      const refused = /insufficient_scope/.test(response.headers.get('www-authenticate') ?? '');
      t.is(refused, !allowed.includes(scope), `${nameOf(route)} ${scope}`);
      if (!needsSession(route)) t.is(response.status === 403, refused, `${nameOf(route)} ${scope}`);
    }
    const others = SCOPES.filter((scope) => !allowed.includes(scope)) as Scopes;
    const response = await ask(route, pathOf(route), { key: directory.key(ALICE, ...others) });
    t.is(response.status, 403, nameOf(route));
  }
});

/** The request gives its name to what it makes. */
const isNaming = ({ method, path }: Route): boolean => method === 'PUT' && path === '/api/sieve/{name}';

test('the id of nothing, of another account or no id at all is 404', async (t) => {
  const { routes, ask } = await refusing(t);
  for (const route of routes.filter((one) => isOwned(one) && !isNaming(one))) {
    for (const name of Object.keys(route.params)) {
      for (const id of [NO_ID, idsOf(route.path, name).bobs, 'x', '%00', `${NO_ID}0`, `{${NO_ID}}`]) {
        const response = await ask(route, pathOf(route, { [name]: id }));
        const expected = Object.keys(route.replies).length === 0 ? 501 : 404;
        t.is(response.status, expected, `${nameOf(route)} ${name}=${id}`);
      }
    }
  }
});

test('another method is 405, and Allow names those that there are', async (t) => {
  const { routes, fetch, key } = await refusing(t);
  for (const path of new Set(routes.map((route) => route.path))) {
    const there = routes.filter((route) => route.path === path).map(({ method }) => method);
    const asked = path.replaceAll(/\{\w+\}/g, NO_ID);
    const allowed = there.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    for (const method of METHODS.filter((one) => !there.includes(one))) {
      // The path may match another route with a literal segment.
      if (routes.some((one) => one.method === method && one.path === asked)) continue;
      const response = await fetch(asked, { method, key });
      t.is(response.status, 405, `${method} ${path}`);
      const allow = (response.headers.get('allow') ?? '').split(', ').sort();
      t.deepEqual(allow, [...allowed, 'OPTIONS'].sort(), `${method} ${path}`);
    }
  }
});

test('a body that is not JSON is 415 or 400, one too large 413', async (t) => {
  const { routes, ask } = await refusing(t);
  const json = { 'content-type': 'application/json' };
  for (const route of routes.filter(({ body }) => body !== undefined)) {
    t.not(route.example, undefined, `${nameOf(route)} has no example`);
    const path = pathOf(route);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const response = await ask(route, path, { headers: { 'content-type': type }, body: '{}' });
      t.is(response.status, 415, `${nameOf(route)} ${type}`);
    }
    for (const body of [...(route.isBodyOptional ? [] : ['']), '{', '[]', '"x"', 'null', '\ufeff{']) {
      const response = await ask(route, path, { headers: json, body });
      t.is(response.status, 400, `${nameOf(route)} ${body}`);
      t.deepEqual(Object.keys(((await response.json()) as { errors: object }).errors), ['body']);
    }
    const large = await ask(route, path, { headers: json, body: `{"x":"${'x'.repeat(route.bodyLimit)}"}` });
    t.is(large.status, 413, nameOf(route));
  }
});

test('every field at fault is 400 and named', async (t) => {
  const { routes, ask } = await refusing(t);
  const errors = async (response: Response) => Object.keys(((await response.json()) as { errors: object }).errors);
  for (const route of routes.filter(({ body }) => body !== undefined)) {
    const body = bodyOf(route)!;
    for (const [name, struct] of Object.entries(route.body!.schema as Record<string, AnyStruct>)) {
      const { [name]: _, ...others } = body;
      const faulty = [{ ...others, [name]: { not: 'this' } }, ...(isRequired(struct) ? [others] : [])];
      for (const json of faulty) {
        const response = await ask(route, pathOf(route), { json });
        t.is(response.status, 400, `${nameOf(route)} ${name}`);
        // Faults of an object are named by its members.
        const fields = (await errors(response)).map((field) => field.split('.')[0]);
        t.deepEqual([...new Set(fields)], [name], nameOf(route));
      }
    }
  }
  for (const route of routes) {
    for (const [name, struct] of Object.entries(route.query)) {
      const faulty = [`${name}=1&${name}=1`, ...(struct.type === 'string' ? [] : [`${name}=`, `${name}=x`])];
      for (const query of faulty) {
        const response = await ask(route, `${pathOf(route)}?${query}`);
        t.is(response.status, 400, `${nameOf(route)} ${query}`);
        t.deepEqual(await errors(response), [name], `${nameOf(route)} ${query}`);
      }
    }
  }
});
