// Says what the routes of Sieve scripts reply, case by case, in the order in which endpoints.test.ts runs them.
import type { Step } from './endpoint-case.js';

const KEEP = 'keep;\r\n';
const ALL = 'GET /api/sieve';
const route = (method: string) => `${method} /api/sieve/{name}`;
const [GET, PUT, PATCH, DELETE] = [route('GET'), route('PUT'), route('PATCH'), route('DELETE')] as const;
const at = (name: string) => `/api/sieve/${encodeURIComponent(name)}`;

const put = (name: string, content: unknown, isActive: unknown, status = 204, fields?: string[]): Step => ({
  route: PUT,
  path: at(name),
  json: { content, isActive },
  status,
  ...(fields && { fields }),
});
const change = (name: string, json: object, status = 204, fields?: string[]): Step => ({
  route: PATCH,
  path: at(name),
  json,
  status,
  ...(fields && { fields }),
});
const refused = (name: string, content: unknown, ...fields: string[]) => put(name, content, false, 400, fields);

const listed = (...scripts: readonly { readonly name: string; readonly isActive: boolean }[]): Step => ({
  route: ALL,
  status: 200,
  check: (t, body) => t.deepEqual(body, scripts),
});

export const SIEVE: readonly Step[] = [
  listed(),
  { route: ALL, as: ['api:read'], status: 200 },
  { route: ALL, as: ['imap'], status: 403 },
  put('main', KEEP, true),
  put('ä/ "x"', '', false),
  listed({ name: 'main', isActive: true }, { name: 'ä/ "x"', isActive: false }),
  {
    route: GET,
    path: at('main'),
    status: 200,
    check: (t, body) => t.deepEqual(body, { content: KEEP, isActive: true }),
  },
  { route: GET, path: at('ä/ "x"'), status: 200, check: (t, body) => t.is(body.content, '') },
  { route: GET, path: at('none'), status: 404 },
  put('ä/ "x"', 'stop;', true),
  listed({ name: 'main', isActive: false }, { name: 'ä/ "x"', isActive: true }),
  // Without `isActive` the same script stays the active one.
  put('ä/ "x"', 'keep;', undefined),
  put('main', 'discard;', undefined),
  listed({ name: 'main', isActive: false }, { name: 'ä/ "x"', isActive: true }),
  change('main', { name: 'second' }),
  change('ä/ "x"', { name: 'first' }),
  listed({ name: 'first', isActive: true }, { name: 'second', isActive: false }),
  change('second', { isActive: false }),
  listed({ name: 'first', isActive: true }, { name: 'second', isActive: false }),
  change('second', { isActive: true, name: 'main' }),
  listed({ name: 'first', isActive: false }, { name: 'main', isActive: true }),
  change('main', { isActive: false }),
  change('first', { isActive: true, name: 'first' }),
  change('first', { name: 'ä/ "x"' }),
  listed({ name: 'main', isActive: false }, { name: 'ä/ "x"', isActive: true }),
  { route: GET, path: at('main'), status: 200, check: (t, body) => t.is(body.content, 'discard;') },
  change('main', { name: 'ä/ "x"' }, 400, ['name']),
  change('main', { name: 'a\u0085' }, 400, ['name']),
  change('main', {}, 400, ['name', 'isActive']),
  change('none', { isActive: true }, 404),
  { ...change('main', { isActive: true }, 403), as: ['api:read'] },
  { route: DELETE, path: at('main'), status: 204 },
  { route: DELETE, path: at('main'), status: 404 },
  put('ä/ "x"', 'stop;', false),
  { route: DELETE, path: at('ä/ "x"'), as: ['api:read'], status: 403 },
  { route: DELETE, path: at('ä/ "x"'), as: ['api:write'], status: 204 },
  put('last', 'keep;', true),
  { route: DELETE, path: at('last'), status: 204 },
  listed(),
  {
    ...refused('bad', 'keep;\n  foo;\nbar;', 'content'),
    check: (t, { errors }) => {
      t.is(errors.content.length, 2);
      t.regex(errors.content[0], /^line 2, column 3: .*foo/);
      t.regex(errors.content[1], /^line 3, column 1: .*bar/);
    },
  },
  refused('bad', 'keep;\0', 'content'),
  refused('bad', '# \ud800', 'content'),
  refused('bad', 7, 'content'),
  put('bad', KEEP, 'yes', 400, ['isActive']),
  put('bad', KEEP, null, 400, ['isActive']),
  refused('bad', '#'.repeat(65_537), 'content'),
  put('large', '#'.repeat(65_536), false),
  refused('a\u0085', KEEP, 'name'),
  refused('ä'.repeat(257), KEEP, 'name'),
  put('ä'.repeat(256), KEEP, false),
  ...Array.from({ length: 30 }, (_, i) => put(`s${i}`, KEEP, false)),
  refused('one more', KEEP, 'name'),
];
