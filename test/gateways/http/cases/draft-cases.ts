// Says what the routes of drafts reply.
import { ONE_TOO_MANY, RESTLESS, RESTLESS_TWICE } from '../fault-injection.js';
import { outboundIdOf } from './aliases.js';
import { NO_ID, type Step } from './endpoint-case.js';
import { bob, D, mail, O } from './outbound-request.js';

const [first, second, third, fourth] = [5, 6, 7, 8].map(outboundIdOf);
const at = (id: string | undefined, rest = '') => ({ path: `${D}/${id}${rest}` });
const put = (json: object): Step => ({ route: `PUT ${D}/{id}`, ...at(second), json, status: 204 });
const unfit = (json: object, ...fields: readonly string[]): readonly Step[] => [
  put(json),
  { route: `POST ${D}/{id}/send`, ...at(second, '/send'), status: 400, fields },
];

export const drafts: readonly Step[] = [
  { route: `GET ${D}`, status: 200, check: (t, body) => t.is(body.totalCount, 0) },
  {
    route: `POST ${D}`,
    json: {},
    status: 201,
    check: (t, body) =>
      t.deepEqual(body, {
        id: first,
        fromAddress: 'alice@example.test',
        subject: '',
        textBody: null,
        htmlBody: null,
        recipients: [],
        attachments: [],
        replyTo: null,
        headers: [],
        createdAt: body.createdAt,
        updatedAt: body.createdAt,
      }),
  },
  {
    route: `POST ${D}`,
    json: { ...mail, fromAddress: 'sales@example.test', recipients: [bob, bob] },
    status: 201,
    check: (t, body) => {
      t.like(body, { id: second, fromAddress: 'sales@example.test', subject: 'Hi', textBody: 'Hello' });
      t.like(body.recipients, [{ address: 'bob@remote.test', displayName: 'Bob', type: 'To', status: 'Pending' }]);
    },
  },
  { route: `POST ${D}`, json: { ...mail, subject: ONE_TOO_MANY }, status: 400, fields: ['drafts'] },
  { route: `POST ${D}`, json: { fromAddress: 'bob@remote.test' }, status: 400, fields: ['fromAddress'] },
  { route: `POST ${D}`, json: { recipients: Array(101).fill(bob) }, status: 400, fields: ['recipients'] },
  {
    route: `POST ${D}`,
    json: { subject: 'a\nb', textBody: 1, recipients: [{ address: 'x', type: 'To' }] },
    status: 400,
    fields: ['subject', 'textBody', 'recipients[0].address'],
  },
  {
    route: `GET ${D}`,
    path: `${D}?pageSize=1`,
    status: 200,
    check: (t, body) =>
      t.deepEqual(body, {
        items: [
          {
            id: second,
            fromAddress: 'sales@example.test',
            subject: 'Hi',
            createdAt: body.items[0].createdAt,
            updatedAt: body.items[0].createdAt,
            to: [{ address: bob.address, displayName: bob.displayName }],
          },
        ],
        totalCount: 2,
        page: 1,
        pageSize: 1,
      }),
  },
  { route: `GET ${D}/{id}`, ...at(first), status: 200, check: (t, body) => t.is(body.id, first) },
  { route: `GET ${D}/{id}`, ...at(NO_ID), status: 404 },
  { route: `GET ${D}/{id}`, ...at(outboundIdOf(1)), status: 404 },
  { route: `GET ${O}/{id}`, path: `${O}/${first}`, status: 200, check: (t, body) => t.is(body.status, 'Draft') },
  {
    route: `GET ${O}/{id}/timeline`,
    path: `${O}/${first}/timeline`,
    status: 200,
    check: (t, body) => t.deepEqual(body, []),
  },
  put({ subject: 'New' }),
  {
    route: `GET ${D}/{id}`,
    ...at(second),
    status: 200,
    check: (t, body) =>
      t.like(body, { subject: 'New', textBody: null, recipients: [], fromAddress: 'alice@example.test' }),
  },
  { route: `PUT ${D}/{id}`, ...at(NO_ID), json: mail, status: 404 },
  { route: `PUT ${D}/{id}`, ...at(outboundIdOf(1)), json: mail, status: 404 },
  { route: `PUT ${D}/{id}`, ...at(second), json: { fromAddress: 'x@y.test' }, status: 400, fields: ['fromAddress'] },
  ...unfit({ ...mail, recipients: [] }, 'recipients'),
  ...unfit({ ...mail, subject: ' ' }, 'subject'),
  ...unfit({}, 'recipients', 'subject'),
  // docs/interface/mail.md, "Outbound email": it needs no body.
  put({ ...mail, textBody: '' }),
  {
    route: `POST ${D}/{id}/send`,
    ...at(second, '/send'),
    status: 200,
    check: (t, body) => t.deepEqual(body, { id: second, status: 'Queued', createdAt: body.createdAt }),
  },
  {
    route: `POST ${O}/{id}/retry`,
    path: `${O}/${first}/retry`,
    status: 200,
    check: (t, body) => t.deepEqual(body, { retried: false, status: 'Draft' }),
  },
  { route: `GET ${D}/{id}`, ...at(second), status: 404 },
  { route: `PUT ${D}/{id}`, ...at(second), json: mail, status: 404 },
  { route: `DELETE ${D}/{id}`, ...at(second), status: 404 },
  { route: `POST ${D}/{id}/send`, ...at(second, '/send'), status: 404 },
  { route: `GET ${O}/{id}`, path: `${O}/${second}`, status: 200, check: (t, body) => t.is(body.status, 'Queued') },
  { route: `POST ${D}`, json: { ...mail, subject: RESTLESS }, status: 201 },
  { route: `POST ${D}/{id}/send`, ...at(third, '/send'), status: 503 },
  { route: `POST ${D}`, json: { ...mail, subject: RESTLESS_TWICE }, status: 201 },
  // The creation of the draft has read it once, so its sending meets one edit.
  { route: `POST ${D}/{id}/send`, ...at(fourth, '/send'), status: 200 },
  { route: `DELETE ${D}/{id}`, ...at(first), status: 204 },
  { route: `DELETE ${D}/{id}`, ...at(first), status: 404 },
];
