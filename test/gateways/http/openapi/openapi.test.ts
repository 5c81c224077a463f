// Tests the OpenAPI document as a whole: it is complete and consistent, and every struct of a route has a schema.

import { define } from 'superstruct';
import { openApi } from '../../../../src/gateways/http/openapi/openapi.js';
import { defineRoute } from '../../../../src/gateways/http/route.js';
import test from '../../../support/test.js';
import { startGateway } from '../gateway.js';
import { type Document, replyCheck } from '../schema-check.js';

test('every route is described, every reference leads somewhere', async (t) => {
  const gateway = await startGateway(t);
  const document: Document = await (await gateway.fetch('/api/openapi.json', { key: null })).json();
  const routes = gateway.routes.filter(({ inDocument }) => inDocument);
  const operations = routes.map((route) => {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()];
    t.truthy(operation, `${route.method} ${route.path}`);
    const other = route.access === 'signIn' ? {} : { session: [] };
    t.deepEqual(operation.security, route.access === 'public' ? [] : [other, { bearer: [] }, { apiKey: [] }]);
    const names = operation.parameters.filter((one: Document) => one.in === 'path').map((one: Document) => one.name);
    t.deepEqual(
      names,
      [...route.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]),
    );
    return operation.operationId;
  });
  t.is(new Set(operations).size, routes.length);
  const references = new Set(
    [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map((found) => found[1]!),
  );
  t.true(references.has('EmailDetail'));
  for (const name of references) t.truthy(document.components.schemas[name], name);
  t.deepEqual(document.components.schemas.Problem.required, ['type', 'title', 'status']);
  t.deepEqual(document.components.schemas.EmailDetail.properties.receivedAt, { type: 'string', format: 'date-time' });
  t.false(document.components.schemas.EmailDetail.required.includes('isPartial'));
  const page = document.paths['/api/emails'].get.parameters[0];
  t.like(page, { name: 'page', in: 'query', required: false, schema: { type: 'integer', minimum: 1 } });
});

test('what a request may hold is told: lengths, values, numbers, nothing', async (t) => {
  const gateway = await startGateway(t);
  const document: Document = await (await gateway.fetch('/api/openapi.json', { key: null })).json();
  const { schemas } = document.components;
  t.like(schemas.LabelInput.properties.name, { minLength: 1, maxLength: 100 });
  t.like(schemas.PreferenceChanges.properties, {
    emailsPerPage: { type: 'integer', minimum: 10, maximum: 100 },
    theme: { type: 'string', enum: ['light', 'dark', 'system'] },
  });
  t.like(schemas.BulkDelete.properties.emailIds, { type: 'array', maxItems: 1000 });
  t.deepEqual(schemas.Filter.properties.lastAppliedAt, { type: ['string', 'null'], format: 'date-time' });
  const search = document.paths['/api/emails/search'].get;
  t.deepEqual(search['x-scopes'], ['app', 'api:read']);
  t.like(
    search.parameters.find(({ name }: Document) => name === 'pageSize'),
    { required: false, schema: { minimum: 1, default: 20 } },
  );
  const { parameters } = document.paths['/api/events'].get;
  t.deepEqual(
    parameters.map((each: Document) => [each.in, each.name, each.required]),
    [
      ['query', 'after', false],
      ['query', 'types', false],
      ['header', 'Last-Event-ID', false],
      ['query', 'access_token', false],
    ],
  );
  t.like(parameters[1].schema, { type: 'array', items: { type: 'string' } });
  t.true(parameters[1].schema.items.enum.includes('NewEmail'));
  const exported = document.paths['/api/emails/export/mbox'].get.responses;
  t.deepEqual(Object.keys(exported[200].headers), ['Content-Disposition', 'X-Export-Truncated']);
  t.deepEqual(Object.keys(document.components.responses.TooManyRequests.headers), ['Retry-After']);
});

test('a reply that is not as described is found out', async (t) => {
  const gateway = await startGateway(t);
  const document: Document = await (await gateway.fetch('/api/openapi.json', { key: null })).json();
  const { faults } = replyCheck(document, gateway.routes);
  const config = { oidc: { authority: '', clientId: '', enabled: false } };
  const found = (body: unknown, status = 200, type = 'application/json; charset=utf-8') =>
    faults('GET', '/api/config', new Response('', { status, headers: { 'content-type': type } }), async () => body);
  t.deepEqual(await found(config), []);
  t.is((await found({ ...config, more: 1 })).length, 1);
  t.is((await found({ oidc: { ...config.oidc, enabled: 'no' } })).length, 1);
  t.is((await found({})).length, 1);
  t.is((await found(config, 201)).length, 1);
  t.is((await found(config, 200, 'text/html')).length, 1);
});

test('a struct without a schema stops the start', (t) => {
  const route = defineRoute({
    method: 'GET',
    path: '/x',
    summary: '',
    tags: [],
    access: 'public',
    replies: { 200: define<string>('strange', () => true) },
    handler: async () => ({ status: 200, json: '' }),
  });
  t.throws(() => openApi([route], '0', '/'), { message: /no JSON schema for struct type strange/ });
});
