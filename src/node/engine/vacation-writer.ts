// Writes vacation replies (decision 0099): looks at the header of the message that arrived, and at whom it names, and lets the rules decide
// (src/mail-format/reports/automatic-reply.ts).
import type { WriteMail } from '../../actors/mailbox/background/automatic-mail.js';
import { parseAddress } from '../../mail-format/address.js';
import { MessageHeader } from '../../mail-format/header/message-header.js';
import { automaticReply } from '../../mail-format/reports/automatic-reply.js';
import { writeAutomaticReply } from '../../mail-format/reports/automatic-reply-mail.js';
import { summarize } from '../../mail-format/summary.js';
import type { BlobStore } from '../../store/blobs.js';
import { isAway, type Vacation } from '../../store/vacation.js';

export interface VacationWriterOptions {
  readonly blobs: Pick<BlobStore, 'index' | 'read'>;
  /** Undefined when the account is deleted. */
  readonly account: (
    accountId: string,
  ) => Promise<{ readonly email: string; readonly displayName: string } | undefined>;
  readonly vacation: (accountId: string) => Promise<Vacation>;
  readonly directory: {
    isAddressOf(accountId: string, address: string): Promise<boolean>;
    maySendAs(accountId: string, address: string): Promise<boolean>;
  };
  /** The name of this host. */
  readonly hostname: string;
  readonly newId: () => string;
  /** ms since the epoch. */
  readonly now: () => number;
}

const MOST_HEADER_OCTETS = 256 * 1024;
/** The addresses of To and Cc that are compared. */
const MOST_NAMED = 100;

export function vacationWriter(options: VacationWriterOptions): WriteMail {
  const { blobs, directory, hostname, newId, now } = options;

  /** Those of the addresses that are the account's own. */
  async function ownAmong(accountId: string, addresses: readonly string[]): Promise<string[]> {
    const valid = [...new Set(addresses)].filter((address) => parseAddress(address) !== undefined);
    const areOwn = await Promise.all(valid.map((address) => directory.isAddressOf(accountId, address)));
    return valid.filter((_, i) => areOwn[i]);
  }

  return async (accountId, { blob, sender, recipient }) => {
    const [index, account] = await Promise.all([blobs.index(blob), options.account(accountId)]);
    if (index === undefined || account === undefined) return { skip: 'the message or its account does not exist' };
    const vacation = await options.vacation(accountId);
    if (!isAway(vacation, now())) return { skip: 'the account is not away any more' };
    const octets = await blobs.read(blob, 0, Math.min(index.root.bodyStart, MOST_HEADER_OCTETS));
    const header = new MessageHeader(index, octets);
    const { to, cc } = index.envelope;
    const named = [...to, ...cc].map(({ address }) => address).slice(0, MOST_NAMED);
    const { fromAddress: author, subject, messageId, references } = summarize(index, sender);
    const own = await ownAmong(accountId, [...named, sender, author]);
    const mayAnswerAs = recipient !== null && (await directory.maySendAs(accountId, recipient));
    const reply = automaticReply(
      { sender, recipient, named, author, subject, messageId, references, values: (name) => header.values(name) },
      { addresses: [account.email, ...own], subject: vacation.subject, from: mayAnswerAs ? recipient : account.email },
    );
    if ('none' in reply) return { skip: `no vacation reply: ${reply.none}` };
    const { textBody, htmlBody } = vacation;
    const about = { name: account.displayName, textBody, htmlBody, hostname, id: newId(), now: now() };
    return { message: writeAutomaticReply({ ...reply, ...about }), sender: '', to: [reply.to], reportTo: null };
  };
}
