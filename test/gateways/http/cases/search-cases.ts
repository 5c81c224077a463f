// Says how the routes of searches reply, by `METHOD path` below both bases of emails.
import { INBOX_ID, NO_FOLDER_ID } from '../mailboxes.js';
import type { Document } from '../schema-check.js';
import { type Case, LABEL_ID, NO_ID, READ_ID, SENT_ID, UNREAD_ID } from './endpoint-case.js';

export const SEARCH: Readonly<Record<string, readonly Case[]>> = {
  'GET /search': [
    {
      status: 200,
      check: (t, body) => {
        t.like(body, { totalCount: 3, unreadCount: 1, page: 1, pageSize: 20 });
        t.is(body.items.length, 3);
      },
    },
    { path: '/search?q=', status: 200, check: (t, body) => t.is(body.totalCount, 3) },
    { path: '/search?q=%20%20', status: 200, check: (t, body) => t.is(body.totalCount, 3) },
    { path: '/search?query=SUBJECT', status: 200, check: (t, body) => t.is(body.totalCount, 2) },
    {
      path: '/search?query=SUBJECT&q=x',
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors), ['query']),
    },
    { path: '/search?q=SUBJECT', status: 200, check: (t, body) => t.is(body.totalCount, 2) },
    { path: '/search?q=---', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    { path: "/search?q=a'&page=2&pageSize=1", status: 200, check: (t, body) => t.like(body, { page: 2, pageSize: 1 }) },
    { path: '/search?isRead=true', status: 200, check: (t, body) => t.like(body, { totalCount: 2, unreadCount: 0 }) },
    { path: '/search?isFlagged=true', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    // This email was moved out of Junk.
    { path: '/search?keyword=$NotJunk', status: 200, check: (t, body) => t.is(body.items[0].id, UNREAD_ID) },
    { path: '/search?keyword=$Junk', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    {
      path: '/search?keyword=a%20b&isFlagged=1',
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors).sort(), ['isFlagged', 'keyword']),
    },
    {
      path: '/search?from=sender&subject=gru&minSizeBytes=1000',
      status: 200,
      check: (t, body) => t.is(body.totalCount, 1),
    },
    { path: '/search?cc=sender&q=', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    { path: '/search?to=cc@remote', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    { path: '/search?from=---', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    { path: '/search?from=', status: 200, check: (t, body) => t.is(body.totalCount, 3) },
    { path: `/search?label=${LABEL_ID.toUpperCase()}`, status: 200, check: (t, body) => t.is(body.totalCount, 1) },
    { path: '/search?anywhere=true', status: 200, check: (t, body) => t.is(body.totalCount, 3) },
    {
      path: `/search?label=${LABEL_ID},${NO_ID}`,
      status: 400,
      check: (t, body) => t.deepEqual(Object.keys(body.errors), ['label']),
    },
    { path: `/search?label=${INBOX_ID}`, status: 400, fields: ['label'] },
    { path: '/search?anywhere=true&folder=inbox', status: 400, fields: ['anywhere'] },
    {
      path: '/search?label=paid&minSizeBytes=-1&anywhere=1',
      status: 400,
      fields: ['label', 'minSizeBytes', 'anywhere'],
    },
    {
      path: `/search?q=${'a+'.repeat(32)}&subject=${'b+'.repeat(33)}`,
      status: 400,
      check: (t, body) => t.deepEqual(body.errors, { q: ['must have at most 64 words'] }),
    },
    {
      path: `/search?to=${'a'.repeat(1001)}`,
      status: 400,
      check: (t, body) => t.deepEqual(body.errors, { to: ['must have at most 1000 characters'] }),
    },
    { path: '/search?hasAttachments=false', status: 200, check: (t, body) => t.is(body.totalCount, 2) },
    {
      path: '/search?fromDate=2026-01-02&toDate=2026-01-02',
      status: 200,
      check: (t, body) => t.is(body.totalCount, 3),
    },
    { path: '/search?toDate=2026-01-02T03:04:05', status: 200, check: (t, body) => t.is(body.totalCount, 0) },
    {
      path: '/search?fromDate=2026-01-03&toDate=2026-01-01',
      status: 200,
      check: (t, body) => t.is(body.totalCount, 0),
    },
    {
      path: '/search?fromDate=2026-02-30&toDate=x&isRead=1&hasAttachments=&page=0',
      status: 400,
      check: (t, body) =>
        t.deepEqual(Object.keys(body.errors).sort(), ['fromDate', 'hasAttachments', 'isRead', 'page', 'toDate']),
    },
    {
      path: `/search?q=${'a'.repeat(1001)}`,
      status: 400,
      check: (t, body) => t.deepEqual(body.errors, { q: ['must have at most 1000 characters'] }),
    },
    {
      path: `/search?q=${'a+'.repeat(65)}`,
      status: 400,
      check: (t, body) => t.deepEqual(body.errors, { q: ['must have at most 64 words'] }),
    },
  ],
  'GET /search/ids': [
    {
      status: 200,
      check: (t, body) => {
        t.is(body.totalCount, 3);
        const ids = body.groups.flatMap((group: Document) => group.emailIds);
        t.deepEqual(ids.toSorted(), [READ_ID, UNREAD_ID, SENT_ID].toSorted());
      },
    },
    {
      path: `/search/ids?label=${LABEL_ID}&isRead=true`,
      status: 200,
      check: (t, body) => {
        t.like(body, { totalCount: 1, groups: [{ emailIds: [READ_ID], isRead: true, isFlagged: false }] });
        t.true(body.groups[0].folderIds.includes(LABEL_ID));
      },
    },
    { path: '/search/ids?q=---', status: 200, check: (t, body) => t.deepEqual(body, { totalCount: 0, groups: [] }) },
    {
      path: `/search/ids?groupByThread=true&folder=inbox&rowsOf=${UNREAD_ID}`,
      status: 200,
      check: (t, body) => {
        const ids = body.groups.flatMap((group: Document) => group.emailIds);
        t.is(body.totalCount, 2);
        t.deepEqual(ids.toSorted(), [READ_ID, UNREAD_ID].toSorted());
        t.deepEqual(
          body.threads.map((row: number[]) => row.toSorted()),
          [[0, 1]],
        );
      },
    },
    { path: '/search/ids?groupByThread=true', status: 400, fields: ['groupByThread'] },
    { path: '/search/ids?groupByThread=true&folder=inbox&q=zoe', status: 400, fields: ['q'] },
    { path: `/search/ids?folder=inbox&rowsOf=${UNREAD_ID}`, status: 400, fields: ['rowsOf'] },
    { path: '/search/ids?groupByThread=true&folder=inbox&rowsOf=1', status: 400, fields: ['rowsOf'] },
    {
      path: `/search/ids?before=0-${READ_ID}`,
      status: 200,
      check: (t, body) => t.deepEqual(body, { totalCount: 0, groups: [] }),
    },
    { path: '/search/ids?before=now', status: 400, fields: ['before'] },
    {
      path: `/search/ids?groupByThread=true&folder=inbox&rowsOf=${UNREAD_ID}&before=0-${READ_ID}`,
      status: 400,
      fields: ['before'],
    },
    { path: '/search/ids?page=1', status: 400, fields: ['page'] },
    { path: `/search/ids?folder=${NO_FOLDER_ID}`, status: 400, fields: ['folder'] },
    { path: '/search/ids?anywhere=true&folder=inbox', status: 400, fields: ['anywhere'] },
  ],
};
