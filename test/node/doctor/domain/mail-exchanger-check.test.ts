// Tests whether mail of a domain comes to this deployment.
import type { Zone } from '../../../../dev/servers/dns-server.js';
import { mailExchangerCheck } from '../../../../src/node/doctor/domain/mail-exchanger-check.js';
import test from '../../../support/test.js';
import { ADDRESS, DOMAIN, HOST, NODE, type SubjectWishes, subjectFor } from '../subjects.js';

test('where mail of the domain goes', async (t) => {
  const of = async (zones: Readonly<Record<string, Zone>>, wishes: SubjectWishes = {}) => {
    const { subject, server, planOf } = await subjectFor(t, wishes);
    for (const [name, zone] of Object.entries(zones)) server.zones.set(name, zone);
    return mailExchangerCheck.run({ name: DOMAIN, plan: planOf(DOMAIN) }, subject);
  };
  const mx = (...exchanges: string[]): Zone => ({ MX: exchanges.map((name, i) => [10 * i, name] as const) });
  const record = `${DOMAIN}. IN MX 10 ${HOST}.`;
  t.like(await of({}), { status: 'ok', detail: `${HOST} (${ADDRESS})` });
  t.like(await of({ [DOMAIN]: {} }), { status: 'fail', detail: 'there is no MX record', fix: record });
  t.like(await of({ [DOMAIN]: mx('') }), { status: 'fail', detail: 'a null MX says that the domain takes no mail' });
  t.like(await of({ [DOMAIN]: mx('mx.elsewhere.net') }), { status: 'fail', fix: record });
  t.like(await of({ [DOMAIN]: mx('mx.elsewhere.net', HOST) }), { status: 'warn', fix: record });
  t.like(await of({ [DOMAIN]: mx(HOST, 'backup.elsewhere.net') }), { status: 'ok' });
  // Another name of the same host.
  t.like(await of({ [DOMAIN]: mx('mx1.example.org'), 'mx1.example.org': { A: [ADDRESS] } }), { status: 'ok' });
  t.like(await of({ [HOST]: {} }), { status: 'fail', detail: `${HOST} has no address` });
  t.like(await of({ [HOST]: { CNAME: 'host.example.org' }, 'host.example.org': { A: [ADDRESS] } }), { status: 'warn' });
  t.like(await of({ [HOST]: { A: ['10.0.0.5'] } }), { status: 'warn' });
  t.like(await of({ [HOST]: { A: ['10.0.0.5'] } }, { env: { MANSIO_OUTBOUND_ALLOW_PRIVATE: 'true' } }), {
    status: 'ok',
  });
  const other = { ...NODE, listeners: { mx: `${HOST}:2525` } };
  t.like(await of({}, { nodes: [other] }), { status: 'warn', fix: 'MANSIO_MX_PORT=25' });
  t.like(await of({}, { nodes: [{ ...NODE, listeners: {} }] }), { status: 'warn', detail: 'no node takes mail in' });
});
