// An account's log at the pace of one client: from the client's cursor on, every change once and in order, for as long as the
// client keeps up. When the client falls behind, the subscription to the log ends; when the client can take more, the log is
// followed again from the position that the client has reached. So a backlog never waits in memory.
import { concat, defer, ignoreElements, map, type Observable, repeat, switchMap, takeWhile, throwError } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import type { LogPosition, ResumeFrom, ResumePoint } from '../../actors/runtime/ref.js';

export interface LogReader {
  /** Called once, before the first batch: the client gets the changes after this position. */
  begin(point: ResumePoint): void;
  /**
   * Takes events of the batch, in order, until the client is behind. Undefined when all were taken and the client keeps up;
   * else the last whole change that was taken.
   */
  take(batch: readonly MailboxEvent[]): LogPosition | undefined;
  /** Emits when the client can take more. */
  drained$(): Observable<unknown>;
}

const BROKEN_OFF$ = throwError(() => new Error('the event stream has ended'));

/** Emits nothing. Errors when the log breaks off, and when the log was pruned beyond a slow client. */
export function pacedLog(
  mailbox: Pick<ReturnType<Mailboxes['of']>, 'events$' | 'resume'>,
  from: ResumeFrom | null,
  reader: LogReader,
): Observable<never> {
  let reached: LogPosition | undefined;
  return defer(() => mailbox.resume(reached ?? from)).pipe(
    switchMap((point) => {
      if (reached === undefined) reader.begin(point);
      else if (!point.complete) throw new Error('the client was slower than the log is kept');
      reached = point.position;
      return concat(mailbox.events$(point.position.seq), BROKEN_OFF$);
    }),
    map((batch) => {
      const behindAt = reader.take(batch);
      reached = behindAt ?? reached;
      return behindAt === undefined;
    }),
    takeWhile((isKeepingUp) => isKeepingUp),
    repeat({ delay: () => reader.drained$() }),
    ignoreElements(),
  );
}
