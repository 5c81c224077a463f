// A list that connections of one account follow on this node, and the state of it at each client. Connections that ask for the same list
// share it, and with it the encoded changes.
import type { ListQuery } from '../../../actors/mailbox/protocol.js';
import { newId } from '../../../store/ids/new-id.js';
import type { Caller, HubCall } from '../methods.js';
import type { ListSnapshot } from './list-changes.js';

/** One connection that follows the list. */
export interface Follower {
  readonly caller: Caller;
  readonly list: LiveList;
  /** The subscribe call while it is not answered. */
  call: HubCall | undefined;
  /** The state at the client; undefined until the call is answered. */
  shown: ListSnapshot | undefined;
  /** The client has not received earlier changes; nothing more is sent until it has. */
  isBehind: boolean;
}

export class LiveList {
  /** The id by which clients know the list and their subscription. */
  readonly id = newId();
  readonly key: string;
  readonly query: ListQuery;
  readonly followers = new Set<Follower>();
  /** The last known state in the mailbox; undefined until it has been read. */
  state: ListSnapshot | undefined;
  /** The mailbox's tag of the state; undefined when the state is not exactly what the mailbox returned. */
  tag: string | undefined;
  folderId: string | undefined;
  /** The mailbox has to be asked. */
  isDirty = true;
  /** The seq of the last event that concerns the list. */
  invalidatedAt = 0;

  constructor(key: string, query: ListQuery) {
    this.key = key;
    this.query = query;
  }

  get emailIds(): readonly string[] {
    return this.state?.emailIds ?? [];
  }

  /** Whether the list needs a query of the store, and not memory alone. */
  get needsStore(): boolean {
    const { list, search, thread } = this.query;
    if (thread !== undefined || (search !== undefined && search.terms.length + (search.fields ?? []).length > 0))
      return true;
    return list?.fromAddress !== undefined || (list?.sort !== undefined && !/^-?date$/.test(list.sort));
  }

  /** The folder whose threads are the rows of the list; undefined for lists of emails. */
  get threadsOf(): string | undefined {
    const { list } = this.query;
    return list?.groupByThread === true ? list.folder : undefined;
  }

  get pageSize(): number {
    const { list, search, thread } = this.query;
    return (list ?? search ?? thread)?.pageSize ?? 0;
  }
}
