// The real-time hub at /hubs/email (docs/hub.md): an endpoint that speaks the SignalR hub protocol over WebSockets and their fallbacks, and
// sends every connection of an account the account's events. The HTTP server owns the sockets, the mailbox the events. Nodes share nothing
// about a connection: a client that resumes sends its position in the log.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Directory } from '../../actors/directory/protocol.js';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import type { Tracer } from '../../actors/runtime/tracing.js';
import type { Credentials } from '../../auth/credentials.js';
import type { AnonymousGuard } from '../../auth/origin.js';
import { Rates } from '../../auth/rates.js';
import { CHANGES, TIMELINE } from '../events/client-events.js';
import { EndedCredentials, isMeant } from '../events/ended-credentials.js';
import type {
  EndpointRequest,
  HttpAnswer,
  Socket,
  UpgradeDecision,
  UpgradeRequest,
  WebSocketEndpoint,
} from '../web-socket.js';
import { AccountNotices } from './account-notices.js';
import { type Admission, type Admitted, admit, problem } from './admission.js';
import { Connection, type ConnectionDependencies, GOING_AWAY, POLICY, TRY_AGAIN } from './connection.js';
import { connectionIdOf, isToken, newHubId, newToken, originOf } from './connection-token.js';
import { CursorFrames } from './cursor-frames.js';
import { fallbackAnswer, type HubPeers } from './fallbacks/fallback-transports.js';
import { type Opening, PolledConnections, type PolledRefusal } from './fallbacks/polled-connections.js';
import { HUB_LIMITS, type HubLimits } from './limits.js';
import type { ListLanguage } from './live-queries/list-language.js';
import { LiveQueries } from './live-queries/live-queries.js';
import type { HubMeter } from './meter.js';
import { RESUME_METHODS } from './methods.js';
import { negotiateAnswer } from './negotiate.js';
import { QueuePositions } from './queue-positions.js';
import { Subscriptions } from './subscriptions.js';
import { SLOTS, TimerWheel } from './timer-wheel.js';

export interface HubOptions {
  readonly directory: Directory;
  readonly credentials: Credentials;
  readonly mailboxes: Mailboxes;
  /** The format of lists for clients; absent: they cannot subscribe to lists. */
  readonly lists?: ListLanguage;
  readonly log: Logger;
  readonly meter?: HubMeter;
  readonly tracer?: Tracer;
  readonly limits?: Partial<HubLimits>;
  /** Decides which requests without a token act for the anonymous account. */
  readonly guard: AnonymousGuard;
  /** Absent: there are no limits. */
  readonly rates?: Rates;
  readonly timing?: HubTiming;
  /** Absent: there is only one node. */
  readonly peers?: HubPeers;
}

export interface HubTiming {
  /** Calls `tick` every `ms` until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
  /** Runs its argument after the input of the current turn of the event loop is handled. */
  defer(run: () => void): void;
}

export interface Hub extends WebSocketEndpoint {
  /** The number of open connections. */
  readonly connections: number;
  /**
   * Called when the node stops: refuses new connections with 503, and closes the others with the request to connect again (to another
   * node). Resolves when the last connection is closed; clients that do not answer are dropped after `closeMs`.
   */
  drain(reason: string): Promise<void>;
}

const MALFORMED = 'The connection token (id) is malformed.';
const TOO_MANY = 'The account has as many connections as it may.';
/** Ticks in the keep-alive time; a connection is visited every `SLOTS` ticks. */
const KEEP_ALIVE_TICKS = 3 * SLOTS;
/** The stream of a client that resumes pauses when its buffer has reached this fraction of its limit. */
const PAUSE_SHARE = 4;

