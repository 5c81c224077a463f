// Tests that accounts keep their shards: the store records them, and nodes of neighbouring versions compute the same ones.
import { shardOf } from '../../src/store/shard.js';
import test from '../support/test.js';

test('an id has the shard that every released version computes', (t) => {
  for (const [id, of256, of1000] of [
    ['0198c0de-0000-7000-8000-00000000000a', 221, 773],
    ['0198c0de-0000-7000-8000-00000000000B', 174, 710],
    ['f47ac10b-58cc-4372-a567-0e02b2c3d479', 251, 947],
  ] as const) {
    t.is(shardOf(id, 256), of256);
    t.is(shardOf(id.toLowerCase(), 1_000), of1000);
  }
  t.throws(() => shardOf('ann', 256), { instanceOf: RangeError });
});
