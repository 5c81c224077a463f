// The event stream of one client, piece by piece as the client reads it: the events of an account after the client's cursor, and a sign of
// life in silence. `Position` names the position in the log at the start, and again when events that the client did not ask for have moved
// it; `Resync` replaces it when events may be missing.
import type { Logger } from 'pino';
import { interval, type Observable, Subject, Subscription } from 'rxjs';
import type { MailboxEvent, Mailboxes } from '../../actors/mailbox/protocol.js';
import type { LogPosition, ResumeFrom, ResumePoint } from '../../actors/runtime/ref.js';
import { backPressuredLog, type LogReader } from './back-pressured-log.js';
import { cursorOf, type EventPosition, isAfter, positionOf, wholeChange } from './cursor.js';
import { type ChangeBlocks, type EventBlocks, eventBlock, noticeBlock } from './event-blocks.js';
import type { NoticeType, StreamEventType } from './event-payloads.js';

/** The dependencies that all event streams of a node share. */
export interface EventStreamDependencies {
  readonly mailboxes: Mailboxes;
  readonly blocks: EventBlocks;
  readonly log: Logger;
  /** A client gets something at least this often. ms */
  readonly heartbeatMs: number;
  /** A client for which more than this waits has fallen behind. Characters */
  readonly pauseLength: number;
  sent(events: number): void;
}

/** The start of a stream, as its client requests it. */
export interface StreamStart {
  /** null: the stream starts now. */
  readonly from: ResumeFrom | null;
  /** The last event that the client has, when it has a part of the change after `from`. */
  readonly last?: EventPosition | undefined;
  /** The cursor is not valid here: the client has to reload what it shows. */
  readonly isForeign: boolean;
}

/** The time that a client waits before it connects again. ms */
const RETRY = 'retry: 2000\n\n';
const COMMENT = ':\n\n';
const SEQ = /^\d{1,15}$/;

/** Undefined for text that is neither a cursor nor a number of the log. `cursor` is undefined for a client without one. */
export function streamStart(cursor: string | undefined, accountId: string): StreamStart | undefined {
  if (cursor === undefined) return { from: null, isForeign: false };
  if (SEQ.test(cursor)) return { from: { seq: Number(cursor) }, isForeign: false };
  const position = positionOf(cursor, accountId);
  if (position === undefined) return undefined;
  if (position === null) return { from: null, isForeign: true };
  return { from: wholeChange(position), last: position.within && position, isForeign: false };
}

export class EventStream implements LogReader, AsyncIterableIterator<Uint8Array> {
  readonly accountId: string;
  readonly #start: StreamStart;
  /** Undefined: all types. */
  readonly #types: ReadonlySet<StreamEventType> | undefined;
  readonly #dependencies: EventStreamDependencies;
  readonly #drained$ = new Subject<void>();
  readonly #subscription = new Subscription();
  #isEnded = false;
  #isPaused = false;
  #begun: () => void = () => {};
  /** The text that the client has not received yet. */
  #text = RETRY;
  /** Resolves the client's wait for the next piece. */
  #waiting: ((piece: IteratorResult<Uint8Array>) => void) | undefined;
  /** The last change whose events the stream has filtered. */
  #position: LogPosition = { seq: 0, at: 0 };
  /** The last id that was sent names `#position`. */
  #isPositionSent = true;
  /** The part of a change that the client had when it connected. */
  #last: EventPosition | undefined;

  constructor(
    accountId: string,
    start: StreamStart,
    types: ReadonlySet<StreamEventType> | undefined,
    dependencies: EventStreamDependencies,
  ) {
    this.accountId = accountId;
    this.#start = start;
    this.#types = types;
    this.#dependencies = dependencies;
  }

