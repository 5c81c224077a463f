// The in-process transport of a node that runs alone: a request is a function call, a publication is a loop over the listeners. The NATS
// transport uses it for packets within the node. `encoding` encodes and decodes every packet, as tests do.

import type { Logger } from 'pino';
import { NEVER, of } from 'rxjs';
import { inTime } from '../../../concurrency/time-bounds.js';
import type { Publication, ReplyPacket, RequestPacket } from './packet.js';
import { decode, encode } from './packet-batch.js';
import {
  Disconnected,
  NoResponders,
  type Registration,
  RequestTimeout,
  type Responder,
  type Transport,
} from './transport.js';

export interface LocalTransport extends Transport {
  /** Whether requests on the subject are answered here. */
  answers(subject: string): boolean;
}

export interface LocalTransportOptions {
  readonly encoding?: boolean;
  readonly log?: Logger;
}

type Listener = (packet: Publication) => void;

const READY = Promise.resolve();

export function localTransport(options: LocalTransportOptions = {}): LocalTransport {
  const { log } = options;
  const responders = new Map<string, Responder>();
  const listeners = new Map<string, Set<Listener>>();
  let closed = false;
  const carried = <T extends RequestPacket | ReplyPacket | Publication>(packet: T): T =>
    options.encoding === true ? (decode(encode(packet)) as T) : packet;

  async function request(subject: string, packet: RequestPacket, timeoutMs: number): Promise<ReplyPacket> {
    if (closed) throw new Disconnected(subject);
    const responder = responders.get(subject);
    if (responder === undefined) throw new NoResponders(subject);
    const answer = answered(responder, carried(packet), log);
    return carried(await inTime(answer, timeoutMs, () => new RequestTimeout(subject)));
  }

  function respond(subject: string, responder: Responder): Registration {
    responders.set(subject, responder);
    const end = () => {
      if (responders.get(subject) === responder) responders.delete(subject);
    };
    return { ready: READY, end };
  }

  function publish(subject: string, packet: Publication): void {
    const interested = listeners.get(subject);
    if (interested === undefined) return;
    const received = carried(packet);
    for (const listener of interested) {
      try {
        listener(received);
      } catch (error) {
        log?.error({ subject, err: error }, 'a listener failed');
      }
    }
  }

  function subscribe<P extends Publication>(subject: string, listener: (packet: P) => void): Registration {
    const interested = listeners.get(subject) ?? new Set();
    listeners.set(subject, interested.add(listener as Listener));
    const end = () => {
      interested.delete(listener as Listener);
      if (interested.size === 0 && listeners.get(subject) === interested) listeners.delete(subject);
    };
    return { ready: READY, end };
  }

  async function close(): Promise<void> {
    closed = true;
    responders.clear();
    listeners.clear();
  }

  const answers = (subject: string) => responders.has(subject);
  return {
    answers,
    request,
    forgetRoute() {},
    respond,
    publish,
    subscribe,
    connected$: of(true),
    breaks$: NEVER,
    lagMs: 0,
    close,
  };
}

/** An error in a responder is a bug and becomes a fault. */
export async function answered(
  responder: Responder,
  request: RequestPacket,
  log: Logger | undefined,
): Promise<ReplyPacket> {
  try {
    return await responder(request);
  } catch (error) {
    log?.error({ accountId: request.accountId, operation: request.name, err: error }, 'a responder failed');
    return { kind: 'fault', code: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
