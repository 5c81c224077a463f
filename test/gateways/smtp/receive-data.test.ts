// Tests only the loop, over a stream that is no connection; the tests of the listeners cover both sinks.
import { PassThrough } from 'node:stream';
import { DataDecoder } from '../../../src/gateways/smtp/data-decoder.js';
import type { MessageStream } from '../../../src/gateways/smtp/data-parser.js';
import { type DataSink, receiveData } from '../../../src/gateways/smtp/receive-data.js';
import test from '../../support/test.js';
import { turn } from '../../support/turns.js';

class Sink implements DataSink {
  readonly happened: string[] = [];
  onWrite: (chunk: Buffer) => Promise<void> | undefined = () => undefined;

  begin(): undefined {
    this.happened.push('begin');
  }

  write(chunk: Buffer): Promise<void> | undefined {
    this.happened.push(chunk.toString());
    return this.onWrite(chunk);
  }

  end(): void {
    this.happened.push('end');
  }

  discard(): void {
    this.happened.push('discard');
  }
}

function open() {
  const stream = Object.assign(new PassThrough(), { decoder: new DataDecoder() }) as unknown as PassThrough &
    MessageStream;
  return { stream, sink: new Sink() };
}

test('what the sink asks to wait for holds the stream back', async (t) => {
  const { stream, sink } = open();
  let go = () => {};
  sink.onWrite = () =>
    new Promise((resolve) => {
      go = resolve;
    });
  const received = receiveData(stream, 100, sink);
  stream.write('one');
  stream.write('two');
  await turn();
  t.deepEqual(sink.happened, ['begin', 'one']);
  sink.onWrite = () => undefined;
  go();
  stream.end();
  await received;
  t.deepEqual(sink.happened, ['begin', 'one', 'two', 'end']);
});

test('a message that is refused is read to its end, and the sink sees no more of it', async (t) => {
  for (const isLate of [false, true]) {
    const { stream, sink } = open();
    const failure = new Error('full');
    sink.onWrite = () => {
      if (isLate) return Promise.reject(failure);
      throw failure;
    };
    const received = receiveData(stream, 100, sink);
    for (const piece of ['one', 'two', 'three']) stream.write(piece);
    stream.end();
    t.is(await t.throwsAsync(received), failure);
    t.deepEqual(sink.happened, ['begin', 'one', 'discard']);
    t.true(stream.readableEnded);
  }
});

test('a message that is too large, malformed or cut off is discarded', async (t) => {
  const large = open();
  const tooLarge = receiveData(large.stream, 5, large.sink);
  large.stream.write('12345');
  large.stream.end('6');
  await t.throwsAsync(tooLarge, { message: 'tooLarge' });
  t.deepEqual(large.sink.happened, ['begin', '12345', 'discard']);

  const bare = open();
  const malformed = receiveData(bare.stream, 100, bare.sink);
  bare.stream.write('one');
  await turn();
  bare.stream.decoder.malformed = true;
  bare.stream.end();
  await t.throwsAsync(malformed, { message: 'bareLineEnding' });
  t.deepEqual(bare.sink.happened, ['begin', 'one', 'discard']);

  const gone = open();
  const cutOff = receiveData(gone.stream, 100, gone.sink);
  gone.stream.write('one');
  await turn();
  gone.stream.destroy();
  await t.throwsAsync(cutOff, { message: 'connectionLost' });
  t.deepEqual(gone.sink.happened, ['begin', 'one', 'discard']);
});
