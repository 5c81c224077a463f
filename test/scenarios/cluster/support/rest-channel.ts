// Sends messages of the load by REST, as a web or mobile app does.
import type { TestAccount } from '../../../../dev/node-accounts.js';
import type { Channel, ChannelOptions, Outgoing } from './channel.js';
import { Refused } from './mailing.js';

export class RestChannel implements Channel {
  readonly #http: string;
  readonly #options: ChannelOptions;
  readonly #account: TestAccount;

  constructor(http: string, options: ChannelOptions, account: TestAccount) {
    this.#http = http;
    this.#options = options;
    this.#account = account;
  }

  async send({ id, from, to, body }: Outgoing): Promise<void> {
    const recipients = to.map((address) => ({ address, type: 'To' }));
    const reply = await fetch(`${this.#http}/api/outbound/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#account.key}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(this.#options.answerMs),
      body: JSON.stringify({ fromAddress: from, subject: id, textBody: body, recipients }),
    });
    const text = await reply.text();
    if (reply.ok) return;
    const refusal = { node: this.#options.node, code: String(reply.status), after: 'send', text: text.slice(0, 300) };
    throw new Refused(refusal, reply.status !== 503);
  }

  /** `fetch` keeps its connections by itself. */
  close(): void {}
}
