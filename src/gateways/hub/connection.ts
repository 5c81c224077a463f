// One hub connection: the handshake, then events to the client and pings in both directions, until either side closes. Admission decides
// before the upgrade to which account the connection belongs; `subscriptions` or, for a client that resumes, `resumption` decides which
// events it gets. Durations are ticks of the timer wheel. A node has ten thousand connections, so each has only a few fields, no timers and
// no closures.
import type { Logger } from 'pino';
import { CHANGES, TIMELINE } from '../events/client-events.js';
import type { Socket, SocketListener } from '../web-socket.js';
import type { AccountNotices } from './account-notices.js';
import { carryOut } from './calls.js';
import { eventFilterOf, protocolOf, topicsOf } from './event-filter.js';
import type { Caller, ConnectionPart, HubMethods } from './methods.js';
import { HANDSHAKE_ACCEPTED, handshakeRefused, protocolNamedIn } from './protocols/handshake.js';
import { CLOSE, INVOCATION, STREAM_INVOCATION } from './protocols/hub-messages.js';
import type { HubProtocol } from './protocols/hub-protocol.js';
import { JSON_PROTOCOL } from './protocols/json-protocol.js';
import { ProtocolError } from './protocols/protocol-error.js';
import { firstOf } from './protocols/text-format.js';
import type { QueuePositions } from './queue-positions.js';
import { type ResumingConnection, Resumption, type ResumptionDependencies } from './resumption.js';
import { joined } from './shared-frames.js';
import type { Subscriber, Subscriptions } from './subscriptions.js';
import type { TimerWheel, Visited } from './timer-wheel.js';

/** The dependencies that all connections of a node share; durations are in ticks. */
export interface ConnectionDependencies {
  readonly timerWheel: TimerWheel<Connection>;
  readonly subscriptions: Subscriptions;
  readonly resumptions: ResumptionDependencies;
  readonly methods: HubMethods;
  readonly queuePositions: QueuePositions;
  readonly accountNotices: AccountNotices;
  readonly log: Logger;
  readonly handshakeTicks: number;
  /** A visit sends a ping when nothing was sent for this long. */
  readonly pingTicks: number;
  readonly clientTimeoutTicks: number;
  readonly closeTicks: number;
  readonly maxMessageBytes: number;
  readonly maxBufferedBytes: number;
  /** The number of messages and ping frames that a client may send between two visits. */
  readonly maxMessages: number;
  /** Called after a connection has closed. */
  closed(connection: Connection): void;
}

/** Who opened the connection, and with which query; `keyId` as in Principal. */
export interface HubConnectionOptions {
  readonly id: string;
  /** Empty for a client without an account, which gets no events. */
  readonly accountId: string;
  /** The limits count the connection for this account, or for this address when there is no account. */
  readonly owner: string;
  readonly keyId: string | null;
  /** The remaining time of the credential; undefined when it does not expire. */
  readonly validTicks?: number | undefined;
  /** The client calls `Resume`, and gets the events after its cursor. */
  readonly resumes: boolean;
  /** The topics that the client asked for; events for everybody need none. */
  readonly topics: number;
  /** The client asked to be told of sessions. */
  readonly sessions?: boolean | undefined;
}

/** RFC 6455 §7.4.1 */
const NORMAL = 1000;
export const GOING_AWAY = 1001;
const PROTOCOL_ERROR = 1002;
export const POLICY = 1008;
export const TRY_AGAIN = 1013;

const NOT_FOLLOWED = 'The mailbox cannot be followed at present.';

export class Connection implements SocketListener, Subscriber, ResumingConnection, Caller, Visited {
  readonly id: string;
  readonly accountId: string;
  readonly owner: string;
  readonly keyId: string | null;
  readonly slot: number;
  /** The filter of JSON until the client has named its protocol. */
  filter: number;
  readonly #isToldOfSessions: boolean;
  /** The tick at which the credential ends. */
  readonly #endsAt: number;
  readonly #socket: Socket;
  readonly #dependencies: ConnectionDependencies;
  readonly resumption: Resumption | undefined;
  /** Undefined when the connection has no parts. */
  #parts: ConnectionPart[] | undefined;
  /** `joining`: the handshake is read, and is answered when the subscription is ready. */
  #state: 'handshake' | 'joining' | 'open' | 'closing' | 'closed' = 'handshake';
  /** Messages that arrived while joining. */
  #early: Uint8Array[] | undefined;
  /** Collects the answers to the messages of one frame, which leave in one frame. */
  #answers: Uint8Array[] | undefined;
  /** The tick of the last message from the client. */
  #heardAt: number;
  /** The tick of the last message to the client. */
  #sentAt: number;
  /** The number of messages and ping frames from the client since the last visit. */
  #received = 0;

