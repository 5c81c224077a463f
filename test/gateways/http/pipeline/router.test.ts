import { createRouter } from '../../../../src/gateways/http/pipeline/router.js';
import { defineRoute, EMPTY, type Method } from '../../../../src/gateways/http/route.js';
import test from '../../../support/test.js';

const route = (method: Method, path: string, anyCase = false) =>
  defineRoute({
    method,
    path,
    anyCase,
    summary: '',
    tags: [],
    access: 'public',
    replies: { 204: EMPTY },
    handler: async () => ({ status: 204 }),
  });

test('a written segment goes before a parameter, and a dead end is left again', (t) => {
  const match = createRouter([
    route('GET', '/a/{id}'),
    route('GET', '/a/sent'),
    route('POST', '/a/bulk/delete'),
    route('GET', '/a/{id}/parts/{part}'),
    route('GET', '/a/sent/names'),
  ]);
  const found = (path: string) => {
    const result = match('GET', path);
    return result.kind === 'route' ? [result.route.path, result.params] : result.kind;
  };
  t.deepEqual(found('/a/sent'), ['/a/sent', {}]);
  t.deepEqual(found('/a/x%20y'), ['/a/{id}', { id: 'x y' }]);
  t.deepEqual(found('/a/bulk'), ['/a/{id}', { id: 'bulk' }]);
  t.deepEqual(found('/a/sent/parts/2'), ['/a/{id}/parts/{part}', { id: 'sent', part: '2' }]);
  t.deepEqual(found('/a/bulk/delete'), 'method');
  for (const path of ['', '/', 'a/1', '/a/', '/a//parts/1', '/a/1/', '/a/1/parts', '/a/%ff'])
    t.is(found(path), 'none', path);
});

test('two routes of one method and path are a mistake', (t) => {
  t.throws(() => createRouter([route('GET', '/a/{id}'), route('GET', '/a/{other}')]), { message: /two routes/ });
});

test('a route of any case takes its own segments so, and parameters as they are', (t) => {
  const match = createRouter([
    route('GET', '/Auto/{email}/config.xml', true),
    route('POST', '/auto/find.xml', true),
    route('GET', '/api/{id}'),
  ]);
  const found = (path: string, method = 'GET') => {
    const result = match(method, path);
    return result.kind === 'route' ? [result.route.path, result.params] : result.kind;
  };
  t.deepEqual(found('/AUTO/Anna@X/Config.XML'), ['/Auto/{email}/config.xml', { email: 'Anna@X' }]);
  t.deepEqual(found('/auto/FIND.xml', 'POST'), ['/auto/find.xml', {}]);
  t.is(found('/Auto/Find.xml'), 'method');
  t.deepEqual(found('/api/A'), ['/api/{id}', { id: 'A' }]);
  t.is(found('/API/A'), 'none');
  t.throws(() => createRouter([route('GET', '/A', true), route('GET', '/a', true)]), { message: /two routes/ });
});
