// What the active script looks at in the message of a delivery: from memory, or as it was read from the store before.
import { Fault } from '../../../concurrency/fault.js';
import type { SieveMessage } from '../../../mail-format/sieve/message.js';
import type { InlineMessage } from '../../../store/inline/inline-message.js';
import type { MailboxTransaction } from '../state/transaction.js';
import { activeScript, readsBody } from './script-plan.js';
import { inlineScripted } from './script-reads.js';

/** What the active script looks at in a message that is in memory; `unstored` when its octets are not. */
export function scriptedInline(
  tx: MailboxTransaction,
  isJunk: boolean,
  { message: { content } }: InlineMessage,
): SieveMessage | 'unstored' | undefined {
  const script = isJunk ? undefined : activeScript(tx.sieve.scripts);
  if (script === undefined) return undefined;
  return inlineScripted(content, readsBody(tx.sieve.scripts, script)) ?? 'unstored';
}

/**
 * What was read for the active script; `later` when it could not be read now. Nothing temporary is thrown: each command whose plan throws
 * makes all others of its group plan again. @throws a fault of the message that stays
 */
export function scriptedStored(
  tx: MailboxTransaction,
  isJunk: boolean,
  blob: string,
): SieveMessage | 'later' | undefined {
  const scripted = tx.prefetched.scripted.get(blob);
  if (scripted === undefined) return !isJunk && activeScript(tx.sieve.scripts) !== undefined ? 'later' : undefined;
  if (!('fault' in scripted)) return scripted;
  const { fault } = scripted;
  if (fault instanceof Fault && fault.temporary) return 'later';
  throw fault;
}
