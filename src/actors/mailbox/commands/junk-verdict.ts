// Whether mail goes to Junk: the lists of the account's senders count before what the checks of the message say. A sender is only allowed
// as far as the author is believed: mail that fails DMARC may have a forged author, and no list takes it out of Junk.
import type { ListedSenders } from '../../../mail-format/senders.js';
import type { Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';

type Suspicion = Pick<Payload<MailboxProtocol, 'deliver'>, 'isJunk' | 'isContentJunk'>;

export function goesToJunk(
  senders: ListedSenders,
  fromAddress: string,
  { isJunk = false, isContentJunk = false }: Suspicion,
): boolean {
  const verdict = isJunk && !isContentJunk ? undefined : senders.verdictOf(fromAddress);
  return verdict === undefined ? isJunk : verdict === 'blocked';
}
