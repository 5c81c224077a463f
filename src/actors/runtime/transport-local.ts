// The in-process transport of a node that runs alone: a request is a function call, a publication a loop over the
// listeners. `encoding` sends every packet through its JSON form, as the tests do, so that nothing but JSON is relied on.
import { NEVER } from 'rxjs';
import { decode, type EventPacket, encode, type ReplyPacket, type RequestPacket } from './packet.js';
import { NoResponders, RequestTimeout, type Responder, type Transport } from './transport.js';

export function localTransport(options: { readonly encoding?: boolean } = {}): Transport {
  const responders = new Map<string, Responder>();
  const listeners = new Map<string, Set<(packet: EventPacket) => void>>();
  const carried = <T extends RequestPacket | ReplyPacket | EventPacket>(packet: T): T =>
    options.encoding === true ? decode<T>(encode(packet)) : packet;

  async function request(subject: string, packet: RequestPacket, timeoutMs: number): Promise<ReplyPacket> {
    const responder = responders.get(subject);
    if (responder === undefined) throw new NoResponders(subject);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new RequestTimeout(subject)), timeoutMs);
    });
    try {
      return carried(await Promise.race([responder(carried(packet)), timeout]));
    } finally {
      clearTimeout(timer);
    }
  }

  function respond(subject: string, responder: Responder): () => void {
    responders.set(subject, responder);
    return () => {
      if (responders.get(subject) === responder) responders.delete(subject);
    };
  }

  function publish(subject: string, packet: EventPacket): void {
    const interested = listeners.get(subject);
    if (interested === undefined) return;
    const received = carried(packet);
    for (const listener of interested) listener(received);
  }

  function subscribe(subject: string, listener: (packet: EventPacket) => void): () => void {
    const interested = listeners.get(subject) ?? new Set();
    listeners.set(subject, interested.add(listener));
    return () => {
      interested.delete(listener);
      if (interested.size === 0 && listeners.get(subject) === interested) listeners.delete(subject);
    };
  }

  async function close(): Promise<void> {
    responders.clear();
    listeners.clear();
  }

  return { request, respond, publish, subscribe, breaks$: NEVER, close };
}
