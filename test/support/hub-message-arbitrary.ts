// Arbitrary hub messages, for properties of the protocols that encode them.
import fc from 'fast-check';
import type { HubMessage } from '../../src/gateways/hub/protocols/hub-messages.js';

const name = fc.string({ minLength: 1 });
/** MessagePack refuses members called `__proto__`. */
const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__":'));
const headers = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  fc.string(),
  { noNullPrototype: true },
);
/** Any message of the hub protocol. */
export const hubMessage: fc.Arbitrary<HubMessage> = fc.oneof(
  fc.record(
    {
      type: fc.constant(1 as const),
      headers,
      invocationId: name,
      target: name,
      arguments: fc.array(json),
      streamIds: fc.array(name),
    },
    { requiredKeys: ['type', 'target', 'arguments'] },
  ),
  fc.record({ type: fc.constant(2 as const), invocationId: name, item: json }),
  fc.record({ type: fc.constant(3 as const), invocationId: name, result: json }),
  fc.record({ type: fc.constant(3 as const), invocationId: name, error: name }),
  fc.record({ type: fc.constant(3 as const), invocationId: name }),
  fc.record(
    {
      type: fc.constant(4 as const),
      headers,
      invocationId: name,
      target: name,
      arguments: fc.array(json),
      streamIds: fc.array(name),
    },
    { requiredKeys: ['type', 'invocationId', 'target', 'arguments'] },
  ),
  fc.record({ type: fc.constant(5 as const), invocationId: name }),
  fc.record({ type: fc.constant(6 as const) }),
  fc.record(
    { type: fc.constant(7 as const), error: fc.string(), allowReconnect: fc.boolean() },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: fc.constant(8 as const), sequenceId: fc.nat() }),
  fc.record({ type: fc.constant(9 as const), sequenceId: fc.nat() }),
) as fc.Arbitrary<HubMessage>;
