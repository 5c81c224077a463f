// What a listener runs on a connection. Most connections of a mail protocol wait most of the time, so a session that waits is to
// keep no promise and no frame of a function: it returns, and is called again when there is input.

export interface LineSession {
  /**
   * Called when the connection has begun, and after a rest when there is input or the connection has ended. `rest`: call again;
   * `over`: send what waits and close. What it throws decides on the farewell.
   */
  run(): Promise<'rest' | 'over'>;
  /** The connection is over. Called once. */
  close(): void;
}