  /** Resolves when the stream has begun or ended; rejects when it cannot begin. May be called once. */
  open(): Promise<void> {
    const { mailboxes, heartbeatMs, log } = this.#dependencies;
    const accountId = this.accountId;
    if (this.#isEnded) return Promise.resolve();
    return new Promise((resolve, reject) => {
      let hasBegun = false;
      this.#begun = () => {
        hasBegun = true;
        resolve();
      };
      const interrupted = (err: unknown) => {
        if (hasBegun) log.warn({ err, accountId }, 'mailbox events were interrupted');
        reject(err);
        this.end();
      };
      const events$ = backPressuredLog(mailboxes.of(accountId), this.#start.from, this);
      this.#subscription.add(events$.subscribe({ error: interrupted }));
      this.#subscription.add(interval(heartbeatMs).subscribe(() => this.#beat()));
    });
  }

  /** Ends the stream when `end$` emits. */
  endBy(end$: Observable<unknown>): void {
    this.#subscription.add(end$.subscribe(() => this.end()));
  }

  /** Calls `ended` once, when the stream has ended. */
  onEnd(ended: () => void): void {
    this.#subscription.add(ended);
  }

  /** The client gets the text that it has not received yet, and then the end of the stream. */
  end(): void {
    this.#isEnded = true;
    this.#subscription.unsubscribe();
    this.#begun();
    if (this.#waiting !== undefined) this.#hand();
  }

  /** Tells that something of the account is to be read again; a notice that waits for the client tells that already. */
  notify(type: NoticeType): void {
    const block = noticeBlock(type, {});
    if (this.#isEnded || this.#types?.has(type) === false || this.#text.includes(block)) return;
    this.#text += block;
    this.#dependencies.sent(1);
    if (this.#waiting !== undefined) this.#hand();
  }

  /** Returns the next piece as soon as there is one. */
  next(): Promise<IteratorResult<Uint8Array>> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      if (this.#text !== '' || this.#isEnded) this.#hand();
      if (!this.#isPaused) return;
      this.#isPaused = false;
      this.#drained$.next();
    });
  }

  /** Called when the client has gone. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#text = '';
    this.end();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  begin(point: ResumePoint): void {
    const { last, isForeign } = this.#start;
    const isComplete = point.complete && !isForeign;
    this.#position = point.position;
    this.#last = isComplete ? last : undefined;
    this.#text += this.#positionBlock(isComplete ? 'Position' : 'Resync', this.#last ?? point.position);
    this.#begun();
  }

  take(batch: readonly MailboxEvent[]): LogPosition | undefined {
    const { blocks, pauseLength } = this.#dependencies;
    for (const change of blocks.of(batch, this.accountId)) {
      this.#append(change);
      if (this.#text.length <= pauseLength) continue;
      if (this.#waiting === undefined) return change.position;
      this.#hand();
    }
    if (this.#waiting !== undefined && this.#text !== '') this.#hand();
    return undefined;
  }

  drained$(): Observable<void> {
    this.#isPaused = true;
    return this.#drained$;
  }

  #append({ position, blocks }: ChangeBlocks): void {
    const last = this.#last?.seq === position.seq ? this.#last.within : undefined;
    const chosen = blocks.filter(
      ({ type, number }) => (this.#types?.has(type) ?? true) && (last === undefined || isAfter(number, last)),
    );
    for (const { text } of chosen) this.#text += text;
    if (chosen.length > 0) this.#dependencies.sent(chosen.length);
    this.#position = position;
    this.#isPositionSent = chosen.length > 0 && chosen.at(-1) === blocks.at(-1);
  }

  #beat(): void {
    if (this.#text !== '') return;
    this.#text = this.#isPositionSent ? COMMENT : this.#positionBlock('Position', this.#position);
    this.#isPositionSent = true;
    if (this.#waiting !== undefined) this.#hand();
  }

  #positionBlock(type: 'Position' | 'Resync', position: EventPosition): string {
    return eventBlock(type, cursorOf(position, this.accountId), {});
  }

  #hand(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const value = Buffer.from(this.#text);
    this.#text = '';
    waiting?.(value.length === 0 ? DONE : { done: false, value });
  }
}

const DONE: IteratorResult<Uint8Array> = { done: true, value: undefined };
