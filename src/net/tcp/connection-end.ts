// The reasons for which a connection of a line protocol ends, as its session learns them.

export type EndReason =
  /** No line arrived in time. */
  | 'idle'
  /** No login happened in time. */
  | 'no-login'
  | 'too-slow'
  /** The listener stops, and the peer is between two lines. */
  | 'stopping'
  /** The credential of the login is no longer valid. */
  | 'login-ended'
  /** The session has sent its last words. */
  | 'over'
  /** The peer is gone, or cannot receive anything. */
  | 'lost';

/** Tells a session that nothing more arrives. A session may let the error pass: the listener says farewell and closes. */
export class ConnectionEnd extends Error {
  override readonly name = 'ConnectionEnd';
  readonly reason: EndReason;

  constructor(reason: EndReason, cause?: unknown) {
    super(`the connection ended: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
