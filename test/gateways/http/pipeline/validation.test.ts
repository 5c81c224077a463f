// Tests the cache of parsed queries: a cached query reads the same as one that is parsed for the first time.

import fc from 'fast-check';
import { optional } from 'superstruct';
import { choice, flagParameter, pageParameter, pageSizeParameter, text } from '../../../../src/gateways/http/fields.js';
import { readQuery } from '../../../../src/gateways/http/pipeline/validation.js';
import { Problem } from '../../../../src/gateways/http/problem.js';
import { defineRoute, EMPTY, READ, type Route } from '../../../../src/gateways/http/route.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';

const newRoute = (method: 'GET' | 'DELETE' = 'GET', isEventStream = false): Route =>
  defineRoute({
    method,
    isEventStream,
    path: '/api/things',
    summary: 'Things',
    tags: ['Things'],
    access: READ,
    query: {
      page: pageParameter(),
      pageSize: pageSizeParameter(20),
      isRead: optional(flagParameter()),
      sort: optional(choice('date', '-date')),
      q: optional(text()),
    },
    replies: { 204: EMPTY },
    handler: async () => ({ status: 204 }),
  });

function read(route: Route, query: string): unknown {
  try {
    return readQuery(route, query);
  } catch (error) {
    if (error instanceof Problem) return { problem: error.status, errors: error.errors };
    throw error;
  }
}

const parameter = fc
  .tuple(
    fc.constantFrom('page', 'pageSize', 'isRead', 'sort', 'q', 'other'),
    fc.oneof(
      fc.constantFrom('1', '2', '0', '200', 'true', 'false', 'date', '-date', '', 'x'.repeat(120)),
      fc.string({ maxLength: 3 }),
    ),
  )
  .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
const query = fc.array(parameter, { maxLength: 3 }).map((parameters) => parameters.join('&'));

test('a query that comes again is read as it was, and a wrong one is refused again', (t) => {
  const route = newRoute();
  fc.assert(
    fc.property(fc.array(query, { minLength: 1, maxLength: 5 }), (queries) => {
      for (const each of [...queries, ...queries]) t.deepEqual(read(route, each), read(newRoute(), each), each);
    }),
    { numRuns: runs(400) },
  );
  t.is(read(route, 'page=2'), read(route, 'page=2'), 'it is remembered');
  t.deepEqual(read(route, 'page=0'), { problem: 400, errors: { page: ['must be an integer of at least 1'] } });
});

test('nobody changes what others read', (t) => {
  const values = readQuery(newRoute(), 'page=2') as { page: number };
  t.throws(() => {
    values.page = 3;
  });
});

test('queries that may hold secrets are not remembered', (t) => {
  for (const route of [newRoute('DELETE'), newRoute('GET', true)]) {
    t.not(readQuery(route, 'q=secret'), readQuery(route, 'q=secret'));
    t.deepEqual(readQuery(route, 'q=secret'), readQuery(newRoute(), 'q=secret'));
  }
});
