// The interface of a session that a listener runs on a connection. Most connections of a mail protocol wait most of the time, so a waiting
// session must not keep a promise or a function frame: it returns, and is called again when there is input.

export interface LineSession {
  /**
   * Called at the start of the connection, and after a rest when there is input or the connection has ended. `rest`: call again; `over`:
   * send the waiting data and close. An error that it throws decides the farewell.
   */
  run(): Promise<'rest' | 'over'>;
  /** Called once, when the connection is over. */
  close(): void;
}
