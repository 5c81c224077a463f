// How the connection of a protocol of lines ends, as its session is told.

export type EndReason =
  /** No line in time. */
  | 'idle'
  /** No login in time. */
  | 'no-login'
  | 'too-slow'
  /** The listener stops, and the peer was between two lines. */
  | 'stopping'
  /** The credential of the login is no longer good. */
  | 'login-ended'
  /** The session has said its last words. */
  | 'over'
  /** The peer is gone, or nothing can be said to it. */
  | 'lost';

/** Why nothing more comes from the connection. A session may let it pass: the listener says farewell and closes. */
export class ConnectionEnd extends Error {
  override readonly name = 'ConnectionEnd';
  readonly reason: EndReason;

  constructor(reason: EndReason, cause?: unknown) {
    super(`the connection ended: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
