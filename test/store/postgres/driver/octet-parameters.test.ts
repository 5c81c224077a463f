// Tests octets as binary parameters with a real server: any octets beside any other parameters arrive unchanged, and a
// statement whose octets are missing is refused.
import { randomBytes, randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { doubleOf, inBinary, integerOf, jsonOf } from '../../../../src/store/postgres/driver/binary-results.js';
import { connect, storeFault } from '../../../../src/store/postgres/driver/client.js';
import { OctetParameters, Octets } from '../../../../src/store/postgres/driver/octet-parameters.js';
import { runs } from '../../../support/amounts.js';
import { type Teardown, testDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

async function pool(t: Teardown, max: number) {
  const { address } = await testDatabase(t);
  const sql = connect(address, { max, applicationName: 'test' });
  t.teardown(() => sql.end());
  return sql;
}

/** Cuts octets into pieces, some of which are empty. */
function cut(octets: Buffer, at: readonly number[]): Octets {
  const ends = [...at.map((share) => Math.floor(share * octets.length)).sort((a, b) => a - b), octets.length];
  return new Octets(ends.map((end, i) => octets.subarray(ends[i - 1] ?? 0, end)));
}

const lengths = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.integer({ min: 60_000, max: 70_000 }),
  fc.constant(500_000),
);
const values = fc.record({
  length: lengths,
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
  text: fc.oneof(fc.constant(null), fc.string(), fc.constant(`\\x:${'0'.repeat(32)}:000000000000`)),
});

test('octets of any length come back as they were, beside other parameters, on several connections at once', async (t) => {
  const sql = await pool(t, 3);
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 12 }), async (all) => {
      const echoes = all.map(async ({ length, cuts, text }) => {
        const [first, small, second] = [randomBytes(length), randomBytes(40), Buffer.alloc(length, '\0\\x41')];
        const [row] = await sql<[{ first: Buffer; text: string | null; small: Buffer; second: Buffer; n: number }]>`
          select ${cut(first, cuts)}::bytea as first, ${text}::text as text, ${small}::bytea as small,
            ${length}::int as n, ${cut(second, cuts)}::bytea as second`;
        return row.first.equals(first) && row.small.equals(small) && row.second.equals(second) && row.text === text;
      });
      t.true((await Promise.all(echoes)).every((isSame) => isSame));
    }),
    { numRuns: runs(30) },
  );
});

test('statements of one transaction have octets of their own', async (t) => {
  const sql = await pool(t, 2);
  await sql`create table kept (id int, octets bytea)`;
  const all = Array.from({ length: 20 }, (_, i) => randomBytes(i * 9_000));
  await sql.begin((tx) =>
    Promise.all(all.map((octets, i) => tx`insert into kept values (${i}, ${new Octets([octets])}::bytea)`)),
  );
  const rows = await sql<{ octets: Buffer }[]>`select octets from kept order by id`;
  t.true(rows.every(({ octets }, i) => octets.equals(all[i]!)));
});

test('a statement has its results in the binary form when it asks for it, beside others that do not', async (t) => {
  const sql = await pool(t, 2);
  const integer = fc.option(fc.integer());
  const number = fc.option(fc.double({ noNaN: true }).map((x) => x + 0));
  const octets = fc.option(fc.uint8Array({ maxLength: 70_000 }));
  const texts = fc.option(
    fc.array(fc.string({ unit: 'grapheme' }).map((text) => `Zoë 💌 ${text.replaceAll('\0', '')}`)),
  );
  await fc.assert(
    fc.asyncProperty(integer, number, octets, texts, fc.boolean(), async (n, x, some, list, isLast) => {
      const given = some === null ? null : Buffer.from(some);
      const values =
        () => sql`${n}::int as n, ${x}::float8 as x, ${given === null ? null : new Octets([given])}::bytea as given,
        array_to_json(${list}::text[]) as list`;
      // The driver does not write -0.
      const asked = isLast
        ? sql`select ${values()} where ${inBinary(sql)}`
        : sql`select ${values()} from (select) x where ${inBinary(sql)} and ${n}::int is not distinct from ${n}`;
      const [[row], [text]] = await Promise.all([
        asked.raw(),
        sql<[{ n: number | null; given: Buffer | null }]>`select ${values()}`,
      ]);
      t.deepEqual([integerOf(row![0]!), doubleOf(row![1]!), row![2], jsonOf(row![3]!)], [n, x, given, list]);
      t.deepEqual([text.n, text.given], [n, given]);
    }),
    { numRuns: runs(60) },
  );
});

