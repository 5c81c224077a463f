// Tests additional addresses on a real store: which get a mail with a link, how often, and what the link verifies.
import { randomBytes, randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { createProfiles } from '../../../src/actors/account/profiles.js';
import { createDirectory } from '../../../src/actors/directory/directory.js';
import { postgresDirectory } from '../../../src/store/postgres/accounts/directory.js';
import { migratedSql } from '../../support/database/embedded-database.js';
import { FakeMailboxes } from '../../support/hub-fakes.js';
import test from '../../support/test.js';

async function start(
  t: ExecutionContext,
  { publicUrl }: { publicUrl?: string } = { publicUrl: 'https://mail.example.test/' },
) {
  const sql = await migratedSql(t, { max: 6 });
  const store = postgresDirectory(sql, 16);
  await store.addDomain('example.test');
  const options = { mailboxes: new FakeMailboxes().refs, unknownRecipients: 'hold' as const, log: { info() {} } };
  const senders = await createDirectory({ store, ...options });
  t.teardown(() => senders.close());
  const mails: { readonly accountId: string; readonly to: string; readonly text: string; readonly token: string }[] =
    [];
  const fail = { with: undefined as Error | undefined };
  const profiles = createProfiles({
    store,
    senders,
    verification: {
      publicUrl,
      hostname: 'mx.test',
      newId: randomUUID,
      async send(accountId, { message, to }) {
        if (fail.with !== undefined) throw fail.with;
        const text = Buffer.from(message).toString();
        mails.push({ accountId, to, text, token: /token=(\S+)/.exec(text)?.[1] ?? '' });
      },
    },
    random: randomBytes,
    time: () => Date.UTC(2026, 0, 2),
  });
  const account = async (name: string) => (await store.createAccount(`${name}@example.test`, name)).id;
  const age = (hours: number) =>
    sql`update addresses set verification_sent_at = verification_sent_at - ${hours}::int * interval '1 hour'`;
  const forget = (hours: number) =>
    sql`update verification_mails set sent_at = sent_at - ${hours}::int * interval '1 hour'`;
  const add = async (accountId: string, address: string) => {
    const added = await profiles.addAddress(accountId, address);
    return typeof added === 'object' && 'id' in added ? added : t.fail(JSON.stringify(added));
  };
  return {
    sql,
    store,
    profiles,
    mails,
    fail,
    account,
    age,
    forget,
    add: add as (...args: Parameters<typeof add>) => Promise<{ id: string }>,
  };
}

const FAR = 'ann@far.test';

test('an address of another account that is a target of forwarding is verified, and nobody sends as it', async (t) => {
  const { profiles, store, account } = await start(t);
  const [ann, bob] = [await account('ann'), await account('bob')];
  await store.addForwardingTarget(ann, 'bob@example.test');
  const [target, ...others] = (await profiles.read(ann))!.additionalAddresses;
  t.like(target, { address: 'bob@example.test', isVerified: true, canSend: false, isAlias: false });
  t.deepEqual(others, []);
  t.false(await profiles.maySendAs(ann, 'bob@example.test'));
  t.true(await profiles.maySendAs(bob, 'bob@example.test'));
});

test('an address elsewhere gets a mail, and its link verifies the address once', async (t) => {
  const { profiles, store, mails, account } = await start(t);
  const ann = await account('ann');
  t.like(await profiles.addAddress(ann, 'Ann@FAR.test'), { address: FAR, isVerified: false, canSend: false });
  t.is(await profiles.addAddress(ann, FAR), 'known');
  const [mail] = mails;
  t.is(mails.length, 1);
  t.like(mail, { accountId: ann, to: FAR });
  for (const line of [
    /^From: Mail Server <postmaster@example\.test>\r\n/m,
    /^To: <ann@far\.test>\r\n/m,
    /^Auto-Submitted: auto-generated\r\n/m,
    /^https:\/\/mail\.example\.test\/verify\?token=[\w-]{43}\r\n/m,
    /ann@example\.test asks that mail may be forwarded to ann@far\.test\./,
  ])
    t.regex(mail!.text, line);
  t.true(mail!.text.split('\r\n').every((one) => one.length < 200));
  t.is((await store.ownerOf(FAR))?.accountId, undefined);
  const asked = { address: FAR, email: 'ann@example.test', displayName: 'ann' };
  for (let i = 0; i < 2; i++) t.deepEqual({ ...(await profiles.verificationOf(mail!.token)) }, asked);
  t.deepEqual(await profiles.confirmAddress(mail!.token), { kind: 'verified', address: FAR });
  t.like((await profiles.read(ann))!.additionalAddresses[0], { isVerified: true, canSend: false });
  t.false(await profiles.maySendAs(ann, FAR), 'it is for forwarding only');
  t.deepEqual(await profiles.confirmAddress(mail!.token), { kind: 'gone' });
  t.is(await profiles.verificationOf(mail!.token), undefined);
  for (const nonsense of ['', 'x', `${mail!.token}x`, 'x'.repeat(43)]) {
    t.is(await profiles.verificationOf(nonsense), undefined);
    t.deepEqual(await profiles.confirmAddress(nonsense), { kind: 'gone' });
  }
});

test('a link is good for 48 hours, until the next mail or until the address is given up', async (t) => {
  const { profiles, mails, account, age, forget, add } = await start(t);
  const ann = await account('ann');
  const { id } = await add(ann, FAR);
  await age(47);
  t.truthy(await profiles.verificationOf(mails[0]!.token));
  await age(1);
  t.is(await profiles.verificationOf(mails[0]!.token), undefined);
  t.deepEqual(await profiles.confirmAddress(mails[0]!.token), { kind: 'gone' });
  await forget(1);
  t.is(await profiles.sendVerification(ann, id), undefined);
  await age(1);
  t.truthy(await profiles.verificationOf(mails[1]!.token));
  await forget(1);
  t.is(await profiles.sendVerification(ann, id), undefined);
  t.is(await profiles.verificationOf(mails[1]!.token), undefined);
  await profiles.removeAddress(ann, id);
  t.deepEqual(await profiles.confirmAddress(mails[2]!.token), { kind: 'gone' });
});

test('the operator verifies addresses at hosted domains, and says where links lead', async (t) => {
  const { profiles, mails, account, add, store } = await start(t);
  const ann = await account('ann');
  const { id } = await add(ann, 'sales@example.test');
  t.deepEqual(await profiles.sendVerification(ann, id), { kind: 'hosted' });
  t.is(mails.length, 0);
  const { id: far } = await add(ann, FAR);
  t.deepEqual(await profiles.sendVerification(await account('bob'), far), { kind: 'noSuchAddress' });
  t.deepEqual(await profiles.sendVerification(ann, 'no id'), { kind: 'noSuchAddress' });
  // The domain is hosted since the mail was sent.
  await store.addDomain('far.test');
  t.deepEqual(await profiles.confirmAddress(mails[0]!.token), { kind: 'gone' });
  await store.removeDomain('far.test');
  t.like(await profiles.confirmAddress(mails[0]!.token), { kind: 'verified' });
  t.deepEqual(await profiles.sendVerification(ann, far), { kind: 'verified' });
  const without = await start(t, {});
  const zoe = await without.account('zoe');
  t.deepEqual(await without.profiles.addAddress(zoe, FAR), { kind: 'noPublicUrl' });
  t.deepEqual(await without.profiles.sendVerification(zoe, far), { kind: 'noPublicUrl' });
  t.like(await without.profiles.addAddress(zoe, 'sales@example.test'), { isVerified: false });
});

test('an account sends five mails a day, and an address gets one an hour from all accounts', async (t) => {
  const { profiles, mails, account, forget, add } = await start(t);
  const [ann, bob] = [await account('ann'), await account('bob')];
  const { id } = await add(ann, FAR);
  const soon = await profiles.sendVerification(ann, id);
  t.true(soon?.kind === 'tooManyMails' && soon.againInMs > 3_500_000 && soon.againInMs <= 3_600_000);
  t.like(await profiles.addAddress(bob, FAR), { kind: 'tooManyMails' });
  t.is((await profiles.read(bob))!.additionalAddresses.length, 0, 'a refusal adds nothing');
  const results = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => profiles.addAddress(ann, `a${n}@far.test`)));
  t.is(results.filter((result) => typeof result === 'object' && 'id' in result).length, 4);
  t.is(mails.length, 5);
  await forget(1);
  const later = await profiles.sendVerification(ann, id);
  t.true(later?.kind === 'tooManyMails' && later.againInMs > 22 * 3_600_000 && later.againInMs <= 23 * 3_600_000);
  t.like(await profiles.addAddress(bob, FAR), { isVerified: false });
  await forget(23);
  t.is(await profiles.sendVerification(ann, id), undefined);
});

