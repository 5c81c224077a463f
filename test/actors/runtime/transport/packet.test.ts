// Tests which publications are read, which neighbouring versions of Mansio share (decision 0082).
import { readPublication } from '../../../../src/actors/runtime/transport/packet-reading.js';
import test from '../../../support/test.js';

const PUBLICATIONS = [
  '{"v":1,"kind":"acquired","node":"n","shards":[7],"crashed":true}',
  '{"v":1,"kind":"unclean","node":"n","shards":[7]}',
  '{"v":1,"kind":"freed","node":"n","shards":[7]}',
  '{"v":1,"kind":"given","node":"n","to":"m","leases":[{"shard":7,"epoch":2}]}',
  '{"v":1,"kind":"gone","node":"n","gone":"m"}',
  '{"v":1,"kind":"recheck"}',
  '{"v":1,"kind":"due","accountId":"a","outboundId":"o"}',
  '{"v":1,"kind":"consumers","accountId":"a"}',
];

test('publications are read as they were written', (t) => {
  for (const text of PUBLICATIONS) {
    t.is(JSON.stringify(readPublication(JSON.parse(text))), text);
  }
});

test('a notice about consumers without an account is not read', (t) => {
  t.is(readPublication({ v: 1, kind: 'consumers', node: 'n' }), undefined);
});
