// The real-time hub at /hubs/email (docs/hub.md): a WebSocket endpoint that speaks the SignalR hub protocol and
// sends every connection of an account the account's events. The HTTP server has the sockets, the mailbox the events. Nodes
// share nothing of a connection: a client that resumes sends its position in the log.
import type { Logger } from 'pino';
import type { Mailboxes } from '../../actors/mailbox/protocol.js';
import type { Tracer } from '../../actors/runtime/tracing.js';
import type { TokenVerifier } from '../../auth/oidc/token-verifier.js';
import type { AnonymousGuard } from '../../auth/origin.js';
import { Rates } from '../../auth/rates.js';
import type { Directory } from '../../directory/protocol.js';
import { CHANGES, TIMELINE } from '../events/client-events.js';
import type { WebSocketEndpoint } from '../web-socket.js';
import { admit, problem } from './admission.js';
import { Connection, GOING_AWAY, POLICY, TRY_AGAIN } from './connection.js';
import { HUB_LIMITS, type HubLimits } from './limits.js';
import type { HubMeter } from './meter.js';
import { RESUME_METHODS } from './methods.js';
import { connectionIdFor, negotiateAnswer } from './negotiate.js';
import { PositionedFrames } from './positioned-frames.js';
import { QueuePositions } from './queue-positions.js';
import { Subscriptions } from './subscriptions.js';
import { SLOTS, TimerWheel } from './timer-wheel.js';

export interface HubOptions {
  readonly directory: Directory;
  /** None: there is no identity provider. */
  readonly tokens?: TokenVerifier;
  readonly mailboxes: Mailboxes;
  readonly log: Logger;
  readonly meter?: HubMeter;
  readonly tracer?: Tracer;
  readonly limits?: Partial<HubLimits>;
  /** Which requests without a token act for the anonymous account. */
  readonly guard: AnonymousGuard;
  /** No limits when absent. */
  readonly rates?: Rates;
  readonly timing?: HubTiming;
}

export interface HubTiming {
  /** Calls back every `ms` until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
  /** Runs its argument once the input of the current turn of the event loop has been handled. */
  defer(run: () => void): void;
}

export interface Hub extends WebSocketEndpoint {
  /** Open connections. */
  readonly connections: number;
  /**
   * For a node that stops: refuses new connections with 503, and closes the others with the request to connect again (to
   * another node). Resolves when the last connection is closed; clients that do not answer are dropped after `closeMs`.
   */
  drain(reason: string): Promise<void>;
}

const TOO_MANY = 'The account has as many connections as it may.';
/** Ticks in the keep-alive time; a connection is visited every `SLOTS` of them. */
const KEEP_ALIVE_TICKS = 3 * SLOTS;
/** The stream of a client that resumes pauses at this fraction of the bound of its buffer. */
const PAUSE_SHARE = 4;
/** A revocation may arrive between the check of a key and the opening of its socket. Ids kept. */
const MAX_ENDED = 1024;