test('an address has one owner, whoever confirms first', async (t) => {
  const { profiles, mails, account, forget, add } = await start(t);
  const [ann, bob] = [await account('ann'), await account('bob')];
  await add(ann, FAR);
  await forget(1);
  await add(bob, FAR);
  const results = await Promise.all(mails.map(({ token }) => profiles.confirmAddress(token)));
  t.deepEqual(results.map(({ kind }) => kind).toSorted(), ['taken', 'verified']);
});

test('a mail that cannot be queued does not count, and leaves no address', async (t) => {
  const { profiles, mails, fail, account, forget, add } = await start(t);
  const ann = await account('ann');
  fail.with = new Error('no store');
  await t.throwsAsync(profiles.addAddress(ann, FAR), { message: 'no store' });
  t.deepEqual((await profiles.read(ann))!.additionalAddresses, []);
  fail.with = undefined;
  const { id } = await add(ann, FAR);
  await forget(1);
  fail.with = new Error('no store');
  await t.throwsAsync(profiles.sendVerification(ann, id));
  fail.with = undefined;
  t.is(await profiles.sendVerification(ann, id), undefined);
  t.is(mails.length, 2);
});

test('who verified an address by mail loses it when its domain is hosted, also by a catch-all below a hosted domain', async (t) => {
  const { profiles, store, mails, account, add } = await start(t);
  const [ann, bob] = [await account('ann'), await account('bob')];
  await add(ann, FAR);
  await add(ann, 'ann@sub.example.test');
  for (const { token } of mails) t.like(await profiles.confirmAddress(token), { kind: 'verified' });
  await store.addDomain('far.test');
  await store.addAlias({
    address: '*@sub.example.test',
    targets: ['ann@example.test', 'bob@example.test'],
    sendAs: false,
  });
  const shown = (await profiles.read(ann))!.additionalAddresses.filter(({ isAlias }) => !isAlias);
  t.deepEqual(
    shown.map(({ isVerified, canSend }) => [isVerified, canSend]),
    [
      [false, false],
      [false, false],
    ],
  );
  for (const address of [FAR, 'ann@sub.example.test']) {
    t.is((await store.ownerOf(address))?.accountId, undefined);
    t.false(await profiles.maySendAs(ann, address));
  }
  // The operator verifies addresses there: no mail is sent.
  await add(bob, 'new@sub.example.test');
  t.is(mails.length, 2);
});
