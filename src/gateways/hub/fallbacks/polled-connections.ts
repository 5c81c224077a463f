// The connections of this node that have no WebSocket, and the requests of their clients: the node that received a request forwards it to
// here, directly or over the bus. A request is admitted before, and reaches only connections of the same owner. A connection ends with the
// node: its client learns that there is none, and connects again.
import { lruCache } from '../../../concurrency/lru-cache.js';
import { atMost } from '../../../concurrency/time-bounds.js';
import type { ProblemStatus } from '../../problem-details.js';
import type { Connection, HubConnectionOptions } from '../connection.js';
import { type Polled, PolledSocket, type PolledSocketOptions } from './polled-socket.js';

/** What an admitted client asked for when it connected; it is sent as JSON. */
export interface Opening extends Omit<HubConnectionOptions, 'id' | 'validTicks'> {
  /** ms since the epoch; absent when the credential does not end by itself. */
  readonly expiresAt?: number;
}

/**
 * `stream` opens for server-sent events, `poll` for long polling; `next` polls without a sign of life from the client; `taken` confirms
 * that the frames of the last poll have been sent to the client.
 */
const KINDS = ['stream', 'poll', 'next', 'taken', 'send', 'end'] as const;
type PolledKind = (typeof KINDS)[number];

/** A request to the node that has the connection. */
export interface PolledRequest {
  readonly kind: PolledKind;
  readonly connectionToken: string;
  readonly opening: Opening;
  /** The octets that the client sends. */
  readonly octets?: Uint8Array;
}

export type PolledReply =
  | (Polled & {
      /** Present with frames: the next poll waits until these frames are confirmed. */
      readonly toConfirm?: boolean;
    })
  /** The connection is open, the octets are received, or the connection has ended. */
  | { readonly kind: 'done' }
  | {
      readonly kind: 'refused';
      readonly status: ProblemStatus;
      readonly detail: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export type PolledRefusal = Extract<PolledReply, { readonly kind: 'refused' }>;

export interface PolledConnectionsOptions extends Omit<PolledSocketOptions, 'carriesBinary'> {
  /** A poll waits this long for the confirmation of the previous frames, then the connection ends. ms */
  readonly confirmMs: number;
  /** Whether a connection may be opened with this token now. */
  mayOpen(connectionToken: string): boolean;
  /** The reason for which no connection of this owner can open now. */
  refusal(owner: string): PolledRefusal | undefined;
  open(connectionToken: string, opening: Opening, socket: PolledSocket): Connection;
}

interface PolledConnection {
  readonly connection: Connection;
  readonly socket: PolledSocket;
  readonly isStream: boolean;
  /** The confirmation of frames that another node has received, while it is missing. */
  unconfirmed: Confirmation | undefined;
  /** Identifies the last poll that waits for the confirmation; earlier polls do not continue. */
  waiting: symbol | undefined;
}

interface Confirmation {
  readonly came: Promise<void>;
  confirm(): void;
}

const NONE: PolledRefusal = {
  kind: 'refused',
  status: 404,
  detail: 'There is no such connection (any more): connect again.',
};
const OTHER_TRANSPORT: PolledRefusal = {
  kind: 'refused',
  status: 400,
  detail: 'The connection has another transport.',
};
/** The number of remembered tokens. After a while a token is too old to open a connection. */
const MAX_ENDED = 10_000;
const DONE: PolledReply = { kind: 'done' };
const OVER: PolledReply = { kind: 'over' };

/** False for kinds of requests of a later version. */
export function isPolledKind(name: string): name is PolledKind {
  return KINDS.some((kind) => kind === name);
}

export class PolledConnections {
  readonly #options: PolledConnectionsOptions;
  /** The open connections by their tokens. */
  readonly #connections = new Map<string, PolledConnection>();
  /** Tokens of connections that ended recently: a late request does not open them again. */
  readonly #ended = lruCache<string, true>(MAX_ENDED);

  constructor(options: PolledConnectionsOptions) {
    this.#options = options;
  }

  has(connectionToken: string): boolean {
    return this.#connections.has(connectionToken);
  }

  /** `isOfOtherNode`: the request comes from another node, which confirms the frames that it receives. */
  async carryOut(request: PolledRequest, isOfOtherNode = false): Promise<PolledReply> {
    const { kind, connectionToken, opening } = request;
    const polled = this.#connections.get(connectionToken);
    if (polled === undefined) {
      const opens = kind === 'stream' || kind === 'poll';
      return opens ? this.#open(connectionToken, opening, kind === 'stream') : NONE;
    }
    const { connection, socket, isStream } = polled;
    if (connection.owner !== opening.owner) return NONE;
    switch (kind) {
      case 'stream':
        return OTHER_TRANSPORT;
      case 'poll':
        return isStream ? OTHER_TRANSPORT : this.#poll(polled, isOfOtherNode);
      case 'next':
        return this.#frames(polled, isOfOtherNode);
      case 'taken':
        polled.unconfirmed?.confirm();
        return DONE;
      case 'send':
        connection.message(request.octets ?? new Uint8Array(0));
        return DONE;
      case 'end':
        socket.terminate();
        return DONE;
    }
  }

  #poll(polled: PolledConnection, isOfOtherNode: boolean): Promise<PolledReply> {
    const { connection, socket, waiting } = polled;
    // A poll that replaces another one counts as a message, so that their number is limited.
    if (socket.isPolled || waiting !== undefined) connection.pinged();
    connection.heard();
    return this.#frames(polled, isOfOtherNode);
  }

  /**
   * A node that dies loses the frames of a poll, and a balancer sends the next poll to another node, as if the client had received them. So
   * frames that another node received must be confirmed before more are given out.
   */
  async #frames(polled: PolledConnection, isOfOtherNode: boolean): Promise<PolledReply> {
    const { socket, unconfirmed } = polled;
    if (unconfirmed !== undefined) {
      const waiting = Symbol('waiting');
      polled.waiting = waiting;
      const isConfirmed = await atMost(unconfirmed.came, this.#options.confirmMs);
      if (polled.waiting !== waiting) return OVER;
      polled.waiting = undefined;
      if (!isConfirmed) {
        socket.terminate();
        return NONE;
      }
    }
    const reply = await socket.poll();
    if (reply.kind !== 'frames' || !isOfOtherNode || polled.isStream) return reply;
    polled.unconfirmed = confirmationOf(polled);
    return { ...reply, toConfirm: true };
  }

  #open(connectionToken: string, opening: Opening, isStream: boolean): PolledReply {
    if (this.#ended.has(connectionToken) || !this.#options.mayOpen(connectionToken)) return NONE;
    const refused = this.#options.refusal(opening.owner);
    if (refused !== undefined) return refused;
    const socket = new PolledSocket({ ...this.#options, carriesBinary: !isStream });
    const connection = this.#options.open(connectionToken, opening, socket);
    this.#connections.set(connectionToken, {
      connection,
      socket,
      isStream,
      unconfirmed: undefined,
      waiting: undefined,
    });
    socket.start({
      message: (data) => connection.message(data),
      pinged: () => connection.pinged(),
      drained: () => connection.drained(),
      closed: (code) => {
        this.#connections.delete(connectionToken);
        this.#ended.set(connectionToken, true);
        connection.closed(code);
      },
    });
    return DONE;
  }
}

function confirmationOf(polled: PolledConnection): Confirmation {
  let confirm = () => {};
  const came = new Promise<void>((resolve) => {
    confirm = () => {
      polled.unconfirmed = undefined;
      resolve();
    };
  });
  return { came, confirm };
}
