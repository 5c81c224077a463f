// Tests the REST fields that are derived from the structs of an actor.

import { array, boolean, type Infer, integer, nullable, number, optional, string } from 'superstruct';
import { record, timestamp } from '../../../../../src/gateways/http/fields.js';
import { jsonSchema } from '../../../../../src/gateways/http/openapi/json-schema.js';
import { derivedFields, withoutNulls } from '../../../../../src/gateways/http/routes/emails/derived-fields.js';
import test from '../../../../support/test.js';

const actor = { name: string(), nick: nullable(string()), count: integer(), isNew: optional(boolean()), at: number() };

test('a field has the type of the actor, or a form of its own; a null is the empty string', (t) => {
  const shown = record(derivedFields(actor, { at: timestamp() }));
  const { at, ...value } = { name: 'a', nick: null, count: 1, at: 0 };
  const json: Infer<typeof shown> = { ...withoutNulls(value), at: new Date(at).toISOString() };
  t.deepEqual(json, { name: 'a', nick: '', count: 1, at: '1970-01-01T00:00:00.000Z' });
  t.true(shown.is(json));
  t.false(shown.is({ ...json, count: '1' }));
  t.deepEqual(jsonSchema(shown, new Map()), {
    type: 'object',
    required: ['name', 'nick', 'count', 'at'],
    properties: {
      name: { type: 'string' },
      nick: { type: 'string' },
      count: { type: 'integer' },
      isNew: { type: 'boolean' },
      at: { type: 'string', format: 'date-time' },
    },
  });
});

test('a type without a form of REST stops the start', (t) => {
  t.throws(() => derivedFields({ list: array(string()) }, {}), { message: /own for list/ });
});