  constructor(socket: Socket, options: HubConnectionOptions, dependencies: ConnectionDependencies) {
    this.id = options.id;
    this.accountId = options.accountId;
    this.owner = options.owner;
    this.keyId = options.keyId;
    this.filter = eventFilterOf({ protocol: JSON_PROTOCOL, topics: options.topics });
    this.slot = dependencies.timerWheel.nextSlot();
    this.#socket = socket;
    this.#dependencies = dependencies;
    this.resumption = options.resumes ? new Resumption(this, dependencies.resumptions) : undefined;
    if (this.resumption !== undefined) this.#parts = [this.resumption];
    this.#isToldOfSessions = options.sessions === true && options.accountId !== '';
    this.#endsAt = dependencies.timerWheel.now + (options.validTicks ?? Number.POSITIVE_INFINITY);
    this.#heardAt = dependencies.timerWheel.now;
    this.#sentAt = dependencies.timerWheel.now;
    dependencies.timerWheel.add(this);
    dependencies.log.debug({ connectionId: this.id, accountId: this.accountId }, 'hub connection opened');
  }

  get protocol(): HubProtocol {
    return protocolOf(this.filter);
  }

  get topics(): number {
    return topicsOf(this.filter);
  }

  message(data: Uint8Array): void {
    if (!this.#isOpen) return;
    this.heard();
    this.#guarded(() => {
      const { maxMessageBytes } = this.#dependencies;
      if (data.length > maxMessageBytes) {
        throw new ProtocolError(`A frame of ${data.length} octets; at most ${maxMessageBytes} are accepted.`);
      }
      const rest = this.#state === 'handshake' ? this.#shakeHands(data) : data;
      if (rest === undefined) return;
      const messages = this.protocol.split(rest);
      if (!this.#mayReceive(messages.length)) return;
      if (this.#state === 'joining') this.#keep(messages);
      else this.#take(messages);
    });
  }

  /** Notes a sign of life from the client. */
  heard(): void {
    this.#heardAt = this.#dependencies.timerWheel.now;
  }

  pinged(): void {
    this.#mayReceive(1);
  }

  ready(): void {
    if (this.#state !== 'joining') return;
    this.#state = 'open';
    this.#send(HANDSHAKE_ACCEPTED);
    if ((this.topics & TIMELINE) !== 0 && this.accountId !== '') this.#dependencies.queuePositions.follow(this);
    const notices = { sessions: this.#isToldOfSessions, changes: (this.topics & CHANGES) !== 0 };
    if (this.accountId !== '') this.#dependencies.accountNotices.follow(this, notices);
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined) this.#guarded(() => this.#take(early));
  }

  drained(): void {
    if (this.#parts !== undefined) for (const part of this.#parts) part.drained();
  }

  closed(code: number): void {
    if (this.#state === 'closed') return;
    this.#leave('closed');
    this.#dependencies.timerWheel.remove(this);
    this.#dependencies.log.debug({ connectionId: this.id, accountId: this.accountId, code }, 'hub connection closed');
    this.#dependencies.closed(this);
  }

  deliver(frame: Uint8Array): void {
    this.#send(frame);
  }

  bufferedBytes(): number {
    return this.#socket.bufferedBytes();
  }

  add(part: ConnectionPart): void {
    if (!this.#isOpen) {
      part.end();
      return;
    }
    this.#parts ??= [];
    this.#parts.push(part);
  }

  interrupted(): void {
    const error = this.#state === 'joining' ? NOT_FOLLOWED : 'The events of the mailbox were interrupted.';
    this.end(error, true, TRY_AGAIN);
  }

  tooSlow(): void {
    this.#dependencies.log.warn(
      { connectionId: this.id, accountId: this.accountId, bufferedBytes: this.#socket.bufferedBytes() },
      'slow hub client cut off',
    );
    this.#leave('closing');
    this.#socket.terminate();
  }

  visit(now: number): void {
    const dependencies = this.#dependencies;
    this.#received = 0;
    // A client that reconnects automatically asks its application for a new token.
    if (now >= this.#endsAt) this.end('The token has expired.', true, POLICY);
    if (this.#state === 'open') {
      if (now - this.#heardAt >= dependencies.clientTimeoutTicks) {
        this.end('Nothing was heard from the client within the time-out.', true, NORMAL);
      } else if (now - this.#sentAt >= dependencies.pingTicks) {
        this.#send(this.protocol.ping);
      }
      if (this.#parts !== undefined) for (const part of this.#parts) part.visit();
    } else if (this.#isOpen) {
      if (now - this.#sentAt < dependencies.handshakeTicks) return;
      if (this.#state === 'joining') this.end(NOT_FOLLOWED, true, TRY_AGAIN);
      else this.end('The handshake was not completed in time.', true, POLICY);
    } else if (this.#state === 'closing' && now - this.#sentAt >= dependencies.closeTicks) {
      this.#socket.terminate();
    }
  }

  /** Sends the client the reason and closes; before the handshake is complete, the answer to it is the reason. */
  end(error: string, allowReconnect: boolean, code: number): void {
    if (!this.#isOpen) return;
    const isConnected = this.#state === 'open';
    const farewell = isConnected
      ? this.protocol.encode({ type: CLOSE, error, allowReconnect })
      : handshakeRefused(error);
    if (this.#send(farewell)) this.#close(code);
  }

  /** Counts messages; false when the client has sent too many, which ends the connection. */
  #mayReceive(count: number): boolean {
    this.#received += count;
    if (this.#received <= this.#dependencies.maxMessages) return true;
    this.end('The client sends too many messages.', false, POLICY);
    return false;
  }

  get #isOpen(): boolean {
    return this.#state === 'handshake' || this.#state === 'joining' || this.#state === 'open';
  }

  /** Ends the connection when `read` throws a ProtocolError. */
  #guarded(read: () => void): void {
    try {
      read();
    } catch (err) {
      if (!(err instanceof ProtocolError)) throw err;
      this.#dependencies.log.debug(
        { connectionId: this.id, accountId: this.accountId, err },
        'hub client broke the protocol',
      );
      this.end(err.message, false, PROTOCOL_ERROR);
    }
  }

  /** Returns the octets after the handshake; undefined when there are none. */
  #shakeHands(data: Uint8Array): Uint8Array | undefined {
    const [handshake, rest] = firstOf(data);
    if (!this.#mayReceive(1)) return undefined;
    const protocol = protocolNamedIn(handshake);
    if (protocol.isBinary && !this.#socket.useBinary()) {
      throw new ProtocolError(`The transport carries text only, and the protocol '${protocol.name}' is binary.`);
    }
    this.filter = eventFilterOf({ protocol, topics: this.topics });
    this.#state = 'joining';
    // The subscription is ready before the client learns that it is connected, so the client misses no later event. Frames are sent at the
    // end of a tick at the earliest, so none precedes the answer. A client that resumes calls `Resume` later.
    if (this.resumption !== undefined || this.accountId === '') this.ready();
    else if (!this.#dependencies.subscriptions.join(this.accountId, this)) this.end(NOT_FOLLOWED, true, TRY_AGAIN);
    return rest.length > 0 ? rest : undefined;
  }

  #keep(messages: readonly Uint8Array[]): void {
    this.#early ??= [];
    this.#early.push(...messages);
    // Each message also counts one octet for its framing.
    const octets = this.#early.reduce((sum, { length }) => sum + length + 1, 0);
    if (octets > this.#dependencies.maxMessageBytes) {
      throw new ProtocolError('More was sent than is taken before the answer to the handshake.');
    }
  }

  #take(messages: readonly Uint8Array[]): void {
    const answers: Uint8Array[] = [];
    this.#answers = answers;
    try {
      for (const message of messages) {
        // An earlier message has closed the connection.
        if (this.#state !== 'open') return;
        this.#handle(message);
      }
    } finally {
      this.#answers = undefined;
    }
    if (answers.length > 0) this.#send(joined(answers));
  }

  #handle(octets: Uint8Array): void {
    const message = this.protocol.parse(octets);
    switch (message?.type) {
      case INVOCATION:
      case STREAM_INVOCATION: {
        const { methods, log } = this.#dependencies;
        carryOut(methods, this, message, (completion) => this.#answer(this.protocol.encode(completion)), log);
        return;
      }
      case CLOSE:
        this.#close(NORMAL);
    }
  }

  #answer(answer: Uint8Array): void {
    if (this.#answers === undefined) this.#send(answer);
    else this.#answers.push(answer);
  }

  /** False when the connection is closed, or is cut off because the client does not keep up. */
  #send(messages: Uint8Array): boolean {
    if (!this.#isOpen) return false;
    // The check is before the send, so that one large frame does not cut off a client that keeps up.
    if (this.#socket.bufferedBytes() > this.#dependencies.maxBufferedBytes) {
      this.tooSlow();
      return false;
    }
    this.#sentAt = this.#dependencies.timerWheel.now;
    return this.#socket.send(messages);
  }

  #close(code: number): void {
    this.#leave('closing');
    this.#sentAt = this.#dependencies.timerWheel.now;
    this.#socket.close(code, '');
  }

  #leave(state: 'closing' | 'closed'): void {
    const before = this.#state;
    this.#state = state;
    const parts = this.#parts;
    this.#parts = undefined;
    if (parts !== undefined) for (const part of parts) part.end();
    const isJoined = this.resumption === undefined && this.accountId !== '';
    if (isJoined && (before === 'joining' || before === 'open'))
      this.#dependencies.subscriptions.leave(this.accountId, this);
  }
}
