// What a transaction sends to: it decides whether limits, a suspension or the rule about sudden changes let a message pass, and counts its
// recipients. The commit writes the counts with the message, so that no messages that are sent at once exceed a limit together.
import type { CountedSending, SendingCounts } from '../../../store/limits/sending.js';
import { type ExceededLimit, exceededLimit, minuteOf } from '../../sending/recipient-limits.js';
import { isRuleApplied, suddenChange } from '../../sending/sudden-change.js';
import type { MailboxState } from '../state/state.js';
import type { SENDING_REFUSALS } from './protocol.js';
import { canonicalOf, type SendingPrefetched } from './sending-reads.js';

type SendingRefusal = (typeof SENDING_REFUSALS)[number];

type Recipients = readonly { readonly address: string }[];

export class SendingChanges {
  readonly #state: MailboxState;
  /** Undefined when nothing is limited. */
  readonly #read: SendingPrefetched | undefined;
  readonly #now: number;
  readonly #added = new Set<string>();
  #recipients = 0;
  #refused = 0;
  #forwarded = 0;
  #isCounted = false;
  #exceeded: ExceededLimit | undefined;
  #sudden: string | undefined;

  constructor(state: MailboxState, read: SendingPrefetched | undefined, now: number) {
    this.#state = state;
    this.#read = read;
    this.#now = now;
  }

  get isSuspended(): boolean {
    return this.#read?.terms?.suspension != null;
  }

  /** The limit that has refused the last message that one has refused. */
  get exceeded(): ExceededLimit | undefined {
    return this.#exceeded;
  }

  /** The reason for which the account is to be suspended. */
  get sudden(): string | undefined {
    return this.#sudden;
  }

  /** What the commit counts; undefined: nothing. */
  get counted(): CountedSending | undefined {
    if (!this.#isCounted) return undefined;
    const counts = { recipients: this.#recipients, strangers: this.#added.size, refused: this.#refused };
    return { minute: minuteOf(this.#now), ...counts, forwarded: this.#forwarded, addresses: [...this.#added] };
  }

  /** Why a message to these recipients is not queued; undefined when it may be. @throws the fault that prevented reading */
  refusal(recipients: Recipients): SendingRefusal | undefined {
    const read = this.#read;
    if (read === undefined) return undefined;
    if (read.fault !== undefined) throw read.fault;
    if (this.isSuspended) return 'sendingSuspended';
    if (read.terms === undefined) return undefined;
    const { limit, domain } = read.terms;
    const sent = this.#state.sending?.sent(this.#now) ?? { hour: 0, day: 0 };
    const exceeded = exceededLimit(
      { account: { limit, sent: this.#plus(sent) }, domain: domain && { ...domain, sent: this.#plus(domain.sent) } },
      recipients.length,
    );
    if (exceeded !== undefined) {
      this.#exceeded = exceeded;
      return exceeded.isAlone ? 'overMessageLimit' : 'overLimit';
    }
    const strangers = this.#strangersIn(recipients).filter((address) => !this.#added.has(address)).length;
    return this.#isSudden({ recipients: recipients.length, strangers, refused: 0 }) ? 'sendingSuspended' : undefined;
  }

  count(recipients: Recipients): void {
    if (this.#read === undefined) return;
    this.#isCounted = true;
    this.#recipients += recipients.length;
    for (const address of this.#strangersIn(recipients)) this.#added.add(address);
  }

  /** Other servers have refused this many recipients for good. @throws the fault that prevented reading */
  countRefused(count: number): void {
    if (this.#read === undefined || count === 0) return;
    if (this.#read.fault !== undefined) throw this.#read.fault;
    this.#isCounted = true;
    this.#refused += count;
    if (!this.isSuspended) this.#isSudden({ recipients: 0, strangers: 0, refused: 0 });
  }

  /**
   * Counts a forward to this many recipients, which has limits of the same size as what the user sends, and counts of its own: who writes to
   * an account does not use up what its user may send. Returns the limit that it exceeds; then nothing is counted.
   * @throws the fault that prevented reading
   */
  forward(recipients: number): ExceededLimit | undefined {
    const read = this.#read;
    if (read?.fault !== undefined) throw read.fault;
    if (read?.terms === undefined) return undefined;
    const before = this.#state.sending?.forwarded(this.#now) ?? { hour: 0, day: 0 };
    const sent = { hour: before.hour + this.#forwarded, day: before.day + this.#forwarded };
    const exceeded = exceededLimit({ account: { limit: read.terms.limit, sent } }, recipients);
    if (exceeded !== undefined) return exceeded;
    this.#isCounted = true;
    this.#forwarded += recipients;
    return undefined;
  }

  #strangersIn(recipients: Recipients): string[] {
    const { strangers } = this.#read!;
    return [...new Set(recipients.map(canonicalOf))].filter((address) => strangers.has(address));
  }

  #plus({ hour, day }: { readonly hour: number; readonly day: number }) {
    return { hour: hour + this.#recipients, day: day + this.#recipients };
  }

  /** `further`: what a message would add. */
  #isSudden(further: SendingCounts): boolean {
    const { terms, rule } = this.#read!;
    if (terms === undefined || !isRuleApplied(terms.resumedAt, this.#now)) return false;
    const before = this.#state.sending?.hour(this.#now) ?? { recipients: 0, strangers: 0, refused: 0 };
    const hour = {
      recipients: before.recipients + this.#recipients + further.recipients,
      strangers: before.strangers + this.#added.size + further.strangers,
      refused: before.refused + this.#refused + further.refused,
    };
    this.#sudden = suddenChange(hour, rule) ?? this.#sudden;
    return this.#sudden !== undefined;
  }
}
