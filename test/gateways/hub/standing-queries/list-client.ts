// A client of standing queries without a network: a connection whose frames it reads, and lists to which it applies the changes
// that docs/hub.md defines, in their order. Nothing but the changes alters its lists.
import { JSON_PROTOCOL } from '../../../../src/gateways/hub/json-protocol.js';
import type { Caller, ConnectionPart, HubCall, HubMethods } from '../../../../src/gateways/hub/methods.js';

export interface ClientItem {
  readonly id: string;
  readonly [field: string]: unknown;
}

export interface ClientList {
  readonly id: string;
  items: ClientItem[];
  total: number;
  unread: number;
  ended: string | undefined;
  /** Types of the changes so far. */
  readonly changes: string[];
}

interface Subscribed {
  readonly subscriptionId: string;
  readonly items: ClientItem[];
  readonly total: number;
  readonly unread: number;
}

type Change =
  | { readonly type: 'removed'; readonly index: number; readonly id: string }
  | { readonly type: 'inserted' | 'changed'; readonly index: number; readonly item: ClientItem }
  | { readonly type: 'counted'; readonly total: number; readonly unread: number }
  | { readonly type: 'ended'; readonly error: string };

export function applyChanges(list: ClientList, changes: readonly Change[]): void {
  for (const change of changes) {
    list.changes.push(change.type);
    switch (change.type) {
      case 'removed': {
        const [removed] = list.items.splice(change.index, 1);
        if (removed?.id !== change.id) throw new Error(`${change.id} is not at ${change.index}`);
        break;
      }
      case 'inserted':
        if (change.index > list.items.length) throw new Error(`there is no place ${change.index}`);
        list.items.splice(change.index, 0, change.item);
        break;
      case 'changed':
        if (list.items[change.index]?.id !== change.item.id) throw new Error(`another email is at ${change.index}`);
        list.items[change.index] = change.item;
        break;
      case 'counted':
        list.total = change.total;
        list.unread = change.unread;
        break;
      case 'ended':
        list.ended = change.error;
    }
  }
}

export class ListClient implements Caller {
  readonly id = 'connection';
  readonly accountId: string;
  readonly protocol = JSON_PROTOCOL;
  readonly resumption = undefined;
  readonly lists = new Map<string, ClientList>();
  readonly frames: Uint8Array[] = [];
  buffered = 0;
  readonly #methods: HubMethods;
  readonly #parts: ConnectionPart[] = [];
  #isClosed = false;

  constructor(accountId: string, methods: HubMethods) {
    this.accountId = accountId;
    this.#methods = methods;
  }

  call(method: string, ...args: unknown[]): Promise<unknown> {
    return new Promise((answer, fail) => {
      const call: HubCall = { args, answer, refuse: (error) => fail(new Error(error)) };
      void this.#methods.get(method)!(this, call);
    });
  }

  /** The list is there before any change of it arrives, as with an answer on the wire. */
  subscribe(query: unknown): Promise<ClientList> {
    return new Promise((resolve, fail) => {
      const answer = (result: unknown) => {
        const { subscriptionId, items, total, unread } = result as Subscribed;
        const list = { id: subscriptionId, items: [...items], total, unread, ended: undefined, changes: [] };
        this.lists.set(subscriptionId, list);
        resolve(list);
      };
      void this.#methods.get('Subscribe')!(this, { args: [query], answer, refuse: (error) => fail(new Error(error)) });
    });
  }

  async unsubscribe(list: ClientList): Promise<void> {
    await this.call('Unsubscribe', list.id);
    this.lists.delete(list.id);
  }

  deliver(frame: Uint8Array): void {
    if (this.#isClosed) return;
    this.frames.push(frame);
    for (const octets of JSON_PROTOCOL.split(frame)) {
      const message = JSON_PROTOCOL.parse(octets);
      if (message?.type !== 1 || message.target !== 'ListChanged') throw new Error('another message');
      const [id, changes] = message.arguments as [string, Change[]];
      applyChanges(this.lists.get(id)!, changes);
    }
  }

  bufferedBytes(): number {
    return this.buffered;
  }

  /** The client takes what was waiting. */
  drain(): void {
    this.buffered = 0;
    for (const part of this.#parts) part.drained();
  }

  add(part: ConnectionPart): void {
    this.#parts.push(part);
  }

  close(): void {
    this.#isClosed = true;
    for (const part of this.#parts) part.end();
    this.lists.clear();
  }
}
