// Records the hosts that were tried for one task: entries of the timeline, one log line each, and metrics. It records ids and replies,
// never contents.
import type { Logger } from 'pino';
import type { DeliveryTask } from '../../actors/delivery/delivery-transport.js';
import type { DeliveryStatus } from '../../mail-format/reports/delivery-status.js';
import { clock } from '../../store/clock.js';
import type { DeliveryAttempt } from '../../store/outbound.js';
import type { SmtpClientMeter } from './meter.js';
import type { TaskRecipient } from './recipient-results.js';

/** The host, address and TLS of an attempt; null when the attempt ended before that step. */
export interface Tried {
  readonly host: string | null;
  readonly address: string | null;
  tls: string | null;
}

export class AttemptLog {
  readonly entries: DeliveryAttempt[] = [];
  readonly #task: DeliveryTask;
  readonly #log: Logger;
  readonly #meter: SmtpClientMeter;
  readonly #newId: () => string;
  readonly #node: string | undefined;

  /** `node`: the name of this node. */
  constructor(task: DeliveryTask, log: Logger, meter: SmtpClientMeter, newId: () => string, node?: string) {
    this.#task = task;
    this.#log = log;
    this.#meter = meter;
    this.#newId = newId;
    this.#node = node;
  }

  withoutTls(host: string, remoteAddress: string, reason: string): void {
    const { accountId, outboundId } = this.#task;
    this.#log.warn({ accountId, outboundId, host, remoteAddress, reason }, 'TLS failed, going on without');
  }

  /** `started` is a time of `performance.now()`; `decided` is the reply that represents the attempt. */
  add(
    { host, address: remoteAddress, tls }: Tried,
    started: number,
    decided: DeliveryStatus,
    statuses: readonly (readonly [addressee: TaskRecipient, status: DeliveryStatus])[],
  ): void {
    const { accountId, outboundId, domain } = this.#task;
    const durationMs = Math.max(0, Math.round(performance.now() - started));
    const recipients = statuses.flatMap(([{ ids }, { kind, statusCode }]) =>
      ids.map((id) => ({ id, outcome: kind, statusCode })),
    );
    const id = this.#newId();
    const reply = decided.text;
    this.entries.push({
      id,
      // Rounding must not put an attempt before the one that it follows: these times order the timeline.
      at: Math.max(clock.now() - durationMs, this.entries.at(-1)?.at ?? 0),
      durationMs,
      ...(this.#node !== undefined && { node: this.#node }),
      domain,
      host,
      remoteAddress,
      tls,
      reply,
      recipients,
    });
    const { kind: outcome, statusCode } = decided;
    this.#meter.attempted(outcome, durationMs);
    const about = { accountId, outboundId, attempt: id, domain, host, remoteAddress, tls, durationMs };
    this.#log.info({ ...about, outcome, statusCode, reply, recipients }, 'delivery attempted');
  }
}
