// The connections of this node that have no WebSocket, and what their clients ask of them: the node that took a request asks here,
// directly or over the bus. Who asks has been admitted, and reaches the connections of the same owner only. A connection
// ends with the node: its client is answered that there is none, and connects again.
import { atMost } from '../../bounds/time-bounds.js';
import type { ProblemStatus } from '../problem-details.js';
import type { Connection, HubConnectionOptions } from './connection.js';
import { type Polled, PolledSocket, type PolledSocketOptions } from './polled-socket.js';

/** What an admitted client asked for when it connected. JSON. */
export interface Opening extends Omit<HubConnectionOptions, 'id' | 'validTicks'> {
  /** ms since the epoch; absent when the credential does not end by itself. */
  readonly expiresAt?: number;
}

/**
 * `stream` opens for server-sent events, `poll` for long polling; `next` polls without being heard from the client; `taken` confirms
 * that the frames of the last poll have been sent to the client.
 */
const KINDS = ['stream', 'poll', 'next', 'taken', 'send', 'end'] as const;
type PolledKind = (typeof KINDS)[number];

/** A request to the node that has the connection. */
export interface PolledRequest {
  readonly kind: PolledKind;
  readonly connectionToken: string;
  readonly opening: Opening;
  /** What the client sends. */
  readonly octets?: Uint8Array;
}

export type PolledReply =
  | (Polled & {
      /** Of frames: the next poll waits until these have been confirmed. */
      readonly toConfirm?: boolean;
    })
  /** Opened, taken or ended. */
  | { readonly kind: 'done' }
  | {
      readonly kind: 'refused';
      readonly status: ProblemStatus;
      readonly detail: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export type PolledRefusal = Extract<PolledReply, { readonly kind: 'refused' }>;

export interface PolledConnectionsOptions extends Omit<PolledSocketOptions, 'carriesBinary'> {
  /** A poll waits so long for the confirmation of the frames before, then the connection ends. ms */
  readonly confirmMs: number;
  /** Whether a connection may be opened with this token now. */
  mayOpen(connectionToken: string): boolean;
  /** Why no connection of this owner is opened now. */
  refusal(owner: string): PolledRefusal | undefined;
  open(connectionToken: string, opening: Opening, socket: PolledSocket): Connection;
}

interface Held {
  readonly connection: Connection;
  readonly socket: PolledSocket;
  readonly isStream: boolean;
  /** Frames that another node has taken, and has not confirmed yet. */
  unconfirmed: Confirmation | undefined;
  /** Of the last poll that waits for that; those before do not go on. */
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
/** Tokens kept. After a while a token opens nothing by itself. */
const MAX_ENDED = 10_000;
const DONE: PolledReply = { kind: 'done' };
const OVER: PolledReply = { kind: 'over' };

/** False for the requests of a later version. */
export function isPolledKind(name: string): name is PolledKind {
  return KINDS.some((kind) => kind === name);
}

export class PolledConnections {
  readonly #options: PolledConnectionsOptions;
  /** By connection tokens. */
  readonly #held = new Map<string, Held>();
  /** Tokens of connections that ended a moment ago: a late request does not open them again. */
  readonly #ended = new Set<string>();

  constructor(options: PolledConnectionsOptions) {
    this.#options = options;
  }

  has(connectionToken: string): boolean {
    return this.#held.has(connectionToken);
  }

  /** `isOfOtherNode`: another node asks, which confirms the frames that it takes. */
  async carryOut(request: PolledRequest, isOfOtherNode = false): Promise<PolledReply> {
    const { kind, connectionToken, opening } = request;
    const held = this.#held.get(connectionToken);
    if (held === undefined) {
      const opens = kind === 'stream' || kind === 'poll';
      return opens ? this.#open(connectionToken, opening, kind === 'stream') : NONE;
    }
    const { connection, socket, isStream } = held;
    if (connection.owner !== opening.owner) return NONE;
    switch (kind) {
      case 'stream':
        return OTHER_TRANSPORT;
      case 'poll':
        return isStream ? OTHER_TRANSPORT : this.#poll(held, isOfOtherNode);
      case 'next':
        return this.#frames(held, isOfOtherNode);
      case 'taken':
        held.unconfirmed?.confirm();
        return DONE;
      case 'send':
        connection.message(request.octets ?? new Uint8Array(0));
        return DONE;
      case 'end':
        socket.terminate();
        return DONE;
    }
  }

  #poll(held: Held, isOfOtherNode: boolean): Promise<PolledReply> {
    const { connection, socket, waiting } = held;
    // A poll that takes the place of another one is a message like others, and their number is bounded.
    if (socket.isPolled || waiting !== undefined) connection.pinged();
    connection.heard();
    return this.#frames(held, isOfOtherNode);
  }

  /**
   * A node that dies takes the frames of a poll with it, and a balancer sends that poll to another node, as if the client had
   * received them. So frames that another node took are confirmed before there are more.
   */
  async #frames(held: Held, isOfOtherNode: boolean): Promise<PolledReply> {
    const { socket, unconfirmed } = held;
    if (unconfirmed !== undefined) {
      const waiting = Symbol('waiting');
      held.waiting = waiting;
      const isConfirmed = await atMost(unconfirmed.came, this.#options.confirmMs);
      if (held.waiting !== waiting) return OVER;
      held.waiting = undefined;
      if (!isConfirmed) {
        socket.terminate();
        return NONE;
      }
    }
    const reply = await socket.poll();
    if (reply.kind !== 'frames' || !isOfOtherNode || held.isStream) return reply;
    held.unconfirmed = confirmationOf(held);
    return { ...reply, toConfirm: true };
  }

  #open(connectionToken: string, opening: Opening, isStream: boolean): PolledReply {
    if (this.#ended.has(connectionToken) || !this.#options.mayOpen(connectionToken)) return NONE;
    const refused = this.#options.refusal(opening.owner);
    if (refused !== undefined) return refused;
    const socket = new PolledSocket({ ...this.#options, carriesBinary: !isStream });
    const connection = this.#options.open(connectionToken, opening, socket);
    this.#held.set(connectionToken, { connection, socket, isStream, unconfirmed: undefined, waiting: undefined });
    socket.start({
      message: (data) => connection.message(data),
      pinged: () => connection.pinged(),
      drained: () => connection.drained(),
      closed: (code) => {
        this.#held.delete(connectionToken);
        this.#ended.add(connectionToken);
        if (this.#ended.size > MAX_ENDED) this.#ended.delete(this.#ended.values().next().value!);
        connection.closed(code);
      },
    });
    return DONE;
  }
}

function confirmationOf(held: Held): Confirmation {
  let confirm = () => {};
  const came = new Promise<void>((resolve) => {
    confirm = () => {
      held.unconfirmed = undefined;
      resolve();
    };
  });
  return { came, confirm };
}
