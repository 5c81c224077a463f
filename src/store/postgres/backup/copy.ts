// Streams of COPY over the driver. The driver forgets two things, which are done here: it leaves its socket paused when a stream ends while
// it is full, and it does not end a writing stream when the server refuses the last rows.
import { setImmediate as turn } from 'node:timers/promises';
import { BackupFault } from '../../backup/store-snapshot.js';
import type { SqlTransaction } from '../driver/client.js';

/** The octets that `statement`, a COPY … TO STDOUT, gives. It must be read to its end, or the connection must be closed. */
export async function* copyOut(tx: SqlTransaction, statement: string): AsyncGenerator<Buffer> {
  const rows = await tx.unsafe(statement).readable();
  // A read resumes the socket, which has the end of the statement.
  rows.once('end', () => rows._read(0));
  yield* rows as AsyncIterable<Buffer>;
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
  for await (const chunk of octets) {
    await written(chunk);
    if (refusal !== undefined) throw refusal;
  }
  rows.end();
  // The stream tells the server of the end within this turn. A refusal of the last rows shows itself in the next statement.
  await turn();
  await tx`select 1`.catch((error) => {
    throw new BackupFault(`the database refuses ${what}: its log says why`, { cause: error });
  });
}
