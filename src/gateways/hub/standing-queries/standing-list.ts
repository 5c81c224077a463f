// A list that connections of one account follow on this node, and what each of them has of it. Connections that ask for the
// same list share it, and with it the encoded changes.
import type { ListQuery } from '../../../actors/mailbox/protocol.js';
import { newId } from '../../../ids/new-id.js';
import type { Caller, HubCall } from '../methods.js';
import type { ShownList } from './list-changes.js';

/** One connection that follows the list. */
export interface Follower {
  readonly caller: Caller;
  readonly list: StandingList;
  /** The call that is not answered yet. */
  call: HubCall | undefined;
  /** What the client has; undefined until the call is answered. */
  shown: ShownList | undefined;
  /** The client has not taken what was sent before: nothing more is sent until it has. */
  isBehind: boolean;
}

export class StandingList {
  /** Clients know the list, and their subscription, by this id. */
  readonly id = newId();
  readonly key: string;
  readonly query: ListQuery;
  readonly followers = new Set<Follower>();
  /** As the mailbox has it, as far as is known; undefined until it was read. */
  state: ShownList | undefined;
  /** Of the state, in the mailbox's words; undefined when the state is not exactly what the mailbox said. */
  tag: string | undefined;
  folderId: string | undefined;
  /** The mailbox has to be asked. */
  isDirty = true;
  /** Seq of the last event that concerns the list. */
  touchedAt = 0;

  constructor(key: string, query: ListQuery) {
    this.key = key;
    this.query = query;
  }

  get emailIds(): readonly string[] {
    return this.state?.emailIds ?? [];
  }

  /** Whether the store is asked for the list, and not memory alone. */
  get needsStore(): boolean {
    const { list, search, thread } = this.query;
    if (thread !== undefined || (search !== undefined && search.terms.length > 0)) return true;
    return list?.fromAddress !== undefined || (list?.sort !== undefined && !/^-?date$/.test(list.sort));
  }

  get pageSize(): number {
    const { list, search, thread } = this.query;
    return (list ?? search ?? thread)?.pageSize ?? 0;
  }
}
