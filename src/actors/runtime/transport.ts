// The carrier of packets between actors and those who ask them (D4): request/reply and publish/subscribe, at most once.
// Implementations: in-process (transport-local), later NATS; one contract suite holds for both.
import type { Observable } from 'rxjs';
import type { EventPacket, ReplyPacket, RequestPacket } from './packet.js';

/** Nobody answers on the subject. */
export class NoResponders extends Error {
  override readonly name = 'NoResponders';
}

/** The answer did not come in time; whether the request was carried out is not known. */
export class RequestTimeout extends Error {
  override readonly name = 'RequestTimeout';
}

export type Responder = (request: RequestPacket) => Promise<ReplyPacket>;

export interface Transport {
  /** @throws NoResponders | RequestTimeout */
  request(subject: string, request: RequestPacket, timeoutMs: number): Promise<ReplyPacket>;
  /** Answers requests on the subject until the returned function is called. */
  respond(subject: string, responder: Responder): () => void;
  /** Best effort: nobody may be listening. */
  publish(subject: string, packet: EventPacket): void;
  /** Packets in the order in which one publisher published them, until the returned function is called. */
  subscribe(subject: string, listener: (packet: EventPacket) => void): () => void;
  /** Emits after a break during which published packets may have been missed. */
  readonly breaks$: Observable<void>;
  close(): Promise<void>;
}
