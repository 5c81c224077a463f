// Event streams: each account's log as an observable, with one bus subscription per account and node. A LogFollower (log-follower.ts)
// follows one account; this file has the limits that all accounts share.
import type { Logger } from 'pino';
import { defer, filter, type Observable } from 'rxjs';
import { CoalescedReads } from '../../../concurrency/coalesced-reads.js';
import { FairSemaphore } from '../../../concurrency/fair-semaphore.js';
import { clock } from '../../../store/clock.js';
import { EVENT_LOG_START, type EventLog } from '../../../store/events.js';
import { shardOf } from '../../../store/shard.js';
import type { Meter } from '../meter.js';
import type { Ownership } from '../ownership/ownership.js';
import type { LogPosition, ResumeFrom, ResumePoint } from '../ref.js';
import type { Tracer } from '../tracing.js';
import type { Transport } from '../transport/transport.js';
import { LogFollower } from './log-follower.js';
import { RecentPages } from './recent-pages.js';
import { isKept } from './retention.js';

export interface EventStreams<E> {
  /** See `Ref.events$`. */
  of(accountId: string, after?: number): Observable<readonly E[]>;
  /** See `Ref.resume`. */
  resume(accountId: string, from: ResumeFrom | null): Promise<ResumePoint>;
}

export interface EventStreamsOptions {
  readonly protocolName: string;
  readonly transport: Transport;
  readonly ownership: Pick<Ownership, 'shards' | 'relocations$'>;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly meter?: Meter;
  /** Subscribers are called in the trace context of the change. */
  readonly tracer?: Tracer;
}

/** The reads of the log at a time, of each kind; fewer than the database has connections. */
const READS_AT_A_TIME = 8;

export function createEventStreams<E>(options: EventStreamsOptions): EventStreams<E> {
  const { transport, ownership, log } = options;
  const followers = new Map<string, LogFollower>();
  /** Limits reads after a break: all accounts are read again, because the bus does not tell which packets were missed. */
  const recoveries = new FairSemaphore({ total: READS_AT_A_TIME });
  /** Limits reads for new followers: when a node is gone, all its clients come to the other nodes at once. */
  const catchUps = new FairSemaphore({ total: READS_AT_A_TIME });
  const shared = { ...options, recoveries, catchUps, recentPages: new RecentPages() };
  const newestSeqs = new CoalescedReads((accountId) => catchUps.run(accountId, () => log.newest(accountId)));
  /** Reads the first event after a seq. Keys: seq, a space, account. */
  const nextEvents = new CoalescedReads(async (key) => {
    const [seq, accountId] = key.split(' ') as [string, string];
    const [next] = await catchUps.run(accountId, () => log.read(accountId, Number(seq), 1));
    return next;
  });

  transport.breaks$.subscribe(() => {
    for (const follower of followers.values()) follower.recheck();
  });
  ownership.relocations$.pipe(filter(({ unclean }) => unclean)).subscribe(({ shards }) => {
    const relocated = new Set(shards);
    for (const follower of followers.values()) if (relocated.has(follower.shard)) follower.recheck();
  });

  function open(accountId: string): LogFollower {
    const closed = () => {
      if (followers.get(accountId) === follower) followers.delete(accountId);
    };
    const shard = shardOf(accountId, ownership.shards);
    const follower = new LogFollower(shared, accountId, shard, closed);
    followers.set(accountId, follower);
    return follower;
  }

  /** Returns the position if the log has all changes after it. The log may begin later than its age and length suggest. */
  async function keptPosition(
    accountId: string,
    { seq, at }: ResumeFrom,
    newest: number,
    now: number,
  ): Promise<LogPosition | undefined> {
    const named = { seq, at: at ?? now };
    if (!isKept(named, newest, now)) return undefined;
    if (seq === newest || newest <= EVENT_LOG_START) return named;
    const recent = followers.get(accountId)?.recentPage(seq)?.events[0];
    const next = recent ?? (await nextEvents.of(`${seq} ${accountId}`));
    // There are no changes before the first one.
    if (next?.seq !== seq + 1 && next?.seq !== EVENT_LOG_START + 1) return undefined;
    const found = { seq, at: at ?? next.at };
    return isKept(found, newest, now) ? found : undefined;
  }

  return {
    of: (accountId, after) =>
      defer(() => (followers.get(accountId) ?? open(accountId)).events$(after) as Observable<readonly E[]>),

    async resume(accountId, from) {
      // A live follower may be behind a client that comes from another node.
      const position = followers.get(accountId)?.position;
      const isAhead = position === undefined || (from !== null && from.seq > position);
      const newest = isAhead ? await newestSeqs.of(accountId) : position;
      const now = clock.now();
      const kept = from === null ? undefined : await keptPosition(accountId, from, newest, now);
      if (kept !== undefined) return { position: kept, complete: true };
      return { position: { seq: newest, at: now }, complete: from === null };
    },
  };
}
