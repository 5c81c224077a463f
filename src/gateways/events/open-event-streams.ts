// The event streams that are open on this node: how many there may be, of an account and in all, and when each of them ends:
// with its credential, and with the node.
import type { Logger } from 'pino';
import { timer } from 'rxjs';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import { type Exhausted, FixedShares } from '../../bounds/fixed-shares.js';
import type { Directory, Principal } from '../../directory/protocol.js';
import type { ClientEventType } from './client-events.js';
import { EndedCredentials } from './ended-credentials.js';
import { EventBlocks } from './event-blocks.js';
import { EventStream, type EventStreamDependencies, type StreamStart } from './event-stream.js';

export interface EventStreamLimits {
  /** Streams of one node; more are refused with 503. */
  readonly maxStreams: number;
  /** Of these, those of one account; more are refused with 429. */
  readonly maxOwnStreams: number;
  /** A client hears something at least this often. ms */
  readonly heartbeatMs: number;
  /** With more than this waiting to be taken, a client has fallen behind. Characters */
  readonly pauseLength: number;
}

const EVENT_STREAM_LIMITS: EventStreamLimits = {
  maxStreams: 20_000,
  maxOwnStreams: 1_000,
  heartbeatMs: 15_000,
  pauseLength: 64 * 1024,
};

/** Longest time that a timer takes. ms */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Port: metrics of event streams; it must not throw. */
export interface EventStreamMeter {
  sent(events: number): void;
}

const NO_METER: EventStreamMeter = { sent: () => {} };

export interface OpenEventStreamsOptions {
  readonly mailboxes: Mailboxes;
  readonly directory: Pick<Directory, 'revokedKeys$' | 'deletedAccounts$'>;
  readonly log: Logger;
  readonly meter?: EventStreamMeter;
  readonly limits?: Partial<EventStreamLimits>;
}

/** Who opens a stream, and what the stream is to hold. */
export interface StreamRequest {
  readonly principal: Pick<Principal, 'accountId' | 'keyId'>;
  /** When the credential ends by itself, in ms since the epoch. */
  readonly expiresAt: number | undefined;
  readonly start: StreamStart;
  /** Undefined: all. */
  readonly types: ReadonlySet<ClientEventType> | undefined;
}

export class OpenEventStreams {
  readonly #dependencies: EventStreamDependencies;
  readonly #shares: FixedShares;
  readonly #ended: EndedCredentials;
  readonly #streams = new Set<EventStream>();
  #isDraining = false;

  constructor({ mailboxes, directory, log, meter = NO_METER, limits = {} }: OpenEventStreamsOptions) {
    const { maxStreams: total, maxOwnStreams: share, ...pace } = { ...EVENT_STREAM_LIMITS, ...limits };
    const blocks = new EventBlocks(log);
    this.#dependencies = { mailboxes, blocks, log, ...pace, sent: (events) => meter.sent(events) };
    this.#shares = new FixedShares({ total, share });
    this.#ended = new EndedCredentials(directory, log);
  }

  get count(): number {
    return this.#streams.size;
  }

  /** A stream, which is to be opened and ends in any case; or why there is none. */
  admit({ principal, expiresAt, start, types }: StreamRequest): EventStream | Exhausted | 'draining' {
    if (this.#isDraining) return 'draining';
    const { accountId } = principal;
    const exhausted = this.#shares.tryTake(accountId);
    if (exhausted !== undefined) return exhausted;
    const stream = new EventStream(accountId, start, types, this.#dependencies);
    this.#streams.add(stream);
    stream.onEnd(() => {
      this.#streams.delete(stream);
      this.#shares.give(accountId);
    });
    stream.endBy(this.#ended.endOf(principal));
    // A longer time is the client's to connect again.
    if (expiresAt !== undefined) stream.endBy(timer(Math.min(Math.max(expiresAt - Date.now(), 0), LONGEST_TIMER)));
    return stream;
  }

  /** For a node that stops: no new streams, and the end of those there are. Their clients connect again, to another node. */
  drain(): void {
    this.#isDraining = true;
    for (const stream of this.#streams) stream.end();
    this.#ended.close();
  }
}
