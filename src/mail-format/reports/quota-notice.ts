// The notices to a user whose mailbox is nearly full, and to the operator of a domain that is: messages of plain text, from the system.
import { foldText } from './report-text.js';
import { writeServerMail } from './server-mail.js';

interface Notice {
  readonly hostname: string;
  /** A random UUID, for the Message-ID. */
  readonly id: string;
  /** ms since the epoch. */
  readonly now: number;
  readonly used: { readonly bytes: number; readonly messages: number };
  /** null: no limit. */
  readonly limit: { readonly bytes: number | null; readonly messages: number | null };
}

export interface QuotaNotice extends Notice {
  /** The address of the account. */
  readonly address: string;
}

interface DomainQuotaNotice extends Notice {
  readonly domain: string;
}

const MIB = 1024 * 1024;

/** Returns the message, with CRLF line ends. */
export function writeQuotaNotice({ hostname, id, now, address, used, limit }: QuotaNotice): Uint8Array {
  const lines = [
    `The mailbox of ${address} uses more than 90 % of what it may use:`,
    ...resources(used, limit),
    'When it is full, mail to you is returned to its senders after some days, and you cannot save drafts or send mail.',
    'Delete mail that you no longer need, and empty the trash. Mail in the trash counts too.',
  ];
  return writeServerMail({
    name: ['Mail', 'System'],
    from: `mailer-daemon@${hostname}`,
    ...{ to: address, subject: 'Your mailbox is nearly full', hostname, id, now, isPlaced: true },
    paragraphs: lines.map((line) => foldText(line)),
  });
}

/** As `writeQuotaNotice`, for the postmaster of the domain. */
export function writeDomainQuotaNotice({ hostname, id, now, domain, used, limit }: DomainQuotaNotice): Uint8Array {
  const lines = [
    `The accounts of ${domain} together use more than 90 % of what the domain may use:`,
    ...resources(used, limit),
    'When it is full, mail to all of them is returned to its senders after some days, and they cannot save drafts or send mail.',
    `Set another limit with mansio quota set ${domain}, or let users delete mail: mansio quota list shows what each account uses.`,
  ];
  return writeServerMail({
    name: ['Mail', 'System'],
    from: `mailer-daemon@${hostname}`,
    to: `postmaster@${domain}`,
    ...{ subject: `The domain ${domain} is nearly full`, hostname, id, now, isPlaced: true },
    paragraphs: lines.map((line) => foldText(line)),
  });
}

function resources(used: Notice['used'], limit: Notice['limit']): readonly string[] {
  return [
    ...(limit.bytes === null ? [] : [`- ${mebibytes(used.bytes)} of ${mebibytes(limit.bytes)} MiB`]),
    ...(limit.messages === null ? [] : [`- ${used.messages} of ${limit.messages} messages`]),
  ];
}

const mebibytes = (bytes: number): string => (bytes / MIB).toFixed(1);
