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
import type { Socket, UpgradeDecision, UpgradeRequest, WebSocketEndpoint } from '../web-socket.js';
import { type Admission, type Admitted, admit, problem } from './admission.js';
import { Connection, GOING_AWAY, POLICY, TRY_AGAIN } from './connection.js';
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
  const { directory, mailboxes, log, peers, rates = new Rates(), timing = EVENT_LOOP } = options;
  const admitting = { ...options, rates };
  const limits = { ...HUB_LIMITS, ...options.limits };
  const tickMs = limits.keepAliveMs / KEEP_ALIVE_TICKS;
  const ticks = (ms: number) => Math.ceil(ms / tickMs);

  const timerWheel = new TimerWheel<Connection>();
  /** The number of open connections by account, or by address when there is no account. */
  const owners = new Map<string, number>();
  const credentials = new EndedCredentials(directory, log);
  let draining: { readonly reason: string; readonly finished: Promise<void> } | undefined;
  let lastClosed = () => {};

  const pauseBytes = limits.maxBufferedBytes / PAUSE_SHARE;
  const liveQueries = options.lists && new LiveQueries({ ...options, language: options.lists, limits, pauseBytes });
  const dependencies = {
    timerWheel,
    subscriptions: new Subscriptions(mailboxes, log, (flush) => timing.defer(flush), options),
    resumptions: {
      mailboxes,
      frames: new CursorFrames(log),
      log,
      pauseBytes,
      stallVisits: Math.ceil(ticks(limits.clientTimeoutMs) / SLOTS),
      defer: (run: () => void) => timing.defer(run),
    },
    methods: new Map([...RESUME_METHODS, ...(liveQueries?.methods ?? [])]),
    queuePositions: new QueuePositions({
      mailboxes,
      log,
      queuePositionMs: limits.queuePositionMs,
      pauseBytes,
    }),
    log,
    handshakeTicks: ticks(limits.handshakeMs),
    pingTicks: KEEP_ALIVE_TICKS - SLOTS,
    clientTimeoutTicks: ticks(limits.clientTimeoutMs),
    closeTicks: ticks(limits.closeMs),
    maxMessageBytes: limits.maxMessageBytes,
    maxBufferedBytes: limits.maxBufferedBytes,
    maxMessages: limits.maxMessages,
    closed({ owner }: Connection) {
      const left = (owners.get(owner) ?? 0) - 1;
      if (left > 0) owners.set(owner, left);
      else owners.delete(owner);
      if (timerWheel.size === 0) lastClosed();
    },
  };

  const stopTicking = timing.every(tickMs, () => timerWheel.tick());
  const ending = credentials.ended$.subscribe((ended) => {
    const error = ended.kind === 'key' ? 'The API key has been revoked.' : 'The account has been deleted.';
    for (const connection of timerWheel) if (isMeant(ended, connection)) connection.end(error, false, POLICY);
  });

  const isFull = (owner: string): boolean => (owners.get(owner) ?? 0) >= limits.maxOwnConnections;

  function refusal(owner: string): PolledRefusal | undefined {
    if (draining !== undefined) return refused(503, 'The node is stopping.', '1');
    if (timerWheel.size >= limits.maxConnections) {
      return refused(503, 'The node has as many connections as it takes.', '5');
    }
    return isFull(owner) ? refused(429, TOO_MANY, '60') : undefined;
  }

  function open(connectionToken: string, opening: Opening, socket: Socket): Connection {
    const { accountId, owner, keyId, expiresAt } = opening;
    const validTicks = expiresAt === undefined ? undefined : ticks(expiresAt - Date.now());
    const id = connectionIdOf(connectionToken);
    const connection = new Connection(socket, { ...opening, id, validTicks }, dependencies);
    // Other connections may have opened after this one was admitted.
    if (isFull(owner)) connection.end(TOO_MANY, true, TRY_AGAIN);
    owners.set(owner, (owners.get(owner) ?? 0) + 1);
    if (draining !== undefined) connection.end(draining.reason, true, GOING_AWAY);
    if (credentials.has({ accountId, keyId })) {
      connection.end('The credential is no longer valid.', false, POLICY);
    }
    return connection;
  }

  const hubId = newHubId();
  const polled = new PolledConnections({
    silenceMs: limits.silenceMs,
    confirmMs: limits.confirmMs,
    defer: (run) => timing.defer(run),
    mayOpen(connectionToken) {
      const origin = originOf(connectionToken);
      return origin?.hubId === hubId && timerWheel.now - origin.tick < ticks(limits.openMs);
    },
    refusal,
    open,
  });
  const stopServing = peers?.serve(hubId, (request) => polled.carryOut(request, true));
  /** Tokens of connections of other hubs, to which this node forwards requests. */
  // `maxSize` allocates nothing in advance; `max` would.
  const handedOn = new LRUCache<string, true>({ maxSize: limits.maxConnections, sizeCalculation: () => 1 });

  function noteHandedOn(connectionToken: string, isConnected: boolean): void {
    if (isConnected) handedOn.set(connectionToken, true);
    else handedOn.delete(connectionToken);
  }

  return {
    maxMessageBytes: limits.maxMessageBytes,

    get connections() {
      return timerWheel.size;
    },

    async negotiate(request) {
      const query = new URLSearchParams(request.query);
      const admission = await admit(request, query, admitting);
      if ('refused' in admission) return admission.refused;
      const refusing = refusal(admission.principal?.accountId ?? request.remoteAddress);
      if (refusing !== undefined) return problem(refusing.status, refusing.detail, refusing.headers);
      return negotiateAnswer(query, newToken({ hubId, tick: timerWheel.now }));
    },

    upgrade(request) {
      const query = new URLSearchParams(request.query);
      const connectionToken = query.get('id') ?? newToken({ hubId, tick: timerWheel.now });
      if (!isToken(connectionToken)) return problem(400, MALFORMED);
      const decide = (admission: Admission): UpgradeDecision => {
        if ('refused' in admission) return admission.refused;
        const opening = openingOf(admission, request, query);
        const refusing = refusal(opening.owner);
        if (refusing !== undefined) return problem(refusing.status, refusing.detail, refusing.headers);
        return (socket) => open(connectionToken, opening, socket);
      };
      const admission = admit(request, query, admitting);
      return admission instanceof Promise ? admission.then(decide) : decide(admission);
    },

    async exchange(request) {
      const query = new URLSearchParams(request.query);
      const connectionToken = query.get('id');
      if (connectionToken === null && request.method === 'GET') {
        return problem(426, 'Without the id of a negotiation, the hub takes WebSockets only.', {
          upgrade: 'websocket',
        });
      }
      if (connectionToken === null || !isToken(connectionToken)) return problem(400, MALFORMED);
      // The connection itself limits its further requests.
      const isNew = !polled.has(connectionToken) && !handedOn.has(connectionToken);
      const admission = await admit(request, query, admitting, isNew ? 'hub' : 'unlimited');
      if ('refused' in admission) return admission.refused;
      const { maxMessageBytes } = limits;
      const fallback = { hubId, connections: polled, maxMessageBytes, ...(peers && { peers }) };
      const answer = await fallbackAnswer(request, connectionToken, openingOf(admission, request, query), fallback);
      const isOfPeer = originOf(connectionToken)?.hubId !== hubId;
      if (isOfPeer) noteHandedOn(connectionToken, answer.status < 400 && request.method !== 'DELETE');
      return answer;
    },

    drain(reason) {
      draining ??= { reason, finished: empty(reason) };
      return draining.finished;
    },
  };

  async function empty(reason: string): Promise<void> {
    const allClosed = new Promise<void>((resolve) => {
      lastClosed = resolve;
    });
    log.info({ connections: timerWheel.size }, 'hub draining');
    for (const connection of timerWheel) connection.end(reason, true, GOING_AWAY);
    if (timerWheel.size > 0) await allClosed;
    stopTicking();
    stopServing?.();
    ending.unsubscribe();
    credentials.close();
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
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
