// Says what the routes of outbound mail reply, case by case, in the order in which endpoints.test.ts runs them. The messages that
// they compose are tested in outbound.test.ts.
import { outboundIdOf } from './aliases.js';
import { drafts } from './draft-cases.js';
import { BOBS_ID, NO_ID, READ_ID, type Step, UNREAD_ID } from './endpoint-case.js';
import { bob, O } from './outbound-request.js';
import { sends } from './sending-cases.js';
import { SUPPRESSIONS } from './suppression-cases.js';

const answer = (id: string, json: object, status: number, ...fields: readonly string[]): Step => ({
  route: `POST ${O}/reply/{emailId}`,
  path: `${O}/reply/${id}`,
  json,
  status,
  ...(fields.length > 0 && { fields }),
});

const pass = (id: string, json: object, status: number, ...fields: readonly string[]): Step => ({
  ...answer(id, json, status, ...fields),
  route: `POST ${O}/forward/{emailId}`,
  path: `${O}/forward/${id}`,
});

/** Id of an attachment that the previous step has read. */
let forwardedFile = '';

const answers: readonly Step[] = [
  answer(READ_ID, { textBody: 'Thanks' }, 200),
  answer(READ_ID.toUpperCase(), { htmlBody: '<p>Thanks', replyAll: null }, 200),
  answer(UNREAD_ID, { textBody: 'Thanks', replyAll: true }, 200),
  answer(READ_ID, {}, 400, 'textBody', 'htmlBody'),
  answer(READ_ID, { textBody: '', replyAll: 'yes' }, 400, 'replyAll'),
  answer(NO_ID, { textBody: 'Thanks' }, 404),
  answer(BOBS_ID, { textBody: 'Thanks' }, 404),
  answer('x', { textBody: 'Thanks' }, 404),
  pass(READ_ID, { textBody: 'Look', recipients: [bob] }, 200),
  pass(UNREAD_ID, { recipients: [bob] }, 200),
  pass(READ_ID, { textBody: 'Look' }, 400, 'recipients'),
  pass(READ_ID, { recipients: [] }, 400, 'recipients'),
  pass(READ_ID, { recipients: [{ ...bob, address: '@' }] }, 400, 'recipients[0].address'),
  pass(BOBS_ID, { recipients: [bob] }, 404),
  // This is the first forwarded email; outbound-attachments.test.ts has the other cases of attachments.
  {
    route: `GET ${O}/{id}`,
    path: `${O}/${outboundIdOf(12)}`,
    status: 200,
    check: (t, body) => {
      forwardedFile = body.attachments[0].id;
      t.truthy(forwardedFile);
    },
  },
  {
    route: `GET ${O}/{id}/attachments/{attachmentId}`,
    get path() {
      return `${O}/${outboundIdOf(12)}/attachments/${forwardedFile}`;
    },
    status: 200,
  },
];

export const OUTBOUND: readonly Step[] = [...sends, ...drafts, ...answers, ...SUPPRESSIONS];
