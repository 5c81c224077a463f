import { optional, validate } from 'superstruct';
import type { AnyStruct } from '../../../src/actors/runtime/protocol.js';
import {
  dateParameter,
  flagParameter,
  idParameter,
  list,
  pageParameter,
  pageSizeParameter,
  record,
  text,
  timestamp,
} from '../../../src/gateways/http/fields.js';
import test from '../../support/test.js';

const read = (struct: AnyStruct, value: unknown): unknown => {
  const [error, result] = validate(value, struct, { coerce: true });
  return error ? `! ${error.message.replace(/^At path: .* -- /, '')}` : result;
};

test('page and page size', (t) => {
  t.is(read(pageParameter(), undefined), 1);
  t.is(read(pageParameter(), '7'), 7);
  for (const bad of ['', '0', '-1', '1.0', '1e3', ' 1', '٣']) {
    t.is(read(pageParameter(), bad), '! must be an integer of at least 1', bad);
  }
  t.is(read(pageParameter(), '99999999999999999999'), 1_000_000_000);
  t.is(read(pageSizeParameter(20), undefined), 20);
  t.is(read(pageSizeParameter(20), '100'), 100);
  t.is(read(pageSizeParameter(20), '101'), 100);
  t.is(read(pageSizeParameter(20), '0'), '! must be an integer of at least 1');
});

test('flags and dates', (t) => {
  t.is(read(flagParameter(), 'true'), true);
  t.is(read(flagParameter(), 'false'), false);
  for (const bad of ['', 'TRUE', '1', 'yes']) t.is(read(flagParameter(), bad), '! must be true or false', bad);
  for (const good of ['2026-01-31', '2026-01-31T23:59', '2026-01-31T23:59:59.123Z', '2026-01-31T23:59:59+02:00']) {
    t.is(read(dateParameter(), good), good);
  }
  for (const bad of ['', '2026', '31.1.2026', '2026-13-01', '2026-02-31', '2026-01-31 10:00', '2026-01-31T25:00Z']) {
    t.is(read(dateParameter(), bad), '! must be an ISO 8601 date or date-time', bad);
  }
  t.is(read(timestamp(), '2026-01-31T10:00:00.000Z'), '2026-01-31T10:00:00.000Z');
  t.is(read(timestamp(), '2026-01-31T10:00:00Z'), '! must be an ISO 8601 UTC time');
});

test('ids are lower case; nested values say what they should be', (t) => {
  t.is(read(idParameter(), 'ABCDEF00-0000-7000-8000-00000000000A'), 'abcdef00-0000-7000-8000-00000000000a');
  t.is(read(idParameter(), '1'), '! must be a UUID');
  const people = record({ people: list(record({ name: text(), nick: optional(text()) })) });
  t.deepEqual(read(people, { people: [{ name: 'a', more: 1 }] }), { people: [{ name: 'a', more: 1 }] });
  t.is(read(people, { people: {} }), '! must be an array');
  t.is(read(people, { people: [3] }), '! must be an object');
  t.is(read(people, { people: [{ name: 3 }] }), '! must be a string');
});
