// The log lines of this gateway: one per accepted message and one per refused command or message, with the ids
// that lead to the store and the mailbox. No line contains contents of a message. Input of a peer appears only as JSON values,
// which pino escapes.
import type { Logger } from 'pino';
import type { SMTPServerSession } from 'smtp-server';
import type { Principal } from '../../actors/directory/protocol.js';
import { clock } from '../../store/clock.js';
import type { Acceptance } from './accept.js';
import { isBug } from './replies.js';
import type { Queued } from './submit.js';

export interface AcceptedMessage {
  /** The id of the transaction in the reply and in Received. */
  readonly transaction: string;
  readonly blob: string;
  readonly size: number;
  readonly sender: string;
  /** ms since the epoch. */
  readonly receivedAt: number;
  /** One result per method. */
  readonly authentication?: Readonly<Record<string, string>> | undefined;
  /** The content check that put the message into Junk. */
  readonly junkBy?: string | undefined;
}

export function logAccepted(
  log: Logger,
  session: SMTPServerSession,
  message: AcceptedMessage,
  { summary, deliveries }: Acceptance,
): void {
  const { transaction, blob, size, sender, receivedAt, authentication, junkBy } = message;
  const recipients = [];
  for (const { accountId, inboundId, address, emailId, fault } of deliveries) {
    recipients.push({ address, accountId, inboundId, emailId });
    if (fault === undefined) continue;
    const about = { transaction, accountId, inboundId, err: fault };
    if (isBug(fault)) log.error(about, 'delivery failed, left to the mailbox');
    else log.warn(about, 'delivery postponed');
  }
  const { remoteAddress, secure: tls } = session;
  const { messageId } = summary;
  const durationMs = clock.now() - receivedAt;
  const about = {
    transaction,
    blob,
    messageId,
    sender,
    remoteAddress,
    tls,
    size,
    recipients,
    authentication,
    junkBy,
    durationMs,
  };
  log.info(about, 'message accepted');
}

export function logQueued(
  log: Logger,
  { remoteAddress, secure: tls }: SMTPServerSession,
  { transaction, blob, size, sender, receivedAt }: AcceptedMessage,
  { id: outboundId, messageId, recipients }: Queued,
  { accountId, keyId }: Principal,
): void {
  const durationMs = clock.now() - receivedAt;
  const about = { transaction, accountId, outboundId, blob, messageId, sender, keyId, remoteAddress, tls };
  log.info({ ...about, size, recipients, durationMs }, 'submission queued');
}

/** `fault` is the error that was thrown, unless it was a refusal. */
export function logRefused(
  log: Logger,
  session: SMTPServerSession,
  about: Readonly<Record<string, unknown>>,
  reason: string,
  code: number,
  fault?: unknown,
): void {
  const line = { ...about, remoteAddress: session.remoteAddress, tls: session.secure, reason, code };
  if (fault === undefined) log.info(line, 'refused');
  else if (isBug(fault)) log.error({ ...line, err: fault }, 'refused');
  else log.warn({ ...line, err: fault }, 'refused');
}
