// Tests on a time of its own what a request uses after its caller has given up: the bus, or a node that hangs, still has the octets.
import { NEVER } from 'rxjs';
import type { LinkConnection, NatsLink } from '../../../../src/actors/runtime/transport/nats-link.js';
import { OutgoingRequests } from '../../../../src/actors/runtime/transport/outgoing-requests.js';
import { Congested, RequestTimeout } from '../../../../src/actors/runtime/transport/transport.js';
import { TurnEnd } from '../../../../src/actors/runtime/transport/turn-end.js';
import { virtualTest } from '../../../support/cluster/virtual-test.js';
import { request } from './transport-contract.js';

const TIMEOUT_MS = 1_000;
const OCTETS = new Uint8Array(1_000);

virtualTest(
  'octets of a request that timed out count for ten more seconds; a request without octets does not',
  async (t, time) => {
    // Nobody answers.
    const link = {
      connection: {},
      capacity: 1_000_000,
      turnEnd: new TurnEnd(),
      publish() {},
      subscribe: () => ({ drain() {}, end() {} }),
      connected$: NEVER,
      breaks$: NEVER,
    } as unknown as NatsLink<LinkConnection>;
    const limits = { octets: 6_000, requests: 10 };
    const requests = new OutgoingRequests({ link, prefix: 'p.', address: 'here', limits });
    const errors: unknown[] = [];
    const ask = (payload: object) => {
      const packet = { ...request('echo', payload), accountId: 'account' };
      return requests.request('a.1', packet, TIMEOUT_MS).catch((error: unknown) => void errors.push(error));
    };
    /** The errors of `count` requests that are sent now, once they have timed out. */
    const outcomes = async (count: number, payload: object) => {
      const all = Array.from({ length: count }, () => ask(payload));
      await time.advance(TIMEOUT_MS);
      await Promise.all(all);
      return errors.splice(0).map((error) => (error as Error).constructor);
    };
    t.deepEqual(await outcomes(1, { octets: OCTETS }), [RequestTimeout]);
    t.deepEqual(await outcomes(3, { octets: OCTETS }), [Congested, RequestTimeout, RequestTimeout]);
    t.deepEqual(await outcomes(1, { octets: OCTETS }), [Congested]);
    for (let i = 0; i < 3; i++) t.deepEqual(await outcomes(4, {}), Array(4).fill(RequestTimeout));
    // The second requests timed out five seconds ago.
    await time.advance(4_999);
    t.deepEqual(await outcomes(1, { octets: new Uint8Array(2_000) }), [Congested]);
    await time.advance(1_000);
    t.deepEqual(await outcomes(1, { octets: new Uint8Array(2_000) }), [RequestTimeout]);
  },
);
