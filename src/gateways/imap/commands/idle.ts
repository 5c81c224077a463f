// IDLE (RFC 2177, RFC 9051 §6.3.13): changes are sent as they happen, until the client sends DONE.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Command, command } from '../command.js';
import { bad, type Completion, ok, type Suspension } from '../completion.js';
import { sizeResponses } from '../responses/updates.js';
import { hasUpdatingSearches, writeSearchUpdates } from '../search/updating-searches.js';
import type { Selected, Session } from '../session.js';

/** Octets of the line that should be DONE. */
const LONGEST_LINE = 64;

export const idleCommands: readonly Command[] = [
  command<undefined>({
    name: 'IDLE',
    states: ['authenticated', 'selected'],
    parse: () => undefined,
    run(session) {
      session.output.line('+ idling');
      return new Idle(session);
    },
  }),
];

/** Sends changes of the selected mailbox. While a client reads slowly, its changes are collected and sent once. */
class Idle implements Suspension {
  readonly mostOctets = LONGEST_LINE;
  readonly #session: Session;
  /** Undefined when no mailbox is selected, or when NOTIFY defines what is sent (RFC 5465 §4). */
  readonly #selected: Selected | undefined;
  readonly #unwatch: (() => void) | undefined;
  #searches: Promise<void> | undefined;
  #beatAt: number;
  /** Whether EXISTS was sent since IDLE began. */
  #hasGrown = false;
  #isWaiting = false;
  #isOver = false;

  constructor(session: Session) {
    const { selected, notifier, context } = session;
    this.#session = session;
    this.#beatAt = performance.now() + context.limits.heartbeatMs;
    this.#selected = notifier === undefined ? selected : undefined;
    this.#unwatch = this.#selected?.view.mirror.watch(() => this.#tell());
    notifier?.release('idle');
    this.#tell();
  }

  finish(line: Buffer): Completion {
    return line.toString('latin1').trimEnd().toUpperCase() === 'DONE' ? ok('IDLE completed') : bad('Expected DONE');
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#unwatch?.();
    await this.#searches;
    await this.#session.notifier?.hold();
  }

  /**
   * Some programs read the responses of IDLE much later and fetch new messages up to the number of EXISTS (mutt 2.2). If an expunge
   * follows EXISTS, they would name a message beyond the last one, so EXISTS is sent again.
   */
  sendUpdates(): void {
    const { output, enabled, selected } = this.#session;
    const { expunged, exists } = this.#session.sendUpdates(true);
    if (exists !== undefined) this.#hasGrown = true;
    else if (expunged.length > 0 && this.#hasGrown) {
      output.write(sizeResponses(selected!.view.count, enabled.has('IMAP4REV2')));
    }
  }

  /** Sends a line periodically, so that routers do not drop an idle connection. */
  tick(now: number): void {
    if (now < this.#beatAt) return;
    const { output, notifier, context } = this.#session;
    this.#beatAt = now + context.limits.heartbeatMs;
    if (output.ready === undefined && notifier?.isTelling !== true) output.line('* OK Still here');
  }

  #tell(): void {
    if (this.#selected === undefined || this.#isOver || this.#isWaiting) return;
    if (this.#selected.view.mirror.isGone) {
      this.#isOver = true;
      this.#session.end('The selected mailbox was deleted');
      this.#session.connection.cut('over');
      return;
    }
    const { output } = this.#session;
    if (output.ready === undefined) {
      this.sendUpdates();
      if (hasUpdatingSearches(this.#selected.view)) {
        this.#searches = Promise.resolve(this.#searches).then(() => writeSearchUpdates(this.#session));
      }
      if (!this.#selected.view.hasPendingFlags) return;
    }
    this.#isWaiting = true;
    void (output.ready ?? nextTurn()).then(() => {
      this.#isWaiting = false;
      this.#tell();
    });
  }
}
