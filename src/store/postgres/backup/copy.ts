// Streams of COPY over the driver. The driver forgets some things, which are done here: it leaves its socket paused when a stream ends while
// it is full, it does not end a writing stream when the server refuses the last rows, and a stream that is left early blocks its connection.
import { setImmediate as turn } from 'node:timers/promises';
import { BackupFault } from '../../backup/store-snapshot.js';
import type { SqlTransaction } from '../driver/client.js';

/** The octets that `statement`, a COPY … TO STDOUT, gives. A reader that leaves early cancels it. */
export async function* copyOut(tx: SqlTransaction, statement: string): AsyncGenerator<Buffer> {
  const query = tx.unsafe(statement);
  const rows = await query.readable();
  const closed = new Promise((resolve) => rows.once('close', resolve));
  // A read resumes the socket, which has the end of the statement.
  rows.once('end', () => rows._read(0));
  rows.on('error', () => undefined);
  try {
    yield* rows.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } finally {
    // The connection takes no other statement, not even a rollback, before the end of this one.
    if (!rows.readableEnded && !rows.destroyed) {
      query.cancel();
      rows.resume();
      await closed;
    }
  }
}

/** Gives the octets to `statement`, a COPY … FROM STDIN. `what` names the rows in an error. */
export async function copyIn(
  tx: SqlTransaction,
  statement: string,
  octets: AsyncIterable<Uint8Array>,
  what: string,
): Promise<void> {
  const rows = await tx.unsafe(statement).writable();
  let refusal: unknown;
  rows.on('error', (error) => {
    refusal ??= error;
  });
  const written = (chunk: Uint8Array) =>
    new Promise<void>((resolve) => rows.write(chunk, () => (refusal === undefined ? resolve() : turn().then(resolve))));
  try {
    for await (const chunk of octets) {
      await written(chunk);
      if (refusal !== undefined) throw refusal;
    }
  } catch (error) {
    // The server takes no rollback while it waits for rows.
    rows.destroy(new Error('the rows end early'));
    throw error;
  }
  rows.end();
  // The stream tells the server of the end within this turn. A refusal of the last rows shows itself in the next statement.
  await turn();
  await tx`select 1`.catch((error) => {
    throw new BackupFault(`the database refuses ${what}: its log says why`, { cause: error });
  });
}
