// Says what the routes of labels and filters reply, case by case, in the order in which endpoints.test.ts runs them.

import { NO_ACTIONS, NO_CONDITIONS } from '../../../support/filter-row.js';
import { ONE_TOO_MANY } from '../fault-injection.js';
import { filterIdOf, labelIdOf } from './aliases.js';
import { LABEL_ID, NO_ID, READ_ID, type Step, UNREAD_ID } from './endpoint-case.js';

const FURTHER = {
  ...{ toContains: 'a', ccContains: 'b', headerName: 'X-C', headerContains: 'c', listId: 'd', matches: '^e' },
  ...{ minSizeBytes: 1, maxSizeBytes: 2_000_000_000_000, stop: true },
};

export function labelFilterCases(): readonly Step[] {
  const [emailId, otherId] = [READ_ID, NO_ID];
  const [first, second] = [labelIdOf(1), labelIdOf(2)];
  const L = '/api/labels';
  const F = '/api/filters';
  const work = { name: '  Work/Café ', color: '#A1b2C3', sortOrder: -1, other: 1 };
  const rule = { name: ' Bills ', isEnabled: true, priority: 1, subjectContains: 'subject' };
  const badName = (name: unknown): Step => ({
    route: `POST ${L}`,
    json: { ...work, name },
    status: 400,
    fields: ['name'],
  });
  const label = `${L}/{id}`;
  const onEmail = `${L}/emails/{emailId}`;
  const offEmail = `${onEmail}/{labelId}`;
  const filter = `${F}/{id}`;
  return [
    {
      route: `GET ${L}`,
      status: 200,
      check: (t, body) => t.like(body, [{ id: LABEL_ID, name: 'Paid', emailCount: 1 }]),
    },
    {
      route: `POST ${L}`,
      json: work,
      status: 201,
      check: (t, body) =>
        t.deepEqual(body, {
          id: first,
          name: 'Work/Café',
          color: '#A1b2C3',
          sortOrder: -1,
          emailCount: 0,
          createdAt: body.createdAt,
        }),
    },
    badName('Work\n'),
    badName('\tWork'),
    { route: `POST ${L}`, json: { ...work, name: 'x'.repeat(100) }, status: 201 },
    { route: `POST ${L}`, json: {}, status: 400, fields: ['name', 'color', 'sortOrder'] },
    {
      route: `POST ${L}`,
      json: { ...work, color: 'red', sortOrder: 1.5 },
      status: 400,
      fields: ['color', 'sortOrder'],
    },
    { route: `POST ${L}`, json: { ...work, sortOrder: 2 ** 31 }, status: 400, fields: ['sortOrder'] },
    badName('Work/Cafe\u0301'),
    badName(' Work / Café\u00a0'),
    ...[
      '',
      '   ',
      'x'.repeat(101),
      'a\r\nb',
      'a\u0000',
      'INBOX',
      ' sent ',
      'a//b',
      'a/'.repeat(20).concat('a'),
      '/a',
      '\ud800',
      ONE_TOO_MANY,
      7,
      null,
    ].map(badName),
    { route: `PUT ${label}`, path: `${L}/${first}`, json: { ...work, name: 'Home' }, status: 204 },
    {
      route: `PUT ${label}`,
      path: `${L}/${second}`,
      json: { ...work, name: 'Home' },
      status: 400,
      fields: ['name'],
    },
    {
      route: `PUT ${label}`,
      path: `${L}/${second}`,
      json: { name: 'Trash' },
      status: 400,
      fields: ['name', 'color', 'sortOrder'],
    },
    { route: `PUT ${label}`, path: `${L}/${otherId}`, json: work, status: 404 },
    { route: `PUT ${label}`, path: `${L}/x`, json: work, status: 404 },
    {
      route: `POST ${onEmail}`,
      path: `${L}/emails/${emailId}`,
      json: { labelId: first.toUpperCase() },
      status: 204,
    },
    { route: `POST ${onEmail}`, path: `${L}/emails/${emailId}`, json: { labelId: first }, status: 204 },
    { route: `POST ${onEmail}`, path: `${L}/emails/${emailId}`, json: {}, status: 400, fields: ['labelId'] },
    {
      route: `POST ${onEmail}`,
      path: `${L}/emails/${emailId}`,
      json: { labelId: 1 },
      status: 400,
      fields: ['labelId'],
    },
    { route: `POST ${onEmail}`, path: `${L}/emails/${emailId}`, json: { labelId: otherId }, status: 404 },
    { route: `POST ${onEmail}`, path: `${L}/emails/${emailId}`, json: { labelId: 'x' }, status: 404 },
    { route: `POST ${onEmail}`, path: `${L}/emails/${otherId}`, json: { labelId: first }, status: 404 },
    { route: `POST ${onEmail}`, path: `${L}/emails/x`, json: { labelId: first }, status: 404 },
    {
      route: `GET ${L}/{labelId}/emails`,
      path: `${L}/${first}/emails`,
      status: 200,
      check: (t, body) => t.deepEqual([body.totalCount, body.items[0].id], [1, emailId]),
    },
    {
      route: `GET ${L}/{labelId}/emails`,
      path: `${L}/${first}/emails?pageSize=1`,
      status: 200,
      check: (t, body) => t.is(body.items.length, 1),
    },
    { route: `GET ${L}/{labelId}/emails`, path: `${L}/${first}/emails?page=0`, status: 400, fields: ['page'] },
    { route: `GET ${L}/{labelId}/emails`, path: `${L}/${otherId}/emails`, status: 404 },
    { route: `GET ${L}/{labelId}/emails`, path: `${L}/x/emails`, status: 404 },
    { route: `DELETE ${offEmail}`, path: `${L}/emails/${emailId}/${first}`, status: 204 },
    { route: `DELETE ${offEmail}`, path: `${L}/emails/${emailId}/${otherId}`, status: 404 },
    { route: `DELETE ${offEmail}`, path: `${L}/emails/${otherId}/${first}`, status: 404 },
    { route: `DELETE ${offEmail}`, path: `${L}/emails/${emailId}/x`, status: 404 },
    { route: `GET ${F}`, status: 200, check: (t, body) => t.deepEqual(body, []) },
    {
      route: `POST ${F}`,
      json: { ...rule, fromAddressContains: ' ', bodyContains: '', assignLabelId: first.toUpperCase(), other: 1 },
      status: 201,
      check: (t, body) =>
        t.deepEqual(body, {
          id: filterIdOf(1),
          name: 'Bills',
          isEnabled: true,
          priority: 1,
          ...NO_CONDITIONS,
          ...NO_ACTIONS,
          subjectContains: 'subject',
          assignLabelId: first,
          disabledReason: null,
          createdAt: body.createdAt,
          updatedAt: body.createdAt,
          lastAppliedAt: null,
          timesApplied: 0,
          assignLabelName: 'Home',
          assignLabelColor: '#A1b2C3',
          moveToFolderName: null,
        }),
    },
    { route: `POST ${F}`, json: {}, status: 400, fields: ['name', 'isEnabled', 'priority'] },
    { route: `POST ${F}`, json: { ...rule, subjectContains: null }, status: 400, fields: ['conditions'] },
    { route: `POST ${F}`, json: { ...rule, subjectContains: ' ' }, status: 400, fields: ['conditions'] },
    { route: `POST ${F}`, json: { ...rule, subjectContains: null, hasAttachments: false }, status: 201 },
    { route: `POST ${F}`, json: { ...rule, assignLabelId: otherId }, status: 400, fields: ['assignLabelId'] },
    { route: `POST ${F}`, json: { ...rule, assignLabelId: 'x' }, status: 400, fields: ['assignLabelId'] },
    {
      route: `POST ${F}`,
      json: {
        ...rule,
        name: ' ',
        priority: '1',
        subjectContains: 1,
        bodyContains: 'x'.repeat(501),
        delete: 'no',
        markAsRead: 1,
      },
      status: 400,
      fields: ['name', 'priority', 'subjectContains', 'bodyContains', 'delete', 'markAsRead'],
    },
    {
      route: `POST ${F}`,
      json: { ...rule, subjectContains: 'a\u0000' },
      status: 400,
      fields: ['subjectContains'],
    },
    ...['Bills\n', 'Bi\u0000lls', '\u001b[31mBills', 'Bi\u2028lls', 'x'.repeat(201), '  '].map((name) => ({
      route: `POST ${F}`,
      json: { ...rule, name },
      status: 400,
      fields: ['name'],
    })),
    { route: `POST ${F}`, json: { ...rule, name: ONE_TOO_MANY }, status: 400, fields: ['name'] },
    { route: `POST ${F}`, json: { ...rule, matches: '(' }, status: 400, fields: ['matches'] },
    { route: `POST ${F}`, json: { ...rule, matches: 'a{1,1000}' }, status: 400, fields: ['matches'] },
    { route: `POST ${F}`, json: { ...rule, matches: 'x'.repeat(301) }, status: 400, fields: ['matches'] },
    { route: `POST ${F}`, json: { ...rule, headerContains: 'high' }, status: 400, fields: ['headerName'] },
    { route: `POST ${F}`, json: { ...rule, moveToFolderId: 'drafts' }, status: 400, fields: ['moveToFolderId'] },
    { route: `POST ${F}`, json: { ...rule, moveToFolderId: otherId }, status: 400, fields: ['moveToFolderId'] },
    {
      route: `POST ${F}`,
      json: { ...rule, headerName: 'X Priority', minSizeBytes: -1, maxSizeBytes: 1.5, flag: '\\Seen', stop: 1 },
      status: 400,
      fields: ['headerName', 'minSizeBytes', 'maxSizeBytes', 'flag', 'stop'],
    },
    { route: `PUT ${filter}`, path: `${F}/${filterIdOf(1)}`, json: { ...rule, isEnabled: false }, status: 204 },
    {
      route: `GET ${F}`,
      status: 200,
      check: (t, body) =>
        t.like(body[0], { isEnabled: false, assignLabelId: null, assignLabelName: null, assignLabelColor: null }),
    },
    {
      route: `PUT ${filter}`,
      path: `${F}/${filterIdOf(1)}`,
      json: { ...rule, subjectContains: '' },
      status: 400,
      fields: ['conditions'],
    },
    {
      route: `PUT ${filter}`,
      path: `${F}/${filterIdOf(1)}`,
      json: { ...rule, assignLabelId: otherId },
      status: 400,
      fields: ['assignLabelId'],
    },
    { route: `PUT ${filter}`, path: `${F}/${otherId}`, json: rule, status: 404 },
    { route: `PUT ${filter}`, path: `${F}/x`, json: rule, status: 404 },
    {
      route: `POST ${filter}/test`,
      path: `${F}/${filterIdOf(1)}/test`,
      status: 200,
      check: (t, body) => t.deepEqual(body, { matchCount: 1, matchedEmailIds: [UNREAD_ID], untestedCount: 0 }),
    },
    {
      route: `POST ${filter}/test`,
      path: `${F}/${filterIdOf(1)}/test?limit=1`,
      status: 200,
      check: (t, body) => t.deepEqual(body, { matchCount: 1, matchedEmailIds: [UNREAD_ID], untestedCount: 0 }),
    },
    { route: `POST ${filter}/test`, path: `${F}/${filterIdOf(1)}/test?limit=100000`, status: 200 },
    {
      route: `POST ${filter}/test`,
      path: `${F}/${filterIdOf(1)}/test?limit=0`,
      status: 400,
      fields: ['limit'],
    },
    { route: `POST ${filter}/test`, path: `${F}/${otherId}/test`, status: 404 },
    { route: `POST ${filter}/test`, path: `${F}/x/test`, status: 404 },
    {
      route: `POST ${F}/test`,
      json: { subjectContains: 'subject', bodyContains: ' ', other: 1 },
      status: 200,
      check: (t, body) => t.deepEqual(body, { matchCount: 1, matchedEmailIds: [UNREAD_ID], untestedCount: 0 }),
    },
    {
      route: `POST ${F}/test`,
      path: `${F}/test?limit=1`,
      json: { subjectContains: 'no such subject' },
      status: 200,
      check: (t, body) => t.deepEqual(body, { matchCount: 0, matchedEmailIds: [], untestedCount: 0 }),
    },
    { route: `POST ${F}/test`, json: { subjectContains: ' ' }, status: 400, fields: ['conditions'] },
    {
      route: `POST ${F}/test`,
      json: { subjectContains: 1, hasAttachments: 'no' },
      status: 400,
      fields: ['subjectContains', 'hasAttachments'],
    },
    { route: `POST ${F}/test`, path: `${F}/test?limit=0`, json: rule, status: 400, fields: ['limit'] },
    {
      route: `PUT ${filter}`,
      path: `${F}/${filterIdOf(1)}`,
      json: { ...rule, ...FURTHER, moveToFolderId: 'Archive', flag: true },
      status: 204,
    },
    {
      route: `GET ${F}`,
      status: 200,
      check: (t, body) => t.like(body[0], { ...FURTHER, flag: true, moveToFolderName: 'Archive', isEnabled: true }),
    },
    {
      route: `POST ${F}/test`,
      json: { matches: '^SUBJ', minSizeBytes: 1, toContains: '' },
      status: 200,
      check: (t, body) => t.deepEqual(body, { matchCount: 1, matchedEmailIds: [UNREAD_ID], untestedCount: 0 }),
    },
    {
      route: `POST ${F}/test`,
      json: { toContains: 'nobody' },
      status: 200,
      check: (t, body) => t.is(body.matchCount, 0),
    },
    { route: `DELETE ${filter}`, path: `${F}/${filterIdOf(1)}`, status: 204 },
    { route: `DELETE ${filter}`, path: `${F}/${filterIdOf(1)}`, status: 404 },
    { route: `DELETE ${filter}`, path: `${F}/x`, status: 404 },
    { route: `DELETE ${label}`, path: `${L}/${first}`, status: 204 },
    { route: `DELETE ${label}`, path: `${L}/${first}`, status: 404 },
    { route: `DELETE ${label}`, path: `${L}/x`, status: 404 },
  ];
}