const EVENT_LOOP: HubTiming = {
  every(ms, tick) {
    const timer = setInterval(tick, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  defer: (run) => void setImmediate(run),
};

export function createHub(options: HubOptions): Hub {
  return new SignalRHub(options);
}

class SignalRHub implements Hub {
  readonly #log: Logger;
  readonly #peers: HubPeers | undefined;
  readonly #admitting: HubOptions & { readonly rates: Rates };
  readonly #limits: HubLimits;
  readonly #tickMs: number;
  readonly #timerWheel = new TimerWheel<Connection>();
  /** The number of open connections by account, or by address when there is no account. */
  readonly #owners = new Map<string, number>();
  readonly #credentials: EndedCredentials;
  #draining: { readonly reason: string; readonly finished: Promise<void> } | undefined;
  #lastClosed = () => {};
  readonly #dependencies: ConnectionDependencies;
  readonly #accountNotices: AccountNotices;
  readonly #stopTicking: () => void;
  readonly #ending: { unsubscribe(): void };
  readonly #hubId = newHubId();
  readonly #polled: PolledConnections;
  readonly #stopServing: (() => void) | undefined;
  /** Tokens of connections of other hubs, to which this node forwards requests. */
  readonly #handedOn: LRUCache<string, true, unknown>;
  readonly maxMessageBytes: number;

  constructor(options: HubOptions) {
    const { directory, log, peers, rates = new Rates(), timing = EVENT_LOOP } = options;
    this.#log = log;
    this.#peers = peers;
    this.#admitting = { ...options, rates };
    this.#limits = { ...HUB_LIMITS, ...options.limits };
    this.#tickMs = this.#limits.keepAliveMs / KEEP_ALIVE_TICKS;
    this.#credentials = new EndedCredentials(directory, this.#log);
    const pauseBytes = this.#limits.maxBufferedBytes / PAUSE_SHARE;
    this.#accountNotices = new AccountNotices({ directory, log, pauseBytes });
    this.#dependencies = this.#dependenciesFrom(options, timing);
    this.#stopTicking = timing.every(this.#tickMs, () => this.#timerWheel.tick());
    this.#ending = this.#credentials.ended$.subscribe((ended) => {
      const error = ended.kind === 'key' ? 'The API key has been revoked.' : 'The account has been deleted.';
      for (const connection of this.#timerWheel) if (isMeant(ended, connection)) connection.end(error, false, POLICY);
    });
    this.#polled = new PolledConnections({
      silenceMs: this.#limits.silenceMs,
      confirmMs: this.#limits.confirmMs,
      defer: (run) => timing.defer(run),
      mayOpen: (connectionToken) => {
        const origin = originOf(connectionToken);
        return origin?.hubId === this.#hubId && this.#timerWheel.now - origin.tick < this.#ticks(this.#limits.openMs);
      },
      refusal: (owner) => this.#refusal(owner),
      open: (...opened) => this.#open(...opened),
    });
    this.#stopServing = this.#peers?.serve(this.#hubId, (request) => this.#polled.carryOut(request, true));
    // `maxSize` allocates nothing in advance; `max` would.
    this.#handedOn = new LRUCache<string, true>({ maxSize: this.#limits.maxConnections, sizeCalculation: () => 1 });
    this.maxMessageBytes = this.#limits.maxMessageBytes;
  }

  get connections() {
    return this.#timerWheel.size;
  }

  async negotiate(request: UpgradeRequest): Promise<HttpAnswer> {
    const query = new URLSearchParams(request.query);
    const admission = await admit(request, query, this.#admitting);
    if ('refused' in admission) return admission.refused;
    const refusing = this.#refusal(admission.principal?.accountId ?? request.remoteAddress);
    if (refusing !== undefined) return problem(refusing.status, refusing.detail, refusing.headers);
    return negotiateAnswer(query, newToken({ hubId: this.#hubId, tick: this.#timerWheel.now }));
  }

  upgrade(request: UpgradeRequest): UpgradeDecision | Promise<UpgradeDecision> {
    const query = new URLSearchParams(request.query);
    const connectionToken = query.get('id') ?? newToken({ hubId: this.#hubId, tick: this.#timerWheel.now });
    if (!isToken(connectionToken)) return problem(400, MALFORMED);
    const decide = (admission: Admission): UpgradeDecision => {
      if ('refused' in admission) return admission.refused;
      const opening = openingOf(admission, request, query);
      const refusing = this.#refusal(opening.owner);
      if (refusing !== undefined) return problem(refusing.status, refusing.detail, refusing.headers);
      return (socket) => this.#open(connectionToken, opening, socket);
    };
    const admission = admit(request, query, this.#admitting);
    return admission instanceof Promise ? admission.then(decide) : decide(admission);
  }

  async exchange(request: EndpointRequest): Promise<HttpAnswer> {
    const query = new URLSearchParams(request.query);
    const connectionToken = query.get('id');
    if (connectionToken === null && request.method === 'GET') {
      const admission = await admit(request, query, this.#admitting, { isRead: true });
      if ('refused' in admission) return admission.refused;
      return problem(426, 'Without the id of a negotiation, the hub takes WebSockets only.', {
        upgrade: 'websocket',
      });
    }
    if (connectionToken === null || !isToken(connectionToken)) return problem(400, MALFORMED);
    // The connection itself limits its further requests.
    const isNew = !this.#polled.has(connectionToken) && !this.#handedOn.has(connectionToken);
    const admission = await admit(request, query, this.#admitting, {
      rate: isNew ? 'hub' : 'unlimited',
      isRead: request.method === 'GET',
    });
    if ('refused' in admission) return admission.refused;
    const { maxMessageBytes } = this.#limits;
    const fallback = {
      hubId: this.#hubId,
      connections: this.#polled,
      maxMessageBytes,
      ...(this.#peers && { peers: this.#peers }),
    };
    const answer = await fallbackAnswer(request, connectionToken, openingOf(admission, request, query), fallback);
    const isOfPeer = originOf(connectionToken)?.hubId !== this.#hubId;
    if (isOfPeer) this.#noteHandedOn(connectionToken, answer.status < 400 && request.method !== 'DELETE');
    return answer;
  }

  drain(reason: string): Promise<void> {
    this.#draining ??= { reason, finished: this.#empty(reason) };
    return this.#draining.finished;
  }

  #ticks(ms: number): number {
    return Math.ceil(ms / this.#tickMs);
  }

  #isFull(owner: string): boolean {
    return (this.#owners.get(owner) ?? 0) >= this.#limits.maxOwnConnections;
  }

  #dependenciesFrom(options: HubOptions, timing: HubTiming): ConnectionDependencies {
    const { mailboxes } = options;
    const pauseBytes = this.#limits.maxBufferedBytes / PAUSE_SHARE;
    const liveQueries =
      options.lists && new LiveQueries({ ...options, language: options.lists, limits: this.#limits, pauseBytes });
    return {
      timerWheel: this.#timerWheel,
      subscriptions: new Subscriptions(mailboxes, this.#log, (flush) => timing.defer(flush), options),
      resumptions: {
        mailboxes,
        frames: new CursorFrames(this.#log),
        log: this.#log,
        pauseBytes,
        stallVisits: Math.ceil(this.#ticks(this.#limits.clientTimeoutMs) / SLOTS),
        defer: (run: () => void) => timing.defer(run),
      },
      methods: new Map([...RESUME_METHODS, ...(liveQueries?.methods ?? [])]),
      queuePositions: new QueuePositions({
        mailboxes,
        log: this.#log,
        queuePositionMs: this.#limits.queuePositionMs,
        pauseBytes,
      }),
      accountNotices: this.#accountNotices,
      log: this.#log,
      handshakeTicks: this.#ticks(this.#limits.handshakeMs),
      pingTicks: KEEP_ALIVE_TICKS - SLOTS,
      clientTimeoutTicks: this.#ticks(this.#limits.clientTimeoutMs),
      closeTicks: this.#ticks(this.#limits.closeMs),
      maxMessageBytes: this.#limits.maxMessageBytes,
      maxBufferedBytes: this.#limits.maxBufferedBytes,
      maxMessages: this.#limits.maxMessages,
      closed: ({ owner }: Connection) => {
        const left = (this.#owners.get(owner) ?? 0) - 1;
        if (left > 0) this.#owners.set(owner, left);
        else this.#owners.delete(owner);
        if (this.#timerWheel.size === 0) this.#lastClosed();
      },
    };
  }

  #refusal(owner: string): PolledRefusal | undefined {
    if (this.#draining !== undefined) return refused(503, 'The node is stopping.', '1');
    if (this.#timerWheel.size >= this.#limits.maxConnections) {
      return refused(503, 'The node has as many connections as it takes.', '5');
    }
    return this.#isFull(owner) ? refused(429, TOO_MANY, '60') : undefined;
  }

  #open(connectionToken: string, opening: Opening, socket: Socket): Connection {
    const { accountId, owner, keyId, expiresAt } = opening;
    const validTicks = expiresAt === undefined ? undefined : this.#ticks(expiresAt - Date.now());
    const id = connectionIdOf(connectionToken);
    const connection = new Connection(socket, { ...opening, id, validTicks }, this.#dependencies);
    // Other connections may have opened after this one was admitted.
    if (this.#isFull(owner)) connection.end(TOO_MANY, true, TRY_AGAIN);
    this.#owners.set(owner, (this.#owners.get(owner) ?? 0) + 1);
    if (this.#draining !== undefined) connection.end(this.#draining.reason, true, GOING_AWAY);
    if (this.#credentials.has({ accountId, keyId })) {
      connection.end('The credential is no longer valid.', false, POLICY);
    }
    return connection;
  }

  #noteHandedOn(connectionToken: string, isConnected: boolean): void {
    if (isConnected) this.#handedOn.set(connectionToken, true);
    else this.#handedOn.delete(connectionToken);
  }

  async #empty(reason: string): Promise<void> {
    const allClosed = new Promise<void>((resolve) => {
      this.#lastClosed = resolve;
    });
    this.#log.info({ connections: this.#timerWheel.size }, 'hub draining');
    for (const connection of this.#timerWheel) connection.end(reason, true, GOING_AWAY);
    if (this.#timerWheel.size > 0) await allClosed;
    this.#stopTicking();
    this.#stopServing?.();
    this.#ending.unsubscribe();
    this.#credentials.close();
    this.#accountNotices.close();
  }
}

function refused(status: PolledRefusal['status'], detail: string, retryAfter: string): PolledRefusal {
  return { kind: 'refused', status, detail, headers: { 'retry-after': retryAfter } };
}

function openingOf({ principal, expiresAt }: Admitted, request: UpgradeRequest, query: URLSearchParams): Opening {
  const { accountId = '', keyId = null } = principal ?? {};
  const topics = (query.get('timeline') === 'true' ? TIMELINE : 0) | (query.get('changes') === 'true' ? CHANGES : 0);
  return {
    accountId,
    owner: accountId || request.remoteAddress,
    keyId,
    resumes: accountId !== '' && query.get('resume') === 'true',
    topics,
    ...(query.get('sessions') === 'true' && { sessions: true }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
