// Carries packets between actors and their callers (decision 0004): request/reply and publish/subscribe, at most once. Implementations:
// in-process (transport-local) and NATS (transport-nats); both pass one contract suite.
import type { Observable } from 'rxjs';
import { Fault } from '../../../concurrency/fault.js';
import type { Publication, ReplyPacket, RequestPacket } from './packet.js';

/** No responder is subscribed to the subject. */
export class NoResponders extends Fault<'no-responders'> {
  constructor(message: string, { cause }: ErrorOptions = {}) {
    super('no-responders', message, { temporary: true, cause });
  }
}

/** The answer did not arrive in time; it is unknown whether the request was processed. */
export class RequestTimeout extends Fault<'request-timeout'> {
  constructor(message: string, { cause }: ErrorOptions = {}) {
    super('request-timeout', message, { temporary: true, cause });
  }
}

/** The transport is cut off from its servers, or closed. */
export class Disconnected extends Fault<'disconnected'> {
  constructor(message: string, { cause }: ErrorOptions = {}) {
    super('disconnected', message, { temporary: true, cause });
  }
}

/** The packet is larger than the transport allows. */
export class PacketTooLarge extends Fault<'packet-too-large'> {
  constructor(message: string, { cause }: ErrorOptions = {}) {
    super('packet-too-large', message, { temporary: false, cause });
  }
}

/** The request has octets, and too many are under way to its node: it was not sent. */
export class Congested extends Fault<'congested'> {
  constructor(message: string, { cause }: ErrorOptions = {}) {
    super('congested', message, { temporary: true, cause });
  }
}

export type Responder = (request: RequestPacket) => Promise<ReplyPacket>;

export interface Registration {
  /**
   * Resolves when later requests and publications arrive here. While the transport is cut off it resolves at once: `breaks$` emits when the
   * connection is back. Publications of other nodes may be missed for `lagMs` longer.
   */
  readonly ready: Promise<void>;
  end(): void;
}

export interface Transport {
  /** @throws NoResponders | RequestTimeout | Disconnected | PacketTooLarge | Congested */
  request(subject: string, request: RequestPacket, timeoutMs: number): Promise<ReplyPacket>;
  /** Another node may answer on the subject now: the next request finds out which. */
  forgetRoute(subject: string): void;
  /** Answers requests on the subject until the registration ends; requests that were accepted before are still answered. */
  respond(subject: string, responder: Responder): Registration;
  /** Delivery is best effort. */
  publish(subject: string, packet: Publication): void;
  /**
   * Receives packets in the order in which one publisher published them, including this node's own. A packet that is not understood arrives
   * as a RecheckPacket.
   */
  subscribe<P extends Publication>(subject: string, listener: (packet: P) => void): Registration;
  /** Whether other nodes can be reached; emits the current state first. */
  readonly connected$: Observable<boolean>;
  /** Emits after a break, of this node or of another one, during which published packets may have been missed. */
  readonly breaks$: Observable<void>;
  /** How long other nodes may not know of a registration, or of the end of a break; 0 without other nodes. */
  readonly lagMs: number;
  /** Answers the accepted requests, and sends what was published. */
  close(): Promise<void>;
}
