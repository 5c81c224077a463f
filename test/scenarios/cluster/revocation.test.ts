// Tests that a key which one node revokes is refused by the other one as soon as the revocation is answered.
import { port } from '../../../dev/node-accounts.js';
import { testWith } from '../../support/test-with.js';
import { startCluster } from './support/cluster.js';
import { PATIENT_TTL_MS } from './support/roll.js';

const KEYS = 90;

testWith('nats-server')(
  'a key that is revoked on one node fails at once on another, which has just taken it',
  async (t) => {
    t.timeout(600_000);
    const cluster = await startCluster(t, { nodes: 2, accounts: 1, leaseTtlMs: PATIENT_TTL_MS });
    const [account] = cluster.accounts;
    const [here, there] = cluster.nodes.map((node) => `http://127.0.0.1:${port(node.process, 'http')}`);
    const ask = (base: string, key: string, method: string, path: string, body?: unknown) =>
      fetch(base + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const late: number[] = [];
    for (let i = 0; i < KEYS; i++) {
      const made = await ask(here!, account!.key, 'POST', '/api/smtp-credentials', {
        name: `key ${i}`,
        scopes: ['app'],
      });
      t.is(made.status, 201, await made.clone().text());
      const { id, apiKey } = (await made.json()) as { readonly id: string; readonly apiKey: string };
      const before = await ask(there!, apiKey, 'GET', '/api/emails?pageSize=1');
      t.is(before.status, 200, await before.text());
      const revoked = await ask(here!, account!.key, 'DELETE', `/api/smtp-credentials/${id}`);
      t.is(revoked.status, 204);
      const after = await ask(there!, apiKey, 'GET', '/api/emails?pageSize=1');
      if (after.status !== 401) late.push(i);
      await after.text();
    }
    t.deepEqual(late, []);
  },
);
