// Queues messages that the server writes for an account: as the account's outbound email with the null sender, so nobody is told when it
// fails (RFC 5321 §4.5.5), and without a copy in Sent.
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import { ActorFault } from '../../actors/runtime/errors.js';
import { parseAddress } from '../../mail-format/address.js';
import { summarize } from '../../mail-format/summary.js';
import { type BlobStore, blobOf } from '../../store/blobs.js';

const DEADLINE_MS = 10_000;

export function automaticMail(blobs: Pick<BlobStore, 'put'>, mailboxes: Mailboxes) {
  /** `id`: a UUID; a message with the id of a recent one is not sent again. @throws StoreFault, ActorFault */
  return async (
    accountId: string,
    { message, to, id }: { readonly message: Uint8Array; readonly to: string; readonly id?: string },
  ) => {
    const content = blobOf(message);
    await blobs.put(content);
    const { domain = '' } = parseAddress(to) ?? {};
    const outgoing = {
      blob: content.hash,
      summary: summarize(content.index),
      draft: null,
      sender: '',
      content: null,
      isAutomatic: true,
      recipients: [{ address: to, displayName: null, type: 'To' as const, domain }],
    };
    const { refusal } = await mailboxes.of(accountId).ask('enqueue', outgoing, {
      deadlineMs: DEADLINE_MS,
      ...(id !== undefined && { id }),
    });
    // Other refusals exist for drafts only.
    if (refusal !== undefined) throw new ActorFault('failed', `a message of the server was refused: ${refusal}`);
  };
}
