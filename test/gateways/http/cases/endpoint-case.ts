// Defines a case (what is asked of a route and how it must reply), the stored mail, and the ids that cases share.
import type { ExecutionContext } from 'ava';
import { attachmentId } from '../../../../src/gateways/http/routes/emails/email-detail.js';
import { ALICE, BOB, type Scopes } from '../fakes.js';
import { injectFaults } from '../fault-injection.js';
import type { Gateway } from '../gateway.js';
import { addLabel, addMail, THREAD_ID } from '../mail-fixture.js';
import type { Document } from '../schema-check.js';

export const READ_ID = '018f0000-0000-7000-8000-000000000001';
export const UNREAD_ID = '018f0000-0000-7000-8000-000000000002';
export const SENT_ID = '018f0000-0000-7000-8000-000000000003';
export const BOBS_ID = '018f0000-0000-7000-8000-000000000004';
export const NO_ID = '018f0000-0000-7000-8000-0000000000cc';
export { THREAD_ID };
/** The read email has this label. */
export const LABEL_ID = '018f0000-0000-7000-8000-0000000000ee';
export const BOBS_THREAD_ID = '018f0000-0000-7000-8000-0000000000fe';
/** This is the second part of the read email. */
export const PDF_ID = attachmentId(READ_ID, '2');
export const PDF = Buffer.from('%PDF-1.4 not really\n'.repeat(5000));

/** The routes of emails are mounted at both paths. */
export const BASES = ['/api/emails', '/api/external/emails'];

export interface Case {
  /** The path to ask; absent: the path of the route with ids of records that exist. */
  readonly path?: string;
  /** Scopes of the key; absent: `app`; `service` is a service-wide internal key. */
  readonly as?: readonly (Scopes[number] | 'service')[];
  readonly json?: unknown;
  /** A body of type `text/xml`. */
  readonly xml?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** The reply is a page for people, with any status. */
  readonly isPage?: boolean;
  /** The reply does not end by itself, so only its head is read. */
  readonly isEndless?: boolean;
  /** Fields that a 400 names, in any order. */
  readonly fields?: readonly string[];
  /** Prepares Alice's mailbox before the request. */
  readonly before?: (mailboxes: Gateway['mailboxes']) => Promise<void>;
  readonly check?: (t: ExecutionContext, body: Document, response: Response) => void;
}

/** A case with its route, `METHOD path`. */
export interface Step extends Case {
  readonly route: string;
}

export const stepsOf = (cases: Readonly<Record<string, readonly Case[]>>): readonly Step[] =>
  Object.entries(cases).flatMap(([route, of]) => of.map((one) => ({ ...one, route })));

export function fill(gateway: Gateway): void {
  const { mailboxes, blobs } = gateway;
  injectFaults(mailboxes);
  addLabel(mailboxes, ALICE, { id: LABEL_ID, name: 'Paid', color: '#aabbcc' });
  addMail(mailboxes, blobs, ALICE, {
    id: READ_ID,
    isRead: true,
    labels: [LABEL_ID],
    subject: 'Grüße\r\nX-Evil: 1 "quoted" / path',
    text: 'Body text.\r\n',
    cc: [
      { name: 'A group', address: '' },
      { name: '', address: 'cc@remote.test' },
    ],
    references: ['<a@remote.test>', '<b@remote.test>'],
    attachments: [
      { fileName: 'résumé "1".pdf', contentType: 'application/pdf', content: PDF },
      { fileName: 'plain.txt', contentType: 'text/html\r\nX-Evil: 1', content: Buffer.from('hi') },
      { fileName: 'empty.bin', contentType: 'application/octet-stream', content: Buffer.alloc(0) },
      { fileName: 'liar.bin', contentType: 'application/octet-stream', content: PDF, claimedSize: PDF.length + 1 },
      { fileName: 'liar2.bin', contentType: 'application/octet-stream', content: PDF, claimedSize: PDF.length - 1 },
    ],
  });
  addMail(mailboxes, blobs, ALICE, { id: UNREAD_ID, messageId: null, truncated: ['parts'] });
  addMail(mailboxes, blobs, ALICE, { id: SENT_ID, folder: 'sent', from: 'alice@example.test' });
  addMail(mailboxes, blobs, BOB, { id: BOBS_ID, threadId: BOBS_THREAD_ID });
}
