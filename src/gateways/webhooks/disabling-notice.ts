// The email that an account gets when the server has disabled a webhook: it names the webhook, the reason and the next steps. It is
// accepted like other mail, so the owner of the mailbox places it, and filters apply.
import { encodeWords, field, foldText, phraseDate, sanitizedLine } from '../../mail-format/reports/report-text.js';
import { summarize } from '../../mail-format/summary.js';
import { blobOf } from '../../store/blobs.js';
import type { InboundStore } from '../../store/inbound.js';

const CRLF = '\r\n';

export interface DisablingNotice {
  /** The address of the account. */
  readonly address: string;
  readonly webhookId: string;
  readonly url: string;
  readonly reason: string;
}

/** `id`: a UUID; `now`: ms since the epoch. Parts of the reason come from the receiver. */
export function writeDisablingNotice(
  { address, webhookId, url, reason }: DisablingNotice,
  { hostname, id, now }: { readonly hostname: string; readonly id: string; readonly now: number },
): Uint8Array {
  const host = sanitizedLine(hostname);
  const header = [
    field('Return-Path', ['<>']),
    field('From', ['Mail', 'Server', `<postmaster@${host}>`]),
    field('To', [`<${sanitizedLine(address)}>`]),
    field('Subject', encodeWords(`Webhook disabled: ${new URL(url).host}`)),
    field('Date', [phraseDate(now)]),
    field('Message-ID', [`<${id}@${host}>`]),
    field('Auto-Submitted', ['auto-generated']),
    field('MIME-Version', ['1.0']),
    field('Content-Type', ['text/plain;', 'charset=utf-8']),
    field('Content-Transfer-Encoding', ['8bit']),
  ].join('');
  const paragraphs = [
    foldText('A webhook of your account gets no more events. The mail server has disabled the webhook.'),
    `${foldText(`Webhook: ${webhookId}`)}${CRLF}${foldText(`URL: ${url}`)}${CRLF}${foldText(`Reason: ${reason}`)}`,
    foldText(
      'Events are kept for 30 days. Once the receiver works again, enable the webhook (PUT /api/webhooks/{id}): it goes on after the last event that it has got.',
    ),
  ];
  return Buffer.from(`${header}${CRLF}${paragraphs.join(CRLF + CRLF)}${CRLF}`);
}

/** Commits the email; its mailbox has it seconds later. @throws StoreFault */
export async function acceptNotice(
  inbound: Pick<InboundStore, 'spool'>,
  accountId: string,
  { message, id, now }: { readonly message: Uint8Array; readonly id: string; readonly now: number },
): Promise<void> {
  const content = blobOf(message);
  const summary = summarize(content.index, '');
  await inbound.spool(content, { receivedAt: now, summary }, [{ accountId, id }]);
}
