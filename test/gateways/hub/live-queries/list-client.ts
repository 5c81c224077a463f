// Implements a client of live queries without a network: a connection whose frames it reads.

import type { Caller, ConnectionPart, HubCall, HubMethods } from '../../../../src/gateways/hub/methods.js';
import { JSON_PROTOCOL } from '../../../../src/gateways/hub/protocols/json-protocol.js';
import {
  applyChanges,
  type FollowedList,
  followedList,
  type ListChange,
  type Subscribed,
} from '../../../support/clients/followed-list.js';

export class ListClient implements Caller {
  readonly id = 'connection';
  readonly accountId: string;
  readonly protocol = JSON_PROTOCOL;
  readonly resumption = undefined;
  readonly lists = new Map<string, FollowedList>();
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

  /** The list exists before a change of it arrives, as with an answer on the wire. */
  subscribe(query: unknown): Promise<FollowedList> {
    return new Promise((resolve, fail) => {
      const answer = (result: unknown) => {
        const list = followedList(result as Subscribed);
        this.lists.set(list.id, list);
        resolve(list);
      };
      void this.#methods.get('Subscribe')!(this, { args: [query], answer, refuse: (error) => fail(new Error(error)) });
    });
  }

  async unsubscribe(list: FollowedList): Promise<void> {
    await this.call('Unsubscribe', list.id);
    this.lists.delete(list.id);
  }

  deliver(frame: Uint8Array): void {
    if (this.#isClosed) return;
    this.frames.push(frame);
    for (const octets of JSON_PROTOCOL.split(frame)) {
      const message = JSON_PROTOCOL.parse(octets);
      if (message?.type !== 1 || message.target !== 'ListChanged') throw new Error('another message');
      const [id, changes] = message.arguments as [string, ListChange[]];
      applyChanges(this.lists.get(id)!, changes);
    }
  }

  bufferedBytes(): number {
    return this.buffered;
  }

  /** The client reads what is buffered. */
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
