// Connection tokens: what a client gets by negotiation and names when it connects. A token gives no right, because every request is
// authenticated by itself. It names the hub that made it and when, so that the requests of a connection without a WebSocket
// find their node, and a connection that has ended is not opened again by a late request. Pure.
import { createHash, randomBytes } from 'node:crypto';

export interface TokenOrigin {
  /** Name of the hub that made the token. */
  readonly hubId: string;
  /** Tick of that hub. */
  readonly tick: number;
}

/** Other clients may choose tokens of their own for a WebSocket. */
const ANY = /^[A-Za-z0-9_-]{1,128}$/;
const OURS = /^([0-9a-f]{16})-([0-9a-z]{1,10})-[A-Za-z0-9_-]{22}$/;

/** One for each start of a hub. */
export function newHubId(): string {
  return randomBytes(8).toString('hex');
}

export function newToken({ hubId, tick }: TokenOrigin): string {
  return `${hubId}-${tick.toString(36)}-${randomBytes(16).toString('base64url')}`;
}

/** Undefined when no hub has made the token. */
export function originOf(token: string): TokenOrigin | undefined {
  const [, hubId, tick] = OURS.exec(token) ?? [];
  return hubId === undefined || tick === undefined ? undefined : { hubId, tick: Number.parseInt(tick, 36) };
}

export function isToken(text: string): boolean {
  return ANY.test(text);
}

/** Derived from the token, so that all nodes log the same id. */
export function connectionIdOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url').slice(0, 22);
}
