// Returns the message that a gateway queued last, as `enqueue` has it: the commit stores an inline message, so its
// command names no blob, and the row does.
import type { MailboxProtocol } from '../../../src/actors/mailbox/protocol.js';
import type { Payload } from '../../../src/actors/runtime/protocol.js';
import { summarize } from '../../../src/mail-format/summary.js';
import { ALICE } from './fakes.js';
import type { Gateway } from './gateway.js';

type Queued = Extract<Payload<MailboxProtocol, 'enqueue'>, { blob: string }>;

export function lastQueued({ mailboxes, blobs }: Gateway): Queued {
  const payload = mailboxes.asked.findLast(({ name }) => name === 'enqueue')!.payload as Payload<
    MailboxProtocol,
    'enqueue'
  >;
  if ('blob' in payload) return payload;
  const { inlineId: _inlineId, ...outgoing } = payload;
  const { outbound } = mailboxes.account(ALICE);
  const { row } = outgoing.draft === null ? [...outbound.values()].at(-1)! : outbound.get(outgoing.draft.id)!;
  return { ...outgoing, blob: row.blob!, summary: summarize(blobs.blobs.get(row.blob!)!.index) };
}
