// Preferences that the account chooses. They are changes of the mailbox like others, so that clients get them from the log; the gateways
// define the preferences and read them from the store.
import type { Outcome, Payload } from '../../runtime/protocol.js';
import type { MailboxProtocol } from '../protocol.js';
import type { MailboxTransaction } from '../state/transaction.js';

export function choosePreferences(
  tx: MailboxTransaction,
  { chosen }: Payload<MailboxProtocol, 'choosePreferences'>,
): Outcome<MailboxProtocol, 'choosePreferences'> {
  if (Object.keys(chosen).length === 0) return { reply: {} };
  tx.begin();
  tx.choosePreferences(chosen);
  return { reply: {} };
}
