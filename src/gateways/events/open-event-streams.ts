// The open event streams of this node: limits their number, per account and in all, and ends each with its credential or with the node.
import type { Logger } from 'pino';
import { Subscription, timer } from 'rxjs';
import type { AccountNotice, Directory, Principal } from '../../actors/directory/protocol.js';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import { KeyedLimiter } from '../../concurrency/keyed-limiter.js';
import { type Exhausted, fixedShare } from '../../concurrency/share-policies.js';
import { EndedCredentials } from './ended-credentials.js';
import { EventBlocks } from './event-blocks.js';
import { NOTICE_TYPES, type NoticeType, type StreamEventType } from './event-payloads.js';
import { EventStream, type EventStreamDependencies, type StreamStart } from './event-stream.js';

export interface EventStreamLimits {
  /** The most streams of one node; further ones are refused with 503. */
  readonly maxStreams: number;
  /** The most of these for one account; further ones are refused with 429. */
  readonly maxOwnStreams: number;
  /** A client gets something at least this often. ms */
  readonly heartbeatMs: number;
  /** A client for which more than this waits has fallen behind. Characters */
  readonly pauseLength: number;
}

const EVENT_STREAM_LIMITS: EventStreamLimits = {
  maxStreams: 20_000,
  maxOwnStreams: 1_000,
  heartbeatMs: 15_000,
  pauseLength: 64 * 1024,
};

/** The longest time of a timer. ms */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Port: metrics of event streams; it must not throw. */
export interface EventStreamMeter {
  sent(events: number): void;
}

const TOLD = { quotas: 'QuotaChanged', sending: 'SendingChanged' } as const;

const NO_METER: EventStreamMeter = { sent: () => {} };

export interface OpenEventStreamsOptions {
  readonly mailboxes: Mailboxes;
  readonly directory: Pick<Directory, 'revokedKeys$' | 'deletedAccounts$' | 'accountNotices$' | 'missedChanges$'>;
  readonly log: Logger;
  readonly meter?: EventStreamMeter;
  readonly limits?: Partial<EventStreamLimits>;
}

/** Who opens a stream, and which events it contains. */
export interface StreamRequest {
  readonly principal: Pick<Principal, 'accountId' | 'keyId'>;
  /** The time at which the credential ends by itself, in ms since the epoch. */
  readonly expiresAt: number | undefined;
  readonly start: StreamStart;
  /** Undefined: all types. */
  readonly types: ReadonlySet<StreamEventType> | undefined;
}

export class OpenEventStreams {
  readonly #dependencies: EventStreamDependencies;
  readonly #limiter: KeyedLimiter;
  readonly #ended: EndedCredentials;
  readonly #streams = new Set<EventStream>();
  readonly #notices = new Subscription();
  #isDraining = false;

  constructor({ mailboxes, directory, log, meter = NO_METER, limits = {} }: OpenEventStreamsOptions) {
    const { maxStreams: total, maxOwnStreams: share, ...pace } = { ...EVENT_STREAM_LIMITS, ...limits };
    const blocks = new EventBlocks(log);
    this.#dependencies = { mailboxes, blocks, log, ...pace, sent: (events) => meter.sent(events) };
    this.#limiter = new KeyedLimiter(fixedShare({ total, share }));
    this.#ended = new EndedCredentials(directory, log);
    const error = (err: unknown) => log.error({ err }, 'event streams are not told of quotas and suspensions any more');
    const next = ({ accountId, about }: AccountNotice) => {
      if (about !== 'sessions') this.#notify(TOLD[about], accountId);
    };
    this.#notices.add(directory.accountNotices$.subscribe({ next, error }));
    const all = () => {
      for (const type of NOTICE_TYPES) this.#notify(type);
    };
    this.#notices.add(directory.missedChanges$.subscribe({ next: all, error }));
  }

  get count(): number {
    return this.#streams.size;
  }

  /** Returns a stream, which the caller opens and which ends in any case, or the reason for which there is none. */
  admit({ principal, expiresAt, start, types }: StreamRequest): EventStream | Exhausted | 'draining' {
    if (this.#isDraining) return 'draining';
    const { accountId } = principal;
    const exhausted = this.#limiter.exhausted(accountId);
    if (exhausted !== undefined) return exhausted;
    const slot = this.#limiter.charge(accountId);
    const stream = new EventStream(accountId, start, types, this.#dependencies);
    this.#streams.add(stream);
    stream.onEnd(() => {
      this.#streams.delete(stream);
      slot.release();
    });
    stream.endBy(this.#ended.endOf(principal));
    // A credential that lives longer ends its stream early: the client connects again.
    if (expiresAt !== undefined) stream.endBy(timer(Math.min(Math.max(expiresAt - Date.now(), 0), LONGEST_TIMER)));
    return stream;
  }

  /** Called when the node stops: refuses new streams and ends the open ones. Their clients connect again, to another node. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.end();
    this.#notices.unsubscribe();
    this.#ended.close();
  }

  /** Without an account all are told. */
  #notify(type: NoticeType, accountId?: string): void {
    for (const stream of this.#streams) {
      if (accountId === undefined || stream.accountId === accountId) stream.notify(type);
    }
  }
}
