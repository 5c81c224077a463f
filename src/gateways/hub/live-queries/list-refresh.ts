// One refresh of lists of an account: the mailbox returns the current state of the lists, then the items that some client does not have,
// and each follower gets the difference. The refresh remembers the state of a client instead of the messages sent to it: a client that does
// not keep up gets one difference later, however many changes there were.
import type { ListState, MailboxProtocol } from '../../../actors/mailbox/protocol.js';
import type { Payload, Reply } from '../../../actors/runtime/protocol.js';
import { INVOCATION } from '../protocols/hub-messages.js';
import { deliverShared } from '../shared-frames.js';
import { changesOf, EMPTY_LIST, type ListChange, type ListSnapshot, neededBy, stepsBetween } from './list-changes.js';
import type { ListDependencies } from './list-dependencies.js';
import type { Follower, LiveList } from './live-list.js';

/** The items of one question: at most as many as a page of REST. */
const MOST_ITEMS = 100;
/** Up to this many items are cached, so that items that lists have in common are read once. */
const MOST_KEPT_ITEMS = 1_000;

type Question = Payload<MailboxProtocol, 'lists'>;
/** Emails with the versions that clients need. */
type Needed = readonly (readonly [id: string, version: number])[];

interface ReadItem {
  readonly shown: unknown;
  readonly version: number;
}

export class ListRefresh {
  readonly #accountId: string;
  readonly #dependencies: ListDependencies;
  readonly #leave: (follower: Follower) => void;
  readonly #items = new Map<string, ReadItem>();

  /** `leave`: ends a follower's subscription, because its list does not exist. */
  constructor(accountId: string, dependencies: ListDependencies, leave: (follower: Follower) => void) {
    this.#accountId = accountId;
    this.#dependencies = dependencies;
    this.#leave = leave;
  }

  /**
   * False when the owner is not up to date. Lists that could not be brought up to date stay dirty.
   * @throws ActorFault: none of them could be brought up to date
   */
  async carryOut(lists: readonly LiveList[]): Promise<boolean> {
    if (this.#items.size > MOST_KEPT_ITEMS) this.#items.clear();
    const isNewest = await this.#read(lists.filter(({ isDirty, state }) => isDirty || state === undefined));
    const behind = lists.filter((list) => list.state !== undefined && list.followers.size > 0);
    for (const [threadsOf, lists] of groupedBy(behind, ({ threadsOf }) => threadsOf)) {
      await this.#readItems(
        lists.flatMap((list) => this.#neededBy(list, this.#waiting(list))),
        threadsOf,
      );
    }
    for (const list of behind) this.#send(list);
    return isNewest;
  }

  async #read(lists: readonly LiveList[]): Promise<boolean> {
    if (lists.length === 0) return true;
    const questions = lists.map(({ query, tag }) => ({ query, ...(tag !== undefined && { tag }) }));
    const invalidatedAt = lists.map((list) => list.invalidatedAt);
    // Events that arrive from now on make the lists dirty again.
    for (const list of lists) list.isDirty = false;
    let reply: Reply<MailboxProtocol, 'lists'>;
    try {
      reply = await this.#ask(questions, []);
    } catch (error) {
      for (const list of lists) list.isDirty = true;
      throw error;
    }
    let isNewest = true;
    for (const [i, list] of lists.entries()) {
      const { state, refusal } = reply.lists[i]!;
      if (refusal !== undefined) this.#end(list, refusal);
      else if (state !== undefined) take(list, state);
      // The owner does not know of its successor yet.
      if (reply.modseq < invalidatedAt[i]!) {
        list.isDirty = true;
        isNewest = false;
      }
    }
    return isNewest;
  }

