// Tests that the mailbox understands nodes of the versions before it, and they understand it (decision 0082).
import { object, optional, string } from 'superstruct';
import { differences, recordedShapes, shapesOf } from '../../../dev/released/operation-shapes.js';
import { mailboxActorProtocol } from '../../../src/actors/mailbox/actor-protocol.js';
import { command, protocol } from '../../../src/actors/runtime/protocol.js';
import { version } from '../../../src/node/version.js';
import test from '../../support/test.js';

test('operations and events of released versions are there, with their members; further ones are optional', (t) => {
  const now = shapesOf(mailboxActorProtocol);
  const releases = recordedShapes();
  t.true(releases.has('0.2.0'), 'the operations of 0.2.0 are recorded');
  for (const [release, shapes] of releases) {
    t.true(shapes.length > 50, release);
    for (const then of shapes) {
      if ('event' in then) {
        const event = now.find((each) => 'event' in each && each.event === then.event);
        t.deepEqual(differences(then.payload, event?.payload, then.event), [], `${release} and ${version}`);
        continue;
      }
      const { operation } = then;
      const own = now.find((each) => 'operation' in each && each.operation === operation);
      if (own === undefined || !('operation' in own)) {
        t.fail(`${operation} of ${release} is gone`);
        continue;
      }
      t.is(own.kind, then.kind, operation);
      t.deepEqual(differences(then.payload, own.payload, `${operation}: payload`), [], `${release} and ${version}`);
      t.deepEqual(differences(then.reply, own.reply, `${operation}: reply`), [], `${release} and ${version}`);
      t.deepEqual(
        then.refusals.filter((refusal) => !own.refusals.includes(refusal)),
        [],
        operation,
      );
    }
  }
});

test('the comparison finds members that are gone, changed, or new without being optional', (t) => {
  const shape = (fields: Parameters<typeof object>[0]) => {
    const spec = { payload: object(fields), reply: object({}), onRepeat: 'harmless' } as const;
    const [recorded] = shapesOf(protocol('p', { operations: { o: command(spec) }, events: {} }));
    return recorded!.payload;
  };
  const then = shape({ a: string(), b: optional(string()) });
  t.deepEqual(differences(then, shape({ a: string(), b: optional(string()), c: optional(string()) }), 'o'), []);
  t.deepEqual(differences(then, shape({ a: string(), b: optional(string()), c: string() }), 'o'), [
    'o.c is new and must be optional',
  ]);
  t.deepEqual(differences(then, shape({ a: optional(string()), b: optional(string()) }), 'o'), ['o.a is gone']);
});
