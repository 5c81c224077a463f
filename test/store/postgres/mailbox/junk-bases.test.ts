// Tests the common bases of the junk filter in a real database: which domains get one and when again, and that they end with their domain.
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { startJunkBases } from '../../../../src/actors/mailbox/background/junk-bases.js';
import { JunkWords } from '../../../../src/mail-format/junk/junk-words.js';
import { postgresDirectory } from '../../../../src/store/postgres/accounts/directory.js';
import { connect, type Sql } from '../../../../src/store/postgres/driver/client.js';
import { postgresJunkBases } from '../../../../src/store/postgres/mailbox/junk-bases.js';
import { migratedDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';
import { until } from '../../../support/until.js';

let sql: Sql;
let drop: () => Promise<void>;

test.before(async () => {
  const database = await migratedDatabase();
  sql = connect(database.address, { max: 4, applicationName: 'test' });
  drop = database.drop;
});

test.after.always(async () => {
  await sql?.end();
  await drop?.();
});

/** Words of an account that has learnt enough of each kind. */
function learnt(): Uint8Array {
  const words = new JunkWords();
  for (let n = 0; n < 50; n++) {
    words.learn(Uint32Array.of(7), true);
    words.learn(Uint32Array.of(8), false);
  }
  return words.stored();
}

async function domain() {
  const name = `${randomUUID()}.test`;
  await sql`insert into domains (name) values (${name})`;
  const teach = async (words: Uint8Array) => {
    const { id } = await postgresDirectory(sql, 1).createAccount(`${randomUUID()}@${name}`, 'x');
    await sql`insert into junk_words (account_id, words) values (${id}, ${words as Buffer})`;
    return id;
  };
  const store = postgresJunkBases(sql);
  const isDue = async () => (await store.domainsDue(1_000)).includes(name);
  const age = (interval: string) =>
    sql`update junk_bases set made_at = now() - ${interval}::interval where domain = ${name}`;
  return { name, teach, store, isDue, age };
}

test.serial(
  'a domain gets a base when three accounts have words, once a day; unclaimed mailboxes teach nothing',
  async (t) => {
    const { name, teach, store, isDue, age } = await domain();
    await teach(learnt());
    await teach(learnt());
    await teach(Buffer.of());
    const unclaimed = await teach(learnt());
    await sql`update accounts set unclaimed = true where id = ${unclaimed}`;
    t.false(await isDue());
    await teach(learnt());
    t.true(await isDue());
    t.is((await store.wordsOfDomain(name, 50)).length, 3);
    t.is((await store.wordsOfDomain(name, 2)).length, 2);
    await store.putBase(name, undefined);
    t.is((await store.bases([name])).size, 0);
    await age('50 minutes');
    t.false(await isDue());
    await age('61 minutes');
    t.true(await isDue(), 'an empty one is tried again after an hour');
    await store.putBase(name, Buffer.from('words'));
    t.is(Buffer.from((await store.bases([name, 'x.test'])).get(name)!).toString(), 'words');
    await age('23 hours');
    t.false(await isDue());
    await age('25 hours');
    t.true(await isDue());
  },
);

test.serial(
  'a base is made of what the accounts have taught; it is emptied when they are gone, and ends with its domain',
  async (t) => {
    const { name, teach, store, age } = await domain();
    const accounts = [await teach(learnt()), await teach(learnt()), await teach(learnt())];
    const made = async (isThere: boolean) => {
      const bases = startJunkBases({ store, log: pino({ level: 'silent' }), intervalMs: 3_600_000 });
      await until(async () => (await store.bases([name])).has(name) === isThere);
      await bases.stop();
    };
    await made(true);
    const base = JunkWords.from((await store.bases([name])).get(name)!);
    t.deepEqual([...base.known()], [7, 8]);
    t.true(base.junkAt(base.placeOf(7)) > 0 && base.junkAt(base.placeOf(8)) === 0);
    await postgresDirectory(sql, 1).deleteAccount(accounts[0]!);
    await age('25 hours');
    await made(false);
    await store.putBase(name, Buffer.from('words'));
    await sql`delete from junk_words`;
    await sql`delete from accounts where split_part(email, '@', 2) = ${name}`;
    await sql`delete from domains where name = ${name}`;
    t.is((await store.bases([name])).size, 0);
    await store.putBase(name, Buffer.from('words'));
    t.is((await store.bases([name])).size, 0, 'a domain that is not hosted has none');
  },
);
