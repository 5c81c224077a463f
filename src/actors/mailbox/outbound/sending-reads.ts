// Reads what commands need to know about limits of recipients and suspensions: the terms of the account, what it has sent to, and which of
// the recipients of new messages it has never written to.
import { canonicalAddress } from '../../../mail-format/address.js';
import type { MailboxStore } from '../../../store/mailboxes.js';
import type { DeclaredReads } from '../../runtime/behavior.js';
import type { MailboxSending, SendingTerms } from '../../sending/protocol.js';
import { firstMinuteOf } from '../../sending/recipient-limits.js';
import type { MailboxState } from '../state/state.js';
import { SendingMemory } from './sending-memory.js';

/** What a command about outbound mail reads. */
export interface SendingReads {
  /** Recipients of a message that counts. */
  readonly recipients?: readonly { readonly address: string }[];
  /** The command counts. */
  readonly isCounting?: boolean;
}

export interface SendingPrefetched {
  readonly terms: SendingTerms | undefined;
  readonly rule: MailboxSending['rule'];
  /** Those of the recipients, in canonical form, to which the account has never written. */
  readonly strangers: ReadonlySet<string>;
  /** The reason why something that counts could not be read. */
  readonly fault?: unknown;
}

export interface SendingSources {
  readonly store: Pick<MailboxStore, 'sentMinutes' | 'strangers'>;
  /** Absent: nothing is limited or counted. */
  readonly sending?: MailboxSending;
}

export const canonicalOf = ({ address }: { readonly address: string }): string =>
  canonicalAddress(address) ?? address.toLowerCase();

/** Undefined when there is nothing to read. Never rejects. */
export function prefetchSending(
  { store, sending }: SendingSources,
  state: MailboxState,
  declared: readonly DeclaredReads<{ readonly sending?: SendingReads }>[],
  now: number,
): Promise<SendingPrefetched> | undefined {
  const reads = declared.flatMap(({ reads: { sending: asked } }) => asked ?? []);
  if (sending === undefined || reads.length === 0) return undefined;
  const recipients = new Set(reads.flatMap(({ recipients = [] }) => recipients.map(canonicalOf)));
  return read();

  async function read(): Promise<SendingPrefetched> {
    const terms = sending!.of(state.accountId);
    const rule = sending!.rule;
    try {
      let memory = state.sending;
      if (memory === undefined && (recipients.size > 0 || reads.some(({ isCounting }) => isCounting === true))) {
        memory = new SendingMemory(await store.sentMinutes(state.accountId, firstMinuteOf('day', now)));
        state.sending = memory;
      }
      const asked = [...recipients].filter((address) => !memory!.isKnown(address));
      const strangers = new Set(asked.length === 0 ? [] : await store.strangers(state.accountId, asked));
      memory?.know(asked.filter((address) => !strangers.has(address)));
      return { terms: await terms, rule, strangers };
    } catch (fault) {
      return { terms: await terms, rule, strangers: new Set(), fault };
    }
  }
}