  #neededBy(list: LiveList, waiting: ReadonlyMap<ListSnapshot, unknown>): Needed {
    return [...waiting.keys()].flatMap((base) => neededBy(stepsBetween(base, list.state!)));
  }

  /** `threadsOf`: the items are rows of threads of this folder. */
  async #readItems(needed: Needed, threadsOf: string | undefined): Promise<void> {
    const key = (id: string) => keyOf(id, threadsOf);
    const missing = new Map(needed.filter(([id, version]) => this.#items.get(key(id))?.version !== version));
    const ids = [...missing.keys()];
    for (let at = 0; at < ids.length; at += MOST_ITEMS) {
      const { items } = await this.#ask([], ids.slice(at, at + MOST_ITEMS), threadsOf);
      for (const { item, version } of items) {
        this.#items.set(key(item.id), { shown: this.#dependencies.language.shown(item), version });
      }
    }
  }

  async #ask(
    lists: Question['lists'],
    emailIds: string[],
    threadsOf?: string,
  ): Promise<Reply<MailboxProtocol, 'lists'>> {
    const { asks, mailboxes } = this.#dependencies;
    const outcome = await asks.run(this.#accountId, () =>
      mailboxes.of(this.#accountId).ask('lists', { lists, emailIds, ...(threadsOf !== undefined && { threadsOf }) }),
    );
    return outcome.reply!;
  }

  #send(list: LiveList): void {
    const waiting = this.#waiting(list);
    if (waiting.size === 0) return;
    if (!this.#haveAll(list, this.#neededBy(list, waiting))) return;
    const state = list.state!;
    const itemOf = (id: string): unknown => this.#items.get(keyOf(id, list.threadsOf))?.shown;
    for (const [base, followers] of waiting) {
      const steps = stepsBetween(base, state);
      const callers = followers.filter(({ call }) => call === undefined);
      if (steps.length > 0 && callers.length > 0) this.#sendChanges(list.id, changesOf(steps, itemOf), callers);
      for (const follower of followers) {
        follower.shown = state;
        const { call } = follower;
        if (call === undefined) continue;
        follower.call = undefined;
        const { totalCount: total, unreadCount: unread } = state;
        call.answer({ subscriptionId: list.id, items: state.emailIds.map(itemOf), total, unread });
      }
    }
  }

  /**
   * Whether there is an item for every email to be sent. An item may be newer than the list: the state then contains its version, and so is
   * no longer the state that the mailbox knows by its tag.
   */
  #haveAll(list: LiveList, needed: Needed): boolean {
    const newer = new Map<string, number>();
    for (const [id, version] of needed) {
      const item = this.#items.get(keyOf(id, list.threadsOf));
      // The email was deleted after the list was read.
      if (item === undefined) {
        list.isDirty = true;
        return false;
      }
      if (item.version !== version) newer.set(id, item.version);
    }
    if (newer.size === 0) return true;
    const { emailIds, versions } = list.state!;
    list.state = { ...list.state!, versions: versions.map((version, i) => newer.get(emailIds[i]!) ?? version) };
    list.tag = undefined;
    list.isDirty = true;
    return true;
  }

  /** Groups the followers that can receive changes by the state of their clients. */
  #waiting(list: LiveList): Map<ListSnapshot, Follower[]> {
    const groups = new Map<ListSnapshot, Follower[]>();
    for (const follower of list.followers) {
      const base = follower.shown ?? EMPTY_LIST;
      if (follower.call === undefined && base === list.state) continue;
      follower.isBehind = follower.caller.bufferedBytes() > this.#dependencies.pauseBytes;
      if (follower.isBehind) continue;
      const group = groups.get(base);
      if (group === undefined) groups.set(base, [follower]);
      else group.push(follower);
    }
    return groups;
  }

  #sendChanges(id: string, changes: readonly ListChange[], followers: readonly Follower[]): void {
    const message = { type: INVOCATION, target: 'ListChanged', arguments: [id, changes] } as const;
    const callers = followers.map(({ caller }) => caller);
    deliverShared(callers, (protocol) => protocol.encode(message));
    this.#dependencies.meter.sent(1, followers.length);
  }

  #end(list: LiveList, refusal: string): void {
    const error = this.#dependencies.language.refusal(refusal);
    const ended: ListChange = { type: 'ended', error };
    for (const follower of list.followers) {
      const { call, shown = EMPTY_LIST } = follower;
      this.#leave(follower);
      if (call !== undefined) call.refuse(error);
      else {
        const changes = changesOf(stepsBetween(shown, EMPTY_LIST), () => undefined);
        this.#sendChanges(list.id, [...changes, ended], [follower]);
      }
    }
  }
}

/** An email and a row that begins with it are different items. */
const keyOf = (id: string, threadsOf: string | undefined): string =>
  threadsOf === undefined ? id : `${threadsOf} ${id}`;

function groupedBy<T, K>(values: readonly T[], keyOfValue: (value: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const key = keyOfValue(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

function take(list: LiveList, { emailIds, versions, totalCount, unreadCount, tag, folderId }: ListState): void {
  list.state = { emailIds, versions, totalCount, unreadCount };
  list.tag = tag;
  list.folderId = folderId;
}
