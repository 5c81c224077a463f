// One hub connection: handshake, then events out and pings both ways, until either side closes. It knows one socket and
// counts in ticks of the roster; which events it gets is the subscriptions' business, who it is was settled before the
// upgrade. Ten thousand of these live on a node: a few fields each, no timers, no closures.
import type { Logger } from 'pino';
import type { Socket, SocketListener } from '../web-socket.js';
import { checkHandshake, HANDSHAKE_ACCEPTED, handshakeRefused } from './handshake.js';
import { CLOSE, COMPLETION, encodeMessage, INVOCATION, PING, parseMessage, STREAM_INVOCATION } from './json-codec.js';
import { ProtocolError } from './protocol-error.js';
import type { Roster, Visited } from './roster.js';
import type { Subscriber, Subscriptions } from './subscriptions.js';
import { splitFrame } from './text-format.js';

/** What all connections of a node share; durations in ticks. */
export interface Surroundings {
  readonly roster: Roster<Connection>;
  readonly subscriptions: Subscriptions;
  readonly log: Logger;
  readonly handshakeTicks: number;
  /** Silence of ours after which a visit sends a ping. */
  readonly pingTicks: number;
  readonly clientTimeoutTicks: number;
  readonly closeTicks: number;
  readonly maxMessageBytes: number;
  readonly maxBufferedBytes: number;
  /** Called after a connection has gone. */
  gone(): void;
}

/** Whose connection it is; `keyId` as in Principal. */
export interface Holder {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | null;
}

/** RFC 6455 §7.4.1 */
const NORMAL = 1000;
export const GOING_AWAY = 1001;
const PROTOCOL_ERROR = 1002;
export const POLICY = 1008;
const TRY_AGAIN = 1013;

const PING_MESSAGE = encodeMessage({ type: PING });

export class Connection implements SocketListener, Subscriber, Visited {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | null;
  readonly slot: number;
  readonly #socket: Socket;
  readonly #around: Surroundings;
  #state: 'handshake' | 'open' | 'closing' | 'closed' = 'handshake';
  /** Tick of the last message from the client. */
  #heardAt: number;
  /** Tick of the last message to the client. */
  #sentAt: number;

  constructor(socket: Socket, holder: Holder, around: Surroundings) {
    this.id = holder.id;
    this.accountId = holder.accountId;
    this.keyId = holder.keyId;
    this.slot = around.roster.nextSlot();
    this.#socket = socket;
    this.#around = around;
    this.#heardAt = around.roster.now;
    this.#sentAt = around.roster.now;
    around.roster.add(this);
    around.log.debug({ connectionId: this.id, accountId: this.accountId }, 'hub connection opened');
  }

  message(data: Uint8Array): void {
    if (this.#state !== 'handshake' && this.#state !== 'open') return;
    this.#heardAt = this.#around.roster.now;
    try {
      const messages = splitFrame(data, this.#around.maxMessageBytes);
      const first = this.#state === 'handshake' ? 1 : 0;
      if (first === 1) this.#shakeHands(messages[0]!);
      let answers = '';
      for (let i = first; i < messages.length; i++) {
        // Closed by a message before: the rest is of no interest.
        if (this.#state !== 'open') return;
        answers += this.#handle(messages[i]!);
      }
      if (answers !== '') this.#send(answers);
    } catch (err) {
      if (!(err instanceof ProtocolError)) throw err;
      this.#around.log.debug(
        { connectionId: this.id, accountId: this.accountId, err },
        'hub client broke the protocol',
      );
      this.end(err.message, false, PROTOCOL_ERROR);
    }
  }

  drained(): void {}

  closed(code: number): void {
    if (this.#state === 'closed') return;
    this.#leave('closed');
    this.#around.roster.remove(this);
    this.#around.log.debug({ connectionId: this.id, accountId: this.accountId, code }, 'hub connection closed');
    this.#around.gone();
  }

  deliver(frame: string): void {
    this.#send(frame);
  }

  interrupted(): void {
    this.end('The events of the mailbox were interrupted.', true, TRY_AGAIN);
  }

  visit(now: number): void {
    const around = this.#around;
    if (this.#state === 'open') {
      if (now - this.#heardAt >= around.clientTimeoutTicks) {
        this.end('Nothing was heard from the client within the time-out.', true, NORMAL);
      } else if (now - this.#sentAt >= around.pingTicks) {
        this.#send(PING_MESSAGE);
      }
    } else if (this.#state === 'handshake') {
      if (now - this.#sentAt >= around.handshakeTicks) {
        this.end('The handshake was not completed in time.', true, POLICY);
      }
    } else if (this.#state === 'closing' && now - this.#sentAt >= around.closeTicks) {
      this.#socket.terminate();
    }
  }

  /** Tells the client why and closes; before the handshake the reason is the answer to it. */
  end(error: string, allowReconnect: boolean, code: number): void {
    if (this.#state !== 'handshake' && this.#state !== 'open') return;
    const farewell =
      this.#state === 'handshake' ? handshakeRefused(error) : encodeMessage({ type: CLOSE, error, allowReconnect });
    if (this.#send(farewell)) this.#close(code);
  }

  #shakeHands(text: string): void {
    checkHandshake(text);
    // The subscription stands before the client learns that it is connected, so it misses nothing from then on; frames
    // go out at the end of a tick at the earliest, so none overtakes the answer.
    if (!this.#around.subscriptions.join(this.accountId, this)) {
      this.end('The mailbox cannot be followed at present.', true, TRY_AGAIN);
      return;
    }
    this.#state = 'open';
    this.#send(HANDSHAKE_ACCEPTED);
  }

  /** Returns what is to be answered. */
  #handle(text: string): string {
    const message = parseMessage(text);
    switch (message?.type) {
      case INVOCATION:
      case STREAM_INVOCATION:
        if (message.invocationId === undefined) return '';
        return encodeMessage({
          type: COMPLETION,
          invocationId: message.invocationId,
          error: `Unknown hub method '${message.target.slice(0, 80)}': this hub has none to call.`,
        });
      case CLOSE:
        this.#close(NORMAL);
        return '';
      default:
        return '';
    }
  }

  /** False when the connection is gone, or was cut off because the client does not keep up. */
  #send(text: string): boolean {
    if (this.#state !== 'handshake' && this.#state !== 'open') return false;
    // Before the send: one large frame to a client that keeps up is no reason to part.
    const bufferedBytes = this.#socket.bufferedBytes();
    if (bufferedBytes > this.#around.maxBufferedBytes) {
      this.#around.log.warn(
        { connectionId: this.id, accountId: this.accountId, bufferedBytes },
        'slow hub client cut off',
      );
      this.#leave('closing');
      this.#socket.terminate();
      return false;
    }
    this.#sentAt = this.#around.roster.now;
    return this.#socket.send(text);
  }

  #close(code: number): void {
    this.#leave('closing');
    this.#sentAt = this.#around.roster.now;
    this.#socket.close(code, '');
  }

  #leave(state: 'closing' | 'closed'): void {
    if (this.#state === 'open') this.#around.subscriptions.leave(this.accountId, this);
    this.#state = state;
  }
}
