// The notices to a user and the operator that sending is limited or suspended: messages of plain text, from the system.
import { foldText } from './report-text.js';
import { writeServerMail } from './server-mail.js';

interface SendingNotice {
  readonly hostname: string;
  /** A random UUID, for the Message-ID. */
  readonly id: string;
  /** ms since the epoch. */
  readonly now: number;
  /** The address of the account. */
  readonly address: string;
}

/** Returns the message, with CRLF line ends. `limit`: a sentence about the limit. */
export function writeLimitNotice({ limit, ...notice }: SendingNotice & { readonly limit: string }): Uint8Array {
  return write(notice, 'A limit of recipients is reached', [
    `A message from ${notice.address} was not sent, because a limit is reached.`,
    limit,
    'Mail can be sent again as earlier mail gets older than that time. The operator of the server can raise the limit.',
    `If ${notice.address} has not sent this much mail, somebody else may be using the account: end its sessions, and revoke its API keys.`,
  ]);
}

/** Returns the message, with CRLF line ends. */
export function writeSuspensionNotice({ reason, ...notice }: SendingNotice & { readonly reason: string }): Uint8Array {
  return write(notice, 'Sending is suspended', [
    `No mail is sent from ${notice.address} any more: ${reason}.`,
    'Mail still arrives. Mail that was queued waits, and is sent when sending is resumed.',
    'If somebody else is using the account, end its sessions and revoke its API keys first.',
    'To resume sending, sign in to the web mail with a passkey, with the login provider or with a link from the operator, and choose to resume in the note about it. The operator can do it with: mansio account resume ADDRESS',
  ]);
}

function write(
  { hostname, id, now, address }: SendingNotice,
  subject: string,
  paragraphs: readonly string[],
): Uint8Array {
  return writeServerMail({
    name: ['Mail', 'System'],
    from: `mailer-daemon@${hostname}`,
    ...{ to: address, subject, hostname, id, now, isPlaced: true },
    paragraphs: paragraphs.map((text) => foldText(text)),
  });
}
