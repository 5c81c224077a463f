// Tests rows of a statement with a real server: as parameters they equal their JSON.

import fc from 'fast-check';
import { connect } from '../../../../src/store/postgres/driver/client.js';
import { asJson, asParameters, type Recordset } from '../../../../src/store/postgres/driver/recordsets.js';
import { execute, pieces } from '../../../../src/store/postgres/driver/statement-pieces.js';
import { runs } from '../../../support/amounts.js';
import { testDatabase } from '../../../support/database/embedded-database.js';
import test from '../../../support/test.js';

const TABLE = `x (id uuid, "ids" uuid[], name text, names text[], uids bigint[], modseq bigint, count integer, at double precision,
  "isNew" boolean, entries json)`;

// The database accepts neither NUL nor half a surrogate pair.
const text = fc
  .oneof(fc.string({ unit: 'binary' }), fc.constantFrom('Zoë 💌', '{"a"}', '\\', '"', 'NULL', 'null', ',', ''))
  .map((value) => value.replaceAll('\0', ''));
const often = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null, freq: 5 });
const integer = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

const row = fc.record(
  {
    id: often(fc.uuid()),
    ids: often(fc.array(fc.uuid(), { maxLength: 3 })),
    name: often(text),
    names: often(fc.array(text, { maxLength: 4 })),
    uids: often(fc.array(fc.maxSafeInteger(), { maxLength: 3 })),
    modseq: often(fc.maxSafeInteger()),
    count: often(integer),
    at: often(fc.double({ noNaN: true, noDefaultInfinity: true })),
    isNew: often(fc.boolean()),
    entries: often(fc.oneof(fc.array(fc.record({ type: text, payload: fc.dictionary(text, integer) })), text)),
    other: text,
  },
  { requiredKeys: [] },
);

test('a single row as parameters is the same as in JSON, whatever it has and lacks', async (t) => {
  const { address } = await testDatabase(t);
  const sql = connect(address, { max: 1, applicationName: 'test' });
  t.teardown(() => sql.end());
  const read = async (table: Recordset, value: unknown) => {
    const found = await execute<{ row: string }[]>(
      sql,
      pieces`select to_json(x)::text as row from ${table([value], TABLE)}`,
    );
    return found.map((each) => each.row);
  };
  await fc.assert(
    fc.asyncProperty(row, async (value) => {
      const asOne = await read(asParameters, value);
      t.is(asOne.length, 1);
      t.deepEqual(asOne, await read(asJson, value));
    }),
    { numRuns: runs(100) },
  );
});
