// Tests the end of a connection whose peer reads slowly, or not at all.
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { mock } from 'node:test';
import { drainAndClose } from '../../../src/net/tcp/draining.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';

/** Completes a write only when `takeOne` is called. */
class SlowPeer extends Duplex {
  readonly taken: string[] = [];
  takeOne: () => void = () => {};

  override _read(): void {}

  override _write(octets: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.takeOne = () => {
      this.taken.push(octets.toString());
      done();
    };
  }
}

test.before(() => mock.timers.enable({ apis: ['setTimeout'] }));
test.after.always(() => mock.timers.reset());

test.serial('what waits is sent to a slow peer, who is cut off a second after the last words', async (t) => {
  const peer = new SlowPeer();
  peer.write('a message');
  drainAndClose(peer, 'bye');
  mock.timers.tick(50_000);
  t.false(peer.destroyed);
  const finished = once(peer, 'finish');
  peer.takeOne();
  await turn();
  peer.takeOne();
  await finished;
  t.deepEqual(peer.taken, ['a message', 'bye']);
  mock.timers.tick(999);
  t.false(peer.destroyed);
  mock.timers.tick(1);
  t.true(peer.destroyed);
});

test.serial('a peer that takes nothing is cut off in the end', (t) => {
  const peer = new SlowPeer();
  peer.write('a message');
  drainAndClose(peer, undefined);
  mock.timers.tick(60_000);
  t.true(peer.destroyed);
});
