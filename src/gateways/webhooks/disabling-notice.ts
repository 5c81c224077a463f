// The email that an account gets when the server has disabled a webhook: it names the webhook, the reason and the next steps. It is
// accepted like other mail, so the owner of the mailbox places it, and filters apply.
import { foldText } from '../../mail-format/reports/report-text.js';
import { writeServerMail } from '../../mail-format/reports/server-mail.js';
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
  return writeServerMail({
    name: ['Mail', 'Server'],
    from: `postmaster@${hostname}`,
    ...{ to: address, subject: `Webhook disabled: ${new URL(url).host}`, hostname, id, now, isPlaced: true },
    paragraphs: [
      foldText('A webhook of your account gets no more events. The mail server has disabled the webhook.'),
      `${foldText(`Webhook: ${webhookId}`)}${CRLF}${foldText(`URL: ${url}`)}${CRLF}${foldText(`Reason: ${reason}`)}`,
      foldText(
        'Events are kept for 30 days. Once the receiver works again, enable the webhook (PUT /api/webhooks/{id}): it goes on after the last event that it has got.',
      ),
    ],
  });
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
