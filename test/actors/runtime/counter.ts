// Implements a small actor for tests of the runtime: a counter whose store is in memory and can be made to fail.
import { integer, object, string, type } from 'superstruct';
import type { Behavior, Committed } from '../../../src/actors/runtime/behavior.js';
import { command, protocol, query } from '../../../src/actors/runtime/protocol.js';
import type { EventRow } from '../../../src/store/mailboxes.js';

export const counterProtocol = protocol('counter', {
  operations: {
    add: command({
      payload: object({ amount: integer() }),
      reply: object({ total: integer() }),
      refusals: ['tooLarge'],
      onRepeat: 'remembered',
    }),
    crash: command({ payload: object({}), reply: object({}), onRepeat: 'harmless' }),
    total: query({ payload: object({}), reply: object({ total: integer() }) }),
  },
  events: { Added: type({ amount: integer() }), Unused: type({ text: string() }) },
});

export interface CounterState {
  accountId: string;
  epoch: number;
  total: number;
  seq: number;
}

export interface CounterTransaction {
  total: number;
  amounts: number[];
}

export class CounterStore {
  rows = new Map<string, { epoch: number; total: number; seq: number }>();
  commits = 0;
  /** The number of commits that have begun. */
  begun = 0;
  loads = 0;
  failure: Error | undefined;
  /** A commit succeeds and then throws it, once. */
  lostAnswer: Error | undefined;
  log: EventRow[] = [];
  /** Account → id of a command → its reply. */
  remembered = new Map<string, Map<string, unknown>>();
  /** Every commit awaits it. */
  gate: Promise<void> = Promise.resolve();

  add(accountId: string): void {
    this.rows.set(accountId, { epoch: 0, total: 0, seq: 0 });
  }
}

export type CounterBehavior = Behavior<typeof counterProtocol, CounterState, CounterTransaction>;

export function counterBehavior(store: CounterStore): CounterBehavior {
  return {
    protocol: counterProtocol,
    async load(accountId, epoch) {
      const row = store.rows.get(accountId);
      if (row === undefined) return { kind: 'noSuchAccount' };
      if (row.epoch > epoch) return { kind: 'fenced' };
      store.loads++;
      row.epoch = epoch;
      return { kind: 'loaded', state: { accountId, epoch, total: row.total, seq: row.seq } };
    },
    begin: (state) => ({ total: state.total, amounts: [] }),
    commands: {
      add(transaction, { amount }) {
        if (amount > 1000) return { refusal: 'tooLarge' };
        transaction.total += amount;
        transaction.amounts.push(amount);
        return { reply: { total: transaction.total } };
      },
      crash() {
        throw new Error('a bug in the handler');
      },
    },
    queries: {
      async total(state) {
        return { reply: { total: state.total } };
      },
    },
    recall: (state, id) => {
      const reply = store.remembered.get(state.accountId)?.get(id);
      return reply === undefined ? undefined : { id, reply };
    },
    async commit(state, transaction, remembered): Promise<Committed> {
      if (transaction.amounts.length === 0) return { kind: 'unchanged' };
      store.begun++;
      await store.gate;
      store.commits++;
      if (store.failure !== undefined) throw store.failure;
      const row = store.rows.get(state.accountId);
      if (row === undefined || row.epoch !== state.epoch) return { kind: 'fenced' };
      const after = row.seq;
      row.total = transaction.total;
      row.seq += transaction.amounts.length;
      const events = transaction.amounts.map((amount, i) => ({
        seq: after + i + 1,
        n: 0,
        type: 'Added',
        at: 0,
        payload: { amount },
      }));
      store.log.push(...events);
      const replies = store.remembered.get(state.accountId) ?? new Map();
      store.remembered.set(state.accountId, replies);
      for (const { id, reply } of remembered) replies.set(id, reply);
      if (store.lostAnswer !== undefined) {
        const { lostAnswer } = store;
        store.lostAnswer = undefined;
        throw lostAnswer;
      }
      state.total = row.total;
      state.seq = row.seq;
      return { kind: 'committed', events: { after, seq: row.seq, events } };
    },
    position: (state) => state.seq,
    octets: () => 1_000_000,
    needsCompaction: () => false,
  };
}
