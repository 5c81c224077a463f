// Runs WebSocket upgrades that are decided after the callback that brought the request. uWebSockets.js makes such an upgrade safely only
// while another response is corked. Inside the response's own cork it may mistake the new WebSocket for the response and shut it down;
// without a cork it prints a complaint for each upgrade. So the server keeps one request open to itself, the anchor, never answers it, and
// runs late upgrades inside its cork.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { openAnchor, type ServerEndpoint } from '../../../net/tcp/anchor-request.js';
import type { Log } from '../exchange.js';

export interface Corkable {
  cork(write: () => void): unknown;
}

/** The part of the server's response object that an anchor needs. */
export interface AnchorResponse extends Corkable {
  onAborted(handler: () => void): unknown;
  close(): unknown;
}

/** The anchor is renewed because silent connections are closed after a while. */
const RENEW_MS = 120_000;
const RETRY_MS = 1_000;

export class LateUpgrade {
  /** A secret of this process, so that no client can request it. */
  readonly path = `/${randomBytes(32).toString('hex')}`;
  readonly #log: Log;
  readonly #over = new AbortController();
  #anchor: AnchorResponse | undefined;
  #arrived: () => void = () => {};

  constructor(log: Log) {
    this.#log = log;
  }

  /** Serves `path`: makes this response the anchor. */
  take(response: AnchorResponse): void {
    const before = this.#anchor;
    this.#anchor = response;
    response.onAborted(() => {
      if (this.#anchor === response) this.#anchor = undefined;
    });
    before?.close();
    this.#arrived();
  }

  /** Runs the upgrade. It also works without an anchor, but the library then prints a complaint. */
  run(response: Corkable, upgrade: () => void): void {
    if (this.#anchor === undefined) upgrade();
    else this.#anchor.cork(() => response.cork(upgrade));
  }

  /** Returns once the anchor is there, or after a while without one. `server`: the address of this same server. */
  async start(server: ServerEndpoint): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    void this.#keep(server);
    await Promise.race([arrived, delay(RETRY_MS, undefined, { signal: this.#over.signal }).catch(() => {})]);
  }

  stop(): void {
    this.#over.abort();
  }

  /** Renews the anchor. Each anchor replaces the previous one, whose request then fails and ends. */
  async #keep(server: ServerEndpoint): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const lost = openAnchor(server, this.path, signal).catch((err: unknown) => {
        if (!signal.aborted && this.#anchor === undefined) this.#log.debug({ err }, 'no anchor for quiet upgrades');
      });
      const renewal = new AbortController();
      const due = delay(RENEW_MS, undefined, { signal: AbortSignal.any([signal, renewal.signal]), ref: false });
      await Promise.race([lost, due.catch(() => {})]);
      renewal.abort();
      if (this.#anchor === undefined) await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
