// The content check of rspamd (MANSIO_RSPAMD_URL): the message is streamed to it with what is known of its envelope and peer, and its action
// is the verdict (`rspamd-result.ts`). At most a few messages are asked about at once, with a share per network or account. While rspamd
// does not answer, the circuit breaker ends the wait of further messages (`check-breaker.ts`).
import { FairSemaphore, SemaphoreFull } from '../../concurrency/fair-semaphore.js';
import type { Reservation } from '../../concurrency/keyed-limiter.js';
import { CheckBreaker } from '../check-breaker.js';
import type { CheckedEnvelope, CheckedMessage, CheckedPeer, ContentCheck, Verdict } from '../content-check.js';
import { verdictOf } from './rspamd-result.js';
import { type RspamdFields, type RspamdServer, RspamdUnreachable } from './rspamd-server.js';

export interface RspamdCheckOptions {
  readonly server: Pick<RspamdServer, 'post'>;
  /** The name of this host. */
  readonly hostname: string;
  /** What becomes of a message about which rspamd gives no answer. */
  readonly onFault: ContentCheck['onFault'];
  /** The owner of a share of the requests: the account, or the network of the peer. */
  readonly holderOf: (peer: CheckedPeer) => string;
  readonly limits?: Partial<RspamdLimits>;
}

interface RspamdLimits {
  /** The time from the request to the whole answer. */
  readonly answerMs: number;
  /** The time for a free request. */
  readonly waitMs: number;
  /** Messages that are asked about at a time, in all and for one network or account; the rest wait. */
  readonly requests: number;
  readonly requestsPerHolder: number;
  readonly waiting: number;
  readonly waitingPerHolder: number;
}

const LIMITS: RspamdLimits = {
  answerMs: 8_000,
  waitMs: 8_000,
  requests: 32,
  requestsPerHolder: 8,
  waiting: 2_000,
  waitingPerHolder: 100,
};
const BREAKER = { failures: 3, firstMs: 5_000, longestMs: 60_000 };
/** The recipients of one message that rspamd is told. */
const MOST_RECIPIENTS = 100;
const BUSY: Verdict = { verdict: 'defer', reply: 'Too many messages wait for their check, try again later' };

export function rspamdCheck(options: RspamdCheckOptions): ContentCheck {
  const limits = { ...LIMITS, ...options.limits };
  const check = new RspamdCheck(options, limits);
  return {
    name: 'rspamd',
    deadlineMs: limits.waitMs + limits.answerMs,
    onFault: options.onFault,
    check: (message, envelope, peer, signal) => check.check(message, envelope, peer, signal),
  };
}

class RspamdCheck {
  readonly #options: RspamdCheckOptions;
  readonly #limits: RspamdLimits;
  readonly #semaphore: FairSemaphore;
  readonly #breaker = new CheckBreaker(BREAKER);
  #inFlight = 0;
  /** How many requests rspamd has answered. */
  #answers = 0;
  /** Whether a message has waited as long as it may, and rspamd answered nobody meanwhile nor since. */
  #isSilent = false;
  /** When the last request ended without an answer: ms of `performance.now`. */
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RspamdCheckOptions, limits: RspamdLimits) {
    const { requests: total, requestsPerHolder: share, waiting, waitingPerHolder: waitingShare } = limits;
    this.#options = options;
    this.#limits = limits;
    this.#semaphore = new FairSemaphore({ total, share, waiting, waitingShare });
  }

  async check(
    message: CheckedMessage,
    envelope: CheckedEnvelope,
    peer: CheckedPeer,
    signal: AbortSignal,
  ): Promise<Verdict> {
    const holder = this.#options.holderOf(peer);
    const before = this.#answers;
    const permit = await this.#permit(holder, signal);
    if (permit === 'full' || permit === 'late') {
      // Others had the permits all the time.
      if (permit === 'late') this.#waited(before);
      // While rspamd answers others the message is deferred: a peer that sends too much must not get past the check.
      if (this.#isSilent && this.#isAsked()) throw new Error('rspamd does not answer');
      return BUSY;
    }
    try {
      return await this.#ask(message, fieldsOf(envelope, peer, this.#options.hostname), holder, signal);
    } finally {
      permit.release();
    }
  }

  /** `full`: too many messages wait. `late`: this one has waited as long as it may. */
  async #permit(holder: string, signal: AbortSignal): Promise<Reservation | 'full' | 'late'> {
    const wait = limited(signal, this.#limits.waitMs);
    try {
      return await this.#semaphore.acquire(holder, { signal: wait.signal });
    } catch (error) {
      if (error instanceof SemaphoreFull) return 'full';
      if (!signal.aborted) return 'late';
      throw error;
    } finally {
      wait.end();
    }
  }

  async #ask({ chunks }: CheckedMessage, fields: RspamdFields, holder: string, signal: AbortSignal): Promise<Verdict> {
    if (!this.#breaker.mayAsk(holder)) throw new Error('rspamd does not answer');
    const within = limited(signal, this.#limits.answerMs);
    let isAnswered = false;
    let isReached = true;
    const before = this.#answers;
    this.#begun();
    try {
      const { status, text } = await this.#options.server.post('/checkv2', fields, chunks(), within.signal);
      isAnswered = status < 500;
      if (status !== 200) throw new Error(`rspamd answers ${status}`);
      return verdictOf(text, this.#options.onFault);
    } catch (error) {
      if (error instanceof RspamdUnreachable) isReached = false;
      throw error;
    } finally {
      within.end();
      this.#ended(isAnswered);
      if (!isAnswered && within.isLate()) this.#waited(before);
      // A request that rspamd refuses is a fault of its message: other messages are checked on.
      if (isAnswered) this.#breaker.answered();
      else this.#breaker.failed(holder, isReached);
    }
  }

  #begun(): void {
    if (!this.#isAsked()) this.#isSilent = false;
    this.#inFlight++;
  }

  #ended(isAnswered: boolean): void {
    this.#inFlight--;
    if (!isAnswered) {
      this.#failedAt = performance.now();
      return;
    }
    this.#answers++;
    this.#isSilent = false;
  }

  /** Whether rspamd has a request, or had one a moment ago: its silence before that says nothing. */
  #isAsked(): boolean {
    return this.#inFlight > 0 || performance.now() - this.#failedAt < this.#limits.answerMs;
  }

  /** A message has waited as long as it may, since rspamd had given `before` answers. */
  #waited(before: number): void {
    if (this.#answers === before && this.#isAsked()) this.#isSilent = true;
  }
}

interface Limited {
  readonly signal: AbortSignal;
  isLate(): boolean;
  end(): void;
}

/**
 * A signal that aborts with `signal` or after `ms`, until `end` is called. Node.js 20 may collect an `AbortSignal.timeout` to which only
 * `AbortSignal.any` refers, and then it never aborts; a timer holds its controller.
 */
function limited(signal: AbortSignal, ms: number): Limited {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${ms} ms`)), ms);
  return {
    signal: AbortSignal.any([signal, late.signal]),
    isLate: () => late.signal.aborted,
    end: () => clearTimeout(timer),
  };
}

function fieldsOf({ sender, recipients, id }: CheckedEnvelope, peer: CheckedPeer, hostname: string): RspamdFields {
  const { remoteAddress, helo, user } = peer;
  return {
    IP: remoteAddress,
    From: sender === '' ? '<>' : sender,
    Rcpt: recipients.slice(0, MOST_RECIPIENTS),
    'Queue-Id': id,
    'MTA-Name': hostname,
    ...(helo !== '' && { Helo: helo }),
    ...(user !== undefined && { User: user }),
  };
}
