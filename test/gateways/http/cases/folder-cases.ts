// Says what the routes of folders reply, case by case, in the order in which endpoints.test.ts runs them.

import { REFUSED_NAMES } from '../fault-injection.js';
import { INBOX_ID, NO_FOLDER_ID } from '../mailboxes.js';
import type { Document } from '../schema-check.js';
import { ownFolderIdOf } from './aliases.js';
import { NO_ID, READ_ID, type Step } from './endpoint-case.js';

const F = '/api/folders';
const ONE = `${F}/{id}`;
const [made, below] = [ownFolderIdOf(1), ownFolderIdOf(2)];

const badName = (name: unknown): Step => ({ route: `POST ${F}`, json: { name }, status: 400, fields: ['name'] });
const change = (id: string, json: unknown, status: number, fields?: readonly string[]): Step => ({
  route: `PUT ${ONE}`,
  path: `${F}/${id}`,
  json,
  status,
  ...(fields && { fields }),
});
const list = (id: string, query: string, status: number, check?: Step['check']): Step => ({
  route: `GET ${ONE}/emails`,
  path: `${F}/${id}/emails${query}`,
  status,
  ...(check && { check }),
});

export const FOLDERS: readonly Step[] = [
  {
    route: `GET ${F}`,
    as: ['api:read'],
    status: 200,
    check: (t, body) =>
      t.deepEqual(body[0], {
        id: INBOX_ID,
        name: 'INBOX',
        role: 'inbox',
        parentId: null,
        total: 2,
        unread: 1,
        color: null,
        isSubscribed: true,
      }),
  },
  { route: `GET ${F}`, as: ['api:write'], status: 403 },
  { route: `POST ${F}`, as: ['api:read'], json: { name: 'x' }, status: 403 },
  {
    route: `POST ${F}`,
    as: ['api:write'],
    json: { name: ' Zoe\u0308 💌 ', other: 1 },
    status: 201,
    check: (t, body) => t.like(body, { id: made, name: 'Zoë 💌', role: 'folder', parentId: null }),
  },
  {
    route: `POST ${F}`,
    json: { name: 'x'.repeat(100), parentId: made.toUpperCase() },
    status: 201,
    check: (t, body) => t.like(body, { id: below, parentId: made }),
  },
  { route: `POST ${F}`, json: {}, status: 400, fields: ['name'] },
  { route: `POST ${F}`, json: [], status: 400, fields: ['body'] },
  { route: `POST ${F}`, json: { name: 'y', parentId: 7 }, status: 400, fields: ['parentId'] },
  { route: `POST ${F}`, json: { name: 'y', parentId: 'x' }, status: 400, fields: ['parentId'] },
  { route: `POST ${F}`, json: { name: 'y', parentId: NO_FOLDER_ID }, status: 400, fields: ['parentId'] },
  ...['', ' ', 'a/b', '/', 'a\r\nb', 'a\u0000', '\ud800', 'x'.repeat(101), 7, null, ['a'], 'Zoë 💌'].map(badName),
  ...Object.values(REFUSED_NAMES).map(badName),
  change(made, { name: 'Post' }, 204),
  change(below, { name: 'Post', parentId: null, isSubscribed: false }, 400, ['name']),
  change(below, { name: 'Top', parentId: null, isSubscribed: false }, 204),
  {
    route: `GET ${F}`,
    status: 200,
    check: (t, body) =>
      t.deepEqual(
        body
          .filter(({ role }: Document) => role === 'folder')
          .map(({ name, parentId, isSubscribed }: Document) => [name, parentId, isSubscribed]),
        [
          ['Post', null, true],
          ['Top', null, false],
        ],
      ),
  },
  change(made, { name: 'Post', parentId: made }, 400, ['parentId']),
  change(made, { name: 'Post', parentId: 'x' }, 400, ['parentId']),
  change(made, { name: 'Post', parentId: NO_FOLDER_ID }, 400, ['parentId']),
  change(made, { name: REFUSED_NAMES.nameTooLong }, 400, ['name']),
  change(made, { parentId: null, isSubscribed: 1 }, 400, ['name', 'isSubscribed']),
  change(INBOX_ID, { name: 'Mine' }, 400, ['id']),
  change(NO_FOLDER_ID, { name: 'Mine' }, 404),
  change('x', { name: 'Mine' }, 404),
  list(INBOX_ID, '', 200, (t, body) => t.like(body, { totalCount: 2, unreadCount: 1, page: 1, pageSize: 20 })),
  list(INBOX_ID, '?isRead=true', 200, (t, body) => t.deepEqual([body.totalCount, body.items[0].id], [1, READ_ID])),
  list(INBOX_ID, '?isFlagged=true', 200, (t, body) => t.is(body.totalCount, 0)),
  list(INBOX_ID, '?sort=size&pageSize=1', 200, (t, body) => t.is(body.items.length, 1)),
  list(INBOX_ID, '?sort=sender&isRead=1&isFlagged=&page=0', 400, (t, body) =>
    t.deepEqual(Object.keys(body.errors).sort(), ['isFlagged', 'isRead', 'page', 'sort']),
  ),
  list(made, '', 200, (t, body) => t.deepEqual(body.items, [])),
  list(NO_FOLDER_ID, '', 404),
  list('inbox', '', 200, (t, body) => t.is(body.totalCount, 2)),
  list('Archive', '?pageSize=1', 200, (t, body) => t.is(body.totalCount, 0)),
  list('label', '', 404),
  list('x', '', 404),
  { route: `DELETE ${ONE}`, path: `${F}/${INBOX_ID}`, status: 400, fields: ['id'] },
  { route: `DELETE ${ONE}`, path: `${F}/${made}`, as: ['api:read'], status: 403 },
  { route: `DELETE ${ONE}`, path: `${F}/${made}`, status: 204 },
  { route: `DELETE ${ONE}`, path: `${F}/${made}`, status: 404 },
  { route: `DELETE ${ONE}`, path: `${F}/${NO_ID}`, status: 404 },
  { route: `DELETE ${ONE}`, path: `${F}/x`, status: 404 },
];
