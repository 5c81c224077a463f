// Transactions that outlive their connection safely. After a connection has closed, the driver still sends the statements of its
// transaction, the rollback and the commit to it: that ends the process, because there is no socket, or they run outside any transaction,
// because the pool has opened the connection again. So a transaction whose connection has closed sends nothing more.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A function for template literals, with methods. */
type Statements = (...args: unknown[]) => unknown;
type Run = (tx: Statements) => unknown;
type Begin = (options: string, run: Run) => Promise<unknown>;

/** Learns from the driver when a connection of the pool closes. */
export class ClosedConnections {
  #isRecent = false;

  /** A connection has closed in this turn of the event loop. Its transaction learns that a few microtasks later. */
  get isRecent(): boolean {
    return this.#isRecent;
  }

  closed(): void {
    this.#isRecent = true;
    setImmediate(() => {
      this.#isRecent = false;
    });
  }
}

function connectionClosed(): Error {
  return Object.assign(new Error('the connection of the transaction has closed'), { code: 'CONNECTION_CLOSED' });
}

/** Replaces `begin` of the pool. Its promise rejects with `CONNECTION_CLOSED` when the connection closes before the commit is answered. */
export function guardTransactions<S extends { readonly begin: unknown }>(sql: S, closed: ClosedConnections): S {
  const driverBegin = sql.begin as Begin;
  const begin = (...args: [Run] | [string, Run]): Promise<unknown> => {
    const [options, run] = args.length === 1 ? ['', args[0]] : args;
    let isOver = false;
    const begun = driverBegin(options, async (tx) => {
      const statements = guarded(tx, () => isOver || closed.isRecent);
      let error: unknown;
      let result: unknown;
      try {
        result = await run(statements);
      } catch (thrown) {
        error = thrown ?? new Error('the transaction has failed');
      }
      // Within a turn, the driver reports to `begun` that the connection has closed. Then it must not commit or roll back.
      await nextTurn();
      if (isOver) return new Promise(() => {});
      if (error !== undefined) throw error;
      return result;
    });
    return begun.finally(() => {
      isOver = true;
    });
  };
  return Object.assign(sql, { begin });
}

/** The statements of the transaction, which throw when they must not be sent. Pieces of statements are made from them as usual. */
function guarded(tx: Statements, mustNotSend: () => boolean): Statements {
  return new Proxy(tx, {
    apply(target, thisArg, args: unknown[]) {
      if (Array.isArray((args[0] as { raw?: unknown } | undefined)?.raw) && mustNotSend()) throw connectionClosed();
      return Reflect.apply(target, thisArg, args) as unknown;
    },
    get(target, name, receiver) {
      if (name === 'unsafe' && mustNotSend()) throw connectionClosed();
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
}
