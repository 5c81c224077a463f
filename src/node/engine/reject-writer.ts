// Writes what the sender of mail is told that a script has refused (RFC 5429): the MX has taken the message, so it is a notification, and
// never one to the null sender, to lists, to robots, or to a sender that somebody else has forged.
import type { WriteMail } from '../../actors/mailbox/background/automatic-mail.js';
import { rejectionOf } from '../../actors/mailbox/sieve/script-replies.js';
import { MessageHeader } from '../../mail-format/header/message-header.js';
import { notAnswered } from '../../mail-format/reports/automatic-reply.js';
import { writeDsn } from '../../mail-format/reports/dsn.js';
import { writeMdn } from '../../mail-format/reports/mdn.js';
import { summarize } from '../../mail-format/summary.js';
import { mxResults } from './mx-results.js';
import type { VacationWriterOptions } from './vacation-writer.js';

const MOST_HEADER_OCTETS = 256 * 1024;
/** The octets of the header that a DSN returns. */
const RETURNED_OCTETS = 32 * 1024;

export type RejectWriterOptions = Pick<VacationWriterOptions, 'blobs' | 'account' | 'hostname' | 'newId' | 'now'>;

export function rejectWriter({ blobs, account, hostname, newId, now }: RejectWriterOptions): WriteMail {
  return async (accountId, due) => {
    const { blob, sender, receivedAt } = due;
    const [index, found] = await Promise.all([blobs.index(blob), account(accountId)]);
    const rejection = rejectionOf(due);
    if (index === undefined || found === undefined || rejection === undefined)
      return { skip: 'the message or its account does not exist' };
    const octets = Buffer.from(await blobs.read(blob, 0, Math.min(index.root.bodyStart, MOST_HEADER_OCTETS)));
    const { start, isForged } = mxResults(octets, due, hostname);
    if (isForged) return { skip: 'the sender is forged' };
    const header = new MessageHeader(index, octets);
    const { fromAddress: author, subject, messageId, references } = summarize(index, sender);
    const recipient = due.recipient ?? found.email;
    const about = { sender, recipient, author, subject, messageId, references };
    const none = notAnswered({ ...about, values: (name) => header.values(name) }, [found.email]);
    if (none !== undefined) return { skip: `no rejection: ${none}` };
    const common = { hostname, id: newId(), now: now() };
    const { command, reason } = rejection;
    if (command === 'reject')
      return told(writeMdn({ ...common, from: recipient, to: sender, subject, messageId, reason }), sender);
    const reported = { address: recipient, orcpt: null, statusCode: '5.7.1', text: reason, host: null };
    const dsn = writeDsn({
      ...common,
      kind: 'failed',
      envid: null,
      email: {
        ...{ sender, subject, messageId, references, createdAt: receivedAt, content: null },
        header: octets.subarray(start, start + RETURNED_OCTETS),
      },
      recipients: [{ ...reported, attemptedAt: receivedAt }],
      delivered: [],
      retriedUntil: null,
    });
    return told(dsn, sender);
  };
}

const told = (message: Uint8Array, to: string) => ({ message, sender: '', to: [to], reportTo: null });
