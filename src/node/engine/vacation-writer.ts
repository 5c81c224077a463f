// Writes vacation replies of accounts (decision 0099) and of scripts (0107): looks at the header of the message that arrived, and at whom it
// names, and lets the rules decide (src/mail-format/reports/automatic-reply.ts).
import type { WriteMail } from '../../actors/mailbox/background/automatic-mail.js';
import { type ScriptedVacation, scriptedVacation } from '../../actors/mailbox/sieve/script-replies.js';
import { parseAddress } from '../../mail-format/address.js';
import { MessageHeader } from '../../mail-format/header/message-header.js';
import { addressList } from '../../mail-format/mime-index/address-list.js';
import { WordDecoder } from '../../mail-format/mime-index/header-text.js';
import { automaticReply } from '../../mail-format/reports/automatic-reply.js';
import { writeAutomaticReply } from '../../mail-format/reports/automatic-reply-mail.js';
import { summarize } from '../../mail-format/summary.js';
import type { BlobStore } from '../../store/blobs.js';
import { isAway, type Vacation } from '../../store/vacation.js';

interface Account {
  readonly email: string;
  readonly displayName: string;
}

/** What is answered. */
interface Said extends Pick<Vacation, 'subject' | 'textBody' | 'htmlBody'> {
  /** A MIME entity in place of the bodies. */
  readonly entity?: string | undefined;
  /** The author that a script names. */
  readonly from: string | null;
  /** Further addresses of the account, as a script says. */
  readonly addresses: readonly string[];
}

export interface VacationWriterOptions {
  readonly blobs: Pick<BlobStore, 'index' | 'read'>;
  /** Undefined when the account is deleted. */
  readonly account: (accountId: string) => Promise<Account | undefined>;
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

  /** The account's own vacation; undefined when it is not away any more. */
  async function ofAccount(accountId: string): Promise<Said | undefined> {
    const vacation = await options.vacation(accountId);
    return isAway(vacation, now()) ? { ...vacation, from: null, addresses: [] } : undefined;
  }

  /** The author: the one that the script names, when the account may send as that address; or the address that was written to. */
  async function authorOf(accountId: string, { email, displayName }: Account, from: string | null, to: string | null) {
    const [named] = from === null ? [] : addressList(from.trim(), 2, new WordDecoder()).addresses;
    if (named !== undefined && (await directory.maySendAs(accountId, named.address)))
      return { name: named.name || displayName, address: named.address };
    const isOwn = to !== null && (await directory.maySendAs(accountId, to));
    return { name: displayName, address: isOwn ? to : email };
  }

  return async (accountId, due) => {
    const { blob, sender, recipient } = due;
    const [index, account] = await Promise.all([blobs.index(blob), options.account(accountId)]);
    if (index === undefined || account === undefined) return { skip: 'the message or its account does not exist' };
    const script = scriptedVacation(due);
    const said = script === undefined ? await ofAccount(accountId) : saidBy(script);
    if (said === undefined) return { skip: 'the account is not away any more' };
    const octets = await blobs.read(blob, 0, Math.min(index.root.bodyStart, MOST_HEADER_OCTETS));
    const header = new MessageHeader(index, octets);
    const { to, cc } = index.envelope;
    const named = [...to, ...cc].map(({ address }) => address).slice(0, MOST_NAMED);
    const { fromAddress: author, subject, messageId, references } = summarize(index, sender);
    const own = await ownAmong(accountId, [...named, sender, author]);
    const { name, address: from } = await authorOf(accountId, account, said.from, recipient);
    const reply = automaticReply(
      { sender, recipient, named, author, subject, messageId, references, values: (name) => header.values(name) },
      { addresses: [account.email, ...own, ...said.addresses], subject: said.subject, from },
    );
    if ('none' in reply) return { skip: `no vacation reply: ${reply.none}` };
    const { textBody, htmlBody, entity } = said;
    const about = { name, textBody, htmlBody, entity, hostname, id: newId(), now: now() };
    return { message: writeAutomaticReply({ ...reply, ...about }), sender: '', to: [reply.to], reportTo: null };
  };
}

const saidBy = ({ reason, isMime, subject, from, addresses }: ScriptedVacation): Said => ({
  ...{ subject, from, addresses, htmlBody: null },
  ...(isMime ? { textBody: null, entity: reason } : { textBody: reason }),
});