const EVENT_LOOP: HubTiming = {
  every(ms, tick) {
    const timer = setInterval(tick, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  defer: (run) => void setImmediate(run),
};

export function createHub(options: HubOptions): Hub {
  const { directory, tokens, mailboxes, log, guard, rates = new Rates(), timing = EVENT_LOOP } = options;
  const limits = { ...HUB_LIMITS, ...options.limits };
  const tickMs = limits.keepAliveMs / KEEP_ALIVE_TICKS;
  const ticks = (ms: number) => Math.ceil(ms / tickMs);

  const timerWheel = new TimerWheel<Connection>();
  /** Number of open connections by account, or by address without an account. */
  const owners = new Map<string, number>();
  /** Keys and accounts that ended a moment ago. */
  const ended = new Set<string>();
  let draining: { readonly reason: string; readonly finished: Promise<void> } | undefined;
  let lastClosed = () => {};

  const dependencies = {
    timerWheel,
    subscriptions: new Subscriptions(mailboxes, log, (flush) => timing.defer(flush), options),
    resumptions: {
      mailboxes,
      frames: new PositionedFrames(log),
      log,
      pauseBytes: limits.maxBufferedBytes / PAUSE_SHARE,
      stallVisits: Math.ceil(ticks(limits.clientTimeoutMs) / SLOTS),
      defer: (run: () => void) => timing.defer(run),
    },
    methods: RESUME_METHODS,
    queuePositions: new QueuePositions({
      mailboxes,
      log,
      queuePositionMs: limits.queuePositionMs,
      pauseBytes: limits.maxBufferedBytes / PAUSE_SHARE,
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
  const revoked = directory.revokedKeys$.subscribe({
    next: (id) => end(id, (connection) => connection.keyId === id, 'The API key has been revoked.'),
    error: (err) => log.error({ err }, 'the hub is not notified of revoked keys any more'),
  });
  const deleted = directory.deletedAccounts$.subscribe({
    next: (id) => end(id, (connection) => connection.accountId === id, 'The account has been deleted.'),
    error: (err) => log.error({ err }, 'the hub is not notified of deleted accounts any more'),
  });

  function end(id: string, concerns: (connection: Connection) => boolean, error: string): void {
    ended.add(id);
    if (ended.size > MAX_ENDED) ended.delete(ended.values().next().value!);
    for (const connection of timerWheel) if (concerns(connection)) connection.end(error, false, POLICY);
  }

  const isFull = (owner: string): boolean => (owners.get(owner) ?? 0) >= limits.maxOwnConnections;

  function refusal(owner: string) {
    if (draining !== undefined) return problem(503, 'The node is stopping.', { 'retry-after': '1' });
    if (timerWheel.size >= limits.maxConnections) {
      return problem(503, 'The node has as many connections as it takes.', { 'retry-after': '5' });
    }
    if (isFull(owner)) return problem(429, TOO_MANY, { 'retry-after': '60' });
    return undefined;
  }

  return {
    maxMessageBytes: limits.maxMessageBytes,

    get connections() {
      return timerWheel.size;
    },

    async negotiate(request) {
      const query = new URLSearchParams(request.query);
      const admission = await admit(request, query, directory, tokens, guard, rates, log);
      if ('refused' in admission) return admission.refused;
      return refusal(admission.principal?.accountId ?? request.remoteAddress) ?? negotiateAnswer(query);
    },

    async upgrade(request) {
      const query = new URLSearchParams(request.query);
      const id = connectionIdFor(query);
      if (id === undefined) return problem(400, 'The connection token (id) is malformed.');
      const admission = await admit(request, query, directory, tokens, guard, rates, log);
      if ('refused' in admission) return admission.refused;
      const { accountId = '', keyId = null } = admission.principal ?? {};
      const owner = accountId || request.remoteAddress;
      const refused = refusal(owner);
      if (refused !== undefined) return refused;
      const { expiresAt } = admission;
      const resumes = accountId !== '' && query.get('resume') === 'true';
      const topics =
        (query.get('timeline') === 'true' ? TIMELINE : 0) | (query.get('changes') === 'true' ? CHANGES : 0);
      return (socket) => {
        const validTicks = expiresAt === undefined ? undefined : ticks(expiresAt - Date.now());
        const connectionOptions = { id, accountId, owner, keyId, resumes, topics, validTicks };
        const connection = new Connection(socket, connectionOptions, dependencies);
        // Others may have been opened since this one was admitted.
        if (isFull(owner)) connection.end(TOO_MANY, true, TRY_AGAIN);
        owners.set(owner, (owners.get(owner) ?? 0) + 1);
        if (draining !== undefined) connection.end(draining.reason, true, GOING_AWAY);
        if (ended.has(accountId) || (keyId !== null && ended.has(keyId))) {
          connection.end('The credential is no longer valid.', false, POLICY);
        }
        return connection;
      };
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
    revoked.unsubscribe();
    deleted.unsubscribe();
  }
}
