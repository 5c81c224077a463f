// Gives tests of attachments files to attach, a gateway that counts open spool files, and what was sent.
import type { ExecutionContext } from 'ava';
import { type ParsedMail, simpleParser } from 'mailparser';
import type { MailboxProtocol } from '../../../../../src/actors/mailbox/protocol.js';
import type { Payload } from '../../../../../src/actors/runtime/protocol.js';
import { type Gateway, startGateway } from '../../gateway.js';
import { lastQueued } from '../../queued-message.js';

export const OCTETS = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * i + (i >> 8)) & 0xff));
export const PDF = { fileName: 'Zoë 💌.pdf', contentType: 'application/pdf', content: OCTETS.toString('base64') };
export const LOGO = {
  fileName: 'logo.png',
  contentType: 'image/png',
  content: Buffer.from('PNG').toString('base64'),
  contentId: '<logo@example.test>',
};

interface Attachment {
  readonly id: string;
  readonly fileName: string;
  readonly contentType: string;
  readonly size: number;
  readonly sizeBytes: number;
  readonly contentId?: string;
}
export interface Shown {
  readonly id: string;
  readonly attachments: readonly Attachment[];
  readonly textBody: string | null;
}

/** Starts a gateway that counts open spool files. */
export async function start(t: ExecutionContext, options: Parameters<typeof startGateway>[1] = {}) {
  const gateway = await startGateway(t, options);
  const files = { made: 0, open: 0 };
  const file = gateway.spool.file.bind(gateway.spool);
  gateway.spool.file = async () => {
    const made = await file();
    const close = made.close.bind(made);
    files.made++;
    files.open++;
    made.close = () => {
      files.open--;
      return close();
    };
    return made;
  };
  return { ...gateway, files };
}

export async function post<T = Shown>(
  t: ExecutionContext,
  gateway: Gateway,
  path: string,
  json: unknown,
  status = 200,
) {
  const response = await gateway.fetch(`/api/outbound/${path}`, { method: 'POST', json });
  t.is(response.status, status, await response.clone().text());
  return (await response.json()) as T;
}

export async function parsed(gateway: Gateway, blob: string): Promise<ParsedMail & { readonly raw: string }> {
  const octets = Buffer.from(gateway.blobs.blobs.get(blob)!.bytes);
  return { ...(await simpleParser(octets)), raw: octets.toString('latin1') };
}

export const payloadOf = <N extends 'createDraft' | 'updateDraft'>(gateway: Gateway, name: N) =>
  gateway.mailboxes.asked.findLast((one) => one.name === name)!.payload as Payload<MailboxProtocol, N>;

export const sentMail = (gateway: Gateway) => parsed(gateway, lastQueued(gateway).blob);

export async function download(
  t: ExecutionContext,
  gateway: Gateway,
  id: string,
  attachment: Attachment,
): Promise<Buffer> {
  const response = await gateway.fetch(`/api/outbound/${id}/attachments/${attachment.id}`);
  t.is(response.status, 200);
  t.is(response.headers.get('content-type'), attachment.contentType);
  t.is(response.headers.get('content-length'), String(attachment.size));
  t.is(response.headers.get('x-content-type-options'), 'nosniff');
  t.regex(response.headers.get('content-security-policy')!, /sandbox/);
  t.regex(response.headers.get('content-disposition')!, /^attachment; filename=/);
  return Buffer.from(await response.arrayBuffer());
}