test('a statement that the driver sends again has the octets it had, or fails for now', async (t) => {
  const sql = await pool(t, 1);
  const small = randomBytes(16);
  await sql`create table kept as select ${small}::bytea as octets`;
  const bySmall = () => sql`select * from kept where octets = ${small}`;
  const byOctets = () => sql`select * from kept where octets = ${new Octets([small])}::bytea`;
  t.is((await bySmall()).length, 1);
  t.is((await byOctets()).length, 1);
  // The plan of a prepared statement now has another result, so the server refuses it once.
  await sql`alter table kept add column further int`;
  t.is((await bySmall()).length, 1);
  const fault = storeFault(await t.throwsAsync(async () => byOctets()));
  t.is(fault.code, 'store-unavailable');
  t.true(fault.temporary);
  t.is((await byOctets()).length, 1);
});

test('octets are a parameter of one statement, which lets them go', async (t) => {
  const sql = await pool(t, 1);
  const octets = new Octets([randomBytes(90_000)]);
  await sql`select ${octets}::bytea`;
  t.deepEqual(octets.take(), []);
  await t.throwsAsync(async () => sql`select ${octets}::bytea`, { message: /one statement/ });
  const [row] = await sql<[{ x: Buffer }]>`select ${new Octets([Buffer.from('Zoë 💌')])}::bytea as x`;
  t.is(row.x.toString(), 'Zoë 💌');
});

test('a marker whose octets are missing is no bytea', async (t) => {
  const sql = await pool(t, 1);
  const marker = new OctetParameters().serialize(new Octets([Buffer.from('x')]));
  const fault = storeFault(await t.throwsAsync(async () => sql`select ${marker}::text::bytea`));
  t.is(fault.code, 'store-failed');
});

/** Returns a Bind message with one parameter for a statement without a name. */
function bindOf(parameter: string): Buffer {
  const octets = Buffer.alloc(1 + 4 + 2 + 2 + 2 + 4 + parameter.length + 2);
  octets.write('B', 0);
  octets.writeUInt32BE(octets.length - 1, 1);
  octets.writeUInt16BE(1, 9);
  octets.writeUInt32BE(parameter.length, 11);
  octets.write(parameter, 15);
  return octets;
}

test.serial(
  'octets are there when the turn in which they are written takes long, and are given back when nobody writes them',
  (t) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { now } = performance;
    t.teardown(() => {
      mock.timers.reset();
      performance.now = now;
    });
    const parameters = new OctetParameters();
    const socket = parameters.fillWrites(new PassThrough());
    const isFilled = (marker: string) => {
      socket.write(bindOf(marker));
      return !(socket.read() as Buffer).includes(marker);
    };
    const [first, lost] = [0, 1].map(() => parameters.serialize(new Octets([Buffer.from('x')])));
    // The clock jumps, as after a pause of the process.
    const before = performance.now();
    performance.now = () => before + 60_000;
    mock.timers.tick(10_000);
    const second = parameters.serialize(new Octets([Buffer.from('y')]));
    t.true(isFilled(first!));
    t.true(isFilled(second));
    mock.timers.tick(10_000);
    t.false(isFilled(lost!));
  },
);

test('what is no statement passes as it is, while octets wait', async (t) => {
  const parameters = new OctetParameters();
  const socket = parameters.fillWrites(new PassThrough());
  const marker = parameters.serialize(new Octets([Buffer.from('x')]));
  // A startup message has no type; a message of another type may contain anything.
  const startup = Buffer.from([0, 0, 0, 9, 0, 3, 0, 0, 0]);
  const data = Buffer.from(`d\0\0\0\x34${marker}`, 'latin1');
  for (const messages of [startup, data]) {
    socket.write(messages);
    await turn();
    t.deepEqual(socket.read(), messages);
  }
});

test('as a socket connects, its octets still find their place', async (t) => {
  const sql = await pool(t, 4);
  const octets = randomBytes(100_000);
  const all = Array.from(
    { length: 8 },
    () => sql<[{ octets: Buffer }]>`
    select ${new Octets([octets])}::bytea as octets, ${randomUUID()}::uuid`,
  );
  for (const [row] of await Promise.all(all)) t.true(row.octets.equals(octets));
});
