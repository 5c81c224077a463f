// Gives tests of outbound mail a message to send, originals to reply to, and the message that a route has composed.
import type { ExecutionContext } from 'ava';
import { type ParsedMail, simpleParser } from 'mailparser';
import { ALICE } from '../../fakes.js';
import type { Gateway } from '../../gateway.js';
import { addRawMail } from '../../mail-fixture.js';
import { lastQueued } from '../../queued-message.js';

export const ID = '018f0000-0000-7000-8000-000000000001';
export const OTHER_ID = '018f0000-0000-7000-8000-000000000002';
export const BOB = { address: 'bob@remote.test', displayName: 'Bob', type: 'To' };
export const MAIL = { fromAddress: 'alice@example.test', subject: 'Hi', textBody: 'Hello', recipients: [BOB] };

/** Adds an email of Alice's whose blob has these octets. */
export function receive(gateway: Gateway, raw: string | Buffer, id = ID): Buffer {
  const octets = Buffer.from(raw as string, 'latin1');
  addRawMail(gateway.mailboxes, gateway.blobs, ALICE, { id }, octets);
  return octets;
}

interface Sent {
  readonly asked: ReturnType<typeof lastQueued>;
  readonly octets: Buffer;
  readonly mail: ParsedMail;
}

export async function post(t: ExecutionContext, gateway: Gateway, path: string, json: unknown): Promise<Sent> {
  const response = await gateway.fetch(`/api/outbound/${path}`, { method: 'POST', json });
  t.is(response.status, 200, await response.text());
  const asked = lastQueued(gateway);
  const octets = Buffer.from(gateway.blobs.blobs.get(asked.blob)!.bytes);
  t.is(gateway.spool.memory.used, 0);
  t.is(asked.summary.size, octets.length);
  return { asked, octets, mail: await simpleParser(octets, { skipTextToHtml: true, skipHtmlToText: true }) };
}

export const text = (mail: ParsedMail): string => (mail.text ?? '').replace(/\n$/, '');
