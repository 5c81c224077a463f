// Whether mail goes to Junk: the lists of the account's senders count before what the checks of the message say, and those before what the
// account has taught its filter. A sender is only allowed as far as the author is believed: mail that fails DMARC may have a forged author,
// and no list takes it out of Junk.
import { canonicalAddress } from '../../../mail-format/address.js';
import type { ListedSenders } from '../../../mail-format/senders.js';
import type { InlineMessage } from '../../../store/inline/inline-message.js';
import type { Payload } from '../../runtime/protocol.js';
import { looksInlineJunk } from '../junk/junk-reads.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';

type Delivered = Payload<MailboxProtocol, 'deliver'>;
type Suspicion = Pick<Delivered, 'isJunk' | 'isContentJunk'>;

export function goesToJunk(
  senders: ListedSenders,
  fromAddress: string,
  { isJunk = false, isContentJunk = false }: Suspicion,
): boolean {
  const verdict = isJunk && !isContentJunk ? undefined : senders.verdictOf(fromAddress);
  return verdict === undefined ? isJunk : verdict === 'blocked';
}

/** The author in canonical form; undefined when the mail may come from somebody else. */
export const provenAuthor = (fromAddress: string, { isAuthorProven }: Pick<Delivered, 'isAuthorProven'>) =>
  isAuthorProven === true ? canonicalAddress(fromAddress) : undefined;

/**
 * Whether the message looks like what the account calls junk (decision 0106); `unstored` when it has to be read from the store for that, or
 * has to be asked there whether the author is a contact. Bounces, and mail of allowed senders, are not judged.
 */
export function looksJunk(
  { prefetched: { junk }, senders }: Pick<MailboxTransaction, 'prefetched' | 'senders'>,
  { isJunk, bounce, ...mail }: Pick<Delivered, 'isJunk' | 'bounce' | 'isAuthorProven'>,
  { blob, summary }: { readonly blob: string; readonly summary: { readonly fromAddress: string } },
  inlineMessage: InlineMessage | undefined,
): boolean | 'unstored' {
  if (junk === undefined || isJunk === true || bounce !== undefined) return false;
  if (senders.verdictOf(summary.fromAddress) === 'allowed') return false;
  if (inlineMessage === undefined) return junk.junk.has(blob);
  const looks = looksInlineJunk(inlineMessage.message.content, junk);
  return looks === true && provenAuthor(summary.fromAddress, mail) !== undefined ? 'unstored' : looks;
}
