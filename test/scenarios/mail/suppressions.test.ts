// Tests suppressed addresses and one-click unsubscribe on a whole node: what a far side refuses for good is not sent to again, until the
// account or the operator lifts that; an email that is one of many has the fields of RFC 8058, which DKIM signs.
import { authenticate } from 'mailauth';
import { mansio } from '../../support/command.js';
import test from '../../support/test.js';
import { type Shown, world } from './outbound-remotes.js';

interface Suppression {
  readonly address: string;
  readonly reason: string;
  readonly since: string;
  readonly until: string;
}

test('an address that bounced for good is not tried again; others are, and it is lifted by account and operator', async (t) => {
  const tried: string[] = [];
  const rcpt = (address: string) => {
    tried.push(address);
    return address.toLowerCase().startsWith('gone') ? '550 5.1.1 no such user' : undefined;
  };
  const { node, sender, client, send, ended, timeline, messagesAt } = await world(t, {
    'one.test': [{ behaviour: { rcpt } }],
  });
  const made = await mansio(node.dataDir, ['domain', 'add', 'example.test', '--json']);
  const { records } = JSON.parse(made.stdout) as {
    records: { name: string; type: string; value: string | string[] }[];
  };
  const suppressions = () => client.get<readonly Suppression[]>('/api/suppressions');
  const reasonsOf = ({ recipients }: Shown) => recipients.map(({ lastError }) => lastError);
  t.is((await ended(await send(['Gone@one.test']))).status, 'Failed');
  const [known] = await suppressions();
  t.is(known!.address, 'gone@one.test');
  t.regex(known!.reason, /550 5\.1\.1 no such user/);
  t.is(Date.parse(known!.until) - Date.parse(known!.since), 30 * 86_400_000);

  const id = await send(['gone@ONE.test', 'here@one.test']);
  t.deepEqual(reasonsOf(await ended(id)), ['suppressed', null]);
  t.deepEqual(tried, ['Gone@one.test', 'here@one.test']);
  t.true((await timeline(id)).some(({ host, reply }) => host === null && reply.startsWith('suppressed: ')));

  const command = async (...args: string[]) => mansio(node.dataDir, ['suppression', ...args, '--json']);
  t.deepEqual(JSON.parse((await command('list', sender.email)).stdout), await suppressions());
  t.is((await command('remove', sender.email, 'else@one.test')).code, 1);
  const removed = await command('remove', sender.email, 'GONE@one.test');
  t.deepEqual(JSON.parse(removed.stdout), { address: 'gone@one.test', isRemoved: true }, removed.stderr);
  t.deepEqual(await suppressions(), []);
  await ended(await send(['gone@one.test']));
  // A refusal on a connection that was used before is asked for again on a new one (decision 0068).
  t.deepEqual([...new Set(tried.slice(2))], ['gone@one.test'], 'the address is tried again');
  t.is((await client.request('DELETE', '/api/suppressions/gone%40one.test')).status, 204);
  t.deepEqual(await suppressions(), []);

  const unsubscribeUrl = 'https://news.test/leave/4f2a?list=weekly';
  await ended(await send(['here@one.test'], { subject: 'News', bulk: { unsubscribeUrl } }));
  const message = messagesAt('one.test').at(-1)!.text;
  const header = message.slice(0, message.indexOf('\r\n\r\n')).replaceAll(/\r\n(?=[ \t])/g, '');
  t.true(header.includes(`\r\nList-Unsubscribe: <${unsubscribeUrl}>\r\n`));
  t.true(header.includes('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n'));
  t.true(header.includes('\r\nPrecedence: bulk\r\n'));
  const { dkim } = await authenticate(message, {
    disableArc: true,
    disableDmarc: true,
    disableBimi: true,
    resolver: async (name, type) => {
      const found = records.filter((one) => one.type === type && one.name.replace(/\.$/, '') === name);
      return found.map(({ value }) => [value].flat());
    },
  });
  const [signed] = dkim.results;
  t.is(signed!.status.result, 'pass');
  const [, names = ''] = /^DKIM-Signature:.*?\bh=([^;]*);/m.exec(header) ?? [];
  const covered = names.toLowerCase().split(/[\s:]+/);
  t.true(
    ['list-unsubscribe', 'list-unsubscribe-post'].every((name) => covered.includes(name)),
    names,
  );
});
