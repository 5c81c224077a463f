// The OpenAPI document as a whole: complete, consistent, and no route whose struct it cannot describe.
import test from 'ava';
import { define } from 'superstruct';
import { openApi } from '../../../src/gateways/http/openapi.js';
import { defineRoute } from '../../../src/gateways/http/route.js';
import { startGateway } from './gateway.js';
import type { Document } from './schema-check.js';

test('every route is described, every reference leads somewhere', async (t) => {
  const gateway = await startGateway(t);
  const document: Document = await (await gateway.fetch('/api/openapi.json', { key: null })).json();
  const operations = gateway.routes.map((route) => {
    const operation = document.paths[route.path]?.[route.method.toLowerCase()];
    t.truthy(operation, `${route.method} ${route.path}`);
    t.deepEqual(operation.security, route.access === 'public' ? [] : [{ bearer: [] }, { apiKey: [] }]);
    const names = operation.parameters.filter((one: Document) => one.in === 'path').map((one: Document) => one.name);
    t.deepEqual(
      names,
      [...route.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]),
    );
    return operation.operationId;
  });
  t.is(new Set(operations).size, gateway.routes.length);
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
