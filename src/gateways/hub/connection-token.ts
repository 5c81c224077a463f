// Connection tokens: a client gets one by negotiation and sends it when it connects. A token grants nothing, because every request is
// authenticated by itself. It names the hub and the time of its creation, so that requests of a connection without a WebSocket find their
// node, and a late request does not open an ended connection again. Pure.
import { createHash, randomBytes } from 'node:crypto';

export interface TokenOrigin {
  /** The id of the hub that made the token. */
  readonly hubId: string;
  /** The tick of that hub at which the token was made. */
  readonly tick: number;
}

/** Other clients may choose tokens of their own for a WebSocket. */
const ANY = /^[A-Za-z0-9_-]{1,128}$/;
const OURS = /^([0-9a-f]{16})-([0-9a-z]{1,10})-[A-Za-z0-9_-]{22}$/;

/** Makes a new id at each start of a hub. */
export function newHubId(): string {
  return randomBytes(8).toString('hex');
}

export function newToken({ hubId, tick }: TokenOrigin): string {
  return `${hubId}-${tick.toString(36)}-${randomBytes(16).toString('base64url')}`;
}

/** Undefined when the token does not come from a hub. */
export function originOf(token: string): TokenOrigin | undefined {
  const [, hubId, tick] = OURS.exec(token) ?? [];
  return hubId === undefined || tick === undefined ? undefined : { hubId, tick: Number.parseInt(tick, 36) };
}

export function isToken(text: string): boolean {
  return ANY.test(text);
}

/** The id is derived from the token, so that all nodes log the same one. */
export function connectionIdOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url').slice(0, 22);
}
