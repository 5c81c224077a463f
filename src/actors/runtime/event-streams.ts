// Event streams: the account's log as an observable, one bus subscription an account and node. Here is who follows which
// account, and when all have to look into the log again; how one account is followed is the account stream's business.
import type { Logger } from 'pino';
import { Observable, type Subscriber } from 'rxjs';
import { FairSemaphore } from '../../bounds/fair-semaphore.js';
import { clock } from '../../store/clock.js';
import type { EventLog } from '../../store/events.js';
import { shardOf } from '../../store/shard.js';
import { LogFollower } from './log-follower.js';
import type { Meter } from './meter.js';
import type { Ownership } from './ownership.js';
import type { EventRecord } from './packet.js';
import type { Place, Resumption } from './ref.js';
import { isKept } from './retention.js';
import type { Tracer } from './tracing.js';
import type { Transport } from './transport.js';

export interface EventStreams<E> {
  /** As `Ref.events$`. */
  of(accountId: string, after?: number): Observable<readonly E[]>;
  /** As `Ref.resume`. */
  resume(accountId: string, from: Place | null): Promise<Resumption>;
}

export interface EventStreamsOptions {
  readonly protocolName: string;
  readonly transport: Transport;
  readonly ownership: Pick<Ownership, 'shards' | 'moves$'>;
  readonly log: EventLog;
  readonly logger: Logger;
  readonly meter?: Meter;
  /** Subscribers are called in the trace context of the change. */
  readonly tracer?: Tracer;
}

/** Reads of the log at a time, of each kind: fewer than the database has connections for. */
const READS_AT_A_TIME = 8;

export function createEventStreams<E>(options: EventStreamsOptions): EventStreams<E> {
  const { transport, ownership, log } = options;
  const shared = new Map<string, LogFollower>();
  /** After a break every account followed has to be looked at, and nobody knows of which one anything was missed. */
  const recoveries = new FairSemaphore({ total: READS_AT_A_TIME });
  /** Those who come from a node that is gone come all at once. */
  const arrivals = new FairSemaphore({ total: READS_AT_A_TIME });

  transport.breaks$.subscribe(() => {
    for (const stream of shared.values()) stream.recover();
  });
  ownership.moves$.subscribe(({ shards, vanished }) => {
    if (!vanished) return;
    const moved = new Set(shards);
    for (const stream of shared.values()) if (moved.has(stream.shard)) stream.recover();
  });

  function open(accountId: string): LogFollower {
    const shard = shardOf(accountId, ownership.shards);
    const closed = () => shared.delete(accountId);
    const stream = new LogFollower({ ...options, recoveries, arrivals, accountId, shard, closed });
    shared.set(accountId, stream);
    return stream;
  }

  /** Whether the log has the change after the place: it may begin later than its age and its length say. */
  async function isNextKept(accountId: string, { seq }: Place, newest: number): Promise<boolean> {
    if (seq === newest) return true;
    const [next] = await arrivals.run(accountId, () => log.read(accountId, seq, 1));
    return next?.seq === seq + 1;
  }

  return {
    of: (accountId, after) =>
      new Observable<readonly E[]>((subscriber) => {
        const stream = shared.get(accountId) ?? open(accountId);
        return stream.add(subscriber as Subscriber<readonly EventRecord[]>, after);
      }),

    async resume(accountId, from) {
      const newest = await arrivals.run(accountId, () => log.newest(accountId));
      const now = clock.now();
      if (from !== null && isKept(from, newest, now) && (await isNextKept(accountId, from, newest))) {
        return { place: from, complete: true };
      }
      return { place: { seq: newest, at: now }, complete: from === null };
    },
  };
}
