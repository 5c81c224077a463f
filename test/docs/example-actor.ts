// A counter per account: an actor with each part that the runtime requires. docs/example-actor.md shows and explains this file;
// example-store.ts keeps the counters in PostgreSQL.
import { integer, object } from 'superstruct';
import type { Behavior, Remembered } from '../../src/actors/runtime/behavior.js';
import { command, protocol, query } from '../../src/actors/runtime/protocol.js';
import type { EventRecord } from '../../src/actors/runtime/transport/packet.js';

const total = object({ total: integer() });

export const counterProtocol = protocol('counter', {
  operations: {
    add: command({
      payload: object({ amount: integer() }),
      reply: total,
      refusals: ['tooLarge'],
      onRepeat: 'remembered',
    }),
    total: query({ payload: object({}), reply: total }),
  },
  events: { Added: object({ amount: integer() }) },
});

export interface CounterRow {
  readonly total: number;
  readonly seq: number;
  readonly replies: readonly Remembered[];
}

export interface CounterStore {
  /** Makes `epoch` the epoch of the counter, unless it has a later one, and reads the counter. */
  claim(accountId: string, epoch: number): Promise<CounterRow | 'noSuchAccount' | 'fenced'>;
  /** Writes the row and the events; false when the counter has another epoch by now. */
  commit(accountId: string, epoch: number, row: CounterRow, events: readonly EventRecord[]): Promise<boolean>;
}

type Counter = { readonly accountId: string; readonly epoch: number; row: CounterRow };
type Plan = { readonly now: number; total: number; seq: number; readonly events: EventRecord[] };

export const counterBehavior = (store: CounterStore): Behavior<typeof counterProtocol, Counter, Plan> => ({
  protocol: counterProtocol,
  async load(accountId, epoch) {
    const row = await store.claim(accountId, epoch);
    return typeof row === 'string' ? { kind: row } : { kind: 'loaded', state: { accountId, epoch, row } };
  },
  begin: ({ row: { total, seq } }, { now }) => ({ now, total, seq, events: [] }),
  commands: {
    add(plan, { amount }) {
      if (amount > 1_000) return { refusal: 'tooLarge' };
      plan.total += amount;
      plan.events.push({ seq: ++plan.seq, n: 0, type: 'Added', at: plan.now, payload: { amount } });
      return { reply: { total: plan.total } };
    },
  },
  queries: { total: async ({ row: { total } }) => ({ reply: { total } }) },
  async commit(state, { total, seq, events }, remembered) {
    if (events.length === 0) return { kind: 'unchanged' };
    const { accountId, epoch, row } = state;
    const next = { total, seq, replies: [...row.replies, ...remembered].slice(-100) };
    if (!(await store.commit(accountId, epoch, next, events))) return { kind: 'fenced' };
    state.row = next;
    return { kind: 'committed', events: { after: row.seq, seq, events } };
  },
  recall: ({ row }, id) => row.replies.find((reply) => reply.id === id),
  position: ({ row }) => row.seq,
  octets: ({ row }) => 200 + 100 * row.replies.length,
  needsCompaction: () => false,
});
