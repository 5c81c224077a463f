// Records of attempts on their way to the store: those that arrive while a statement runs are written together by the next one.
import type { Logger } from 'pino';
import type { RecordedDelivery, WebhookDeliveryStore } from '../../store/webhooks.js';

const MOST_OF_A_STATEMENT = 200;

export class DeliveryRecords {
  readonly #store: Pick<WebhookDeliveryStore, 'record'>;
  readonly #log: Logger;
  readonly #waiting: { readonly delivery: RecordedDelivery; readonly written: () => void }[] = [];
  #isWriting = false;

  constructor(store: Pick<WebhookDeliveryStore, 'record'>, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** Resolves when the record is stored, or could not be stored: mail does not depend on records. */
  add(delivery: RecordedDelivery): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ delivery, written: resolve });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, MOST_OF_A_STATEMENT);
      try {
        await this.#store.record(group.map(({ delivery }) => delivery));
      } catch (err) {
        this.#log.warn({ deliveries: group.length, err }, 'deliveries of webhooks could not be recorded');
      }
      for (const { written } of group) written();
    }
    this.#isWriting = false;
  }
}
