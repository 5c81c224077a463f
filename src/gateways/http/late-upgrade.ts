// WebSocket upgrades that are decided later than in the callback that brought the request. uWebSockets.js makes such an
// upgrade safely only while another response is corked. Inside the response's own cork it may take the new WebSocket for
// the response and shut it down; without a cork it prints a complaint for each upgrade. So the server keeps one request
// of its own open to itself, never answers that request, and runs late upgrades inside its cork. That request is the
// anchor.
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { holdRequest, type ServerPlace } from '../tcp/held-request.js';
import type { Log } from './exchange.js';

export interface Corkable {
  cork(write: () => void): unknown;
}

/** Of the server's response object. */
export interface AnchorResponse extends Corkable {
  onAborted(handler: () => void): unknown;
  close(): unknown;
}

/** Nobody keeps a silent connection for ever. */
const RENEW_MS = 120_000;
const RETRY_MS = 1_000;

export class LateUpgrade {
  /** A secret of this process, so no client can ask for it. */
  readonly path = `/${randomBytes(32).toString('hex')}`;
  readonly #log: Log;
  readonly #over = new AbortController();
  #anchor: AnchorResponse | undefined;
  #arrived: () => void = () => {};

  constructor(log: Log) {
    this.#log = log;
  }

  /** Serves `path`. */
  take(response: AnchorResponse): void {
    const before = this.#anchor;
    this.#anchor = response;
    response.onAborted(() => {
      if (this.#anchor === response) this.#anchor = undefined;
    });
    before?.close();
    this.#arrived();
  }

  /** Without an anchor the upgrade is as good, but not quiet. */
  run(response: Corkable, upgrade: () => void): void {
    if (this.#anchor === undefined) upgrade();
    else this.#anchor.cork(() => response.cork(upgrade));
  }

  /** Returns once there is an anchor, or there seems to be none to be had. `server`: this very one. */
  async start(server: ServerPlace): Promise<void> {
    const arrived = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    void this.#keep(server);
    await Promise.race([arrived, delay(RETRY_MS, undefined, { signal: this.#over.signal }).catch(() => {})]);
  }

  stop(): void {
    this.#over.abort();
  }

  /** Each anchor replaces the one before, whose request then fails: that is how it ends. */
  async #keep(server: ServerPlace): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      const lost = holdRequest(server, this.path, signal).catch((err: unknown) => {
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
