// Tests the progress on a terminal, in a log, and for a program that reads the result.
import { Writable } from 'node:stream';
import { progressTo } from '../../src/cli/progress.js';
import test from '../support/test.js';

function output(isTTY: boolean) {
  let written = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += chunk;
      done();
    },
  }) as Writable & { isTTY?: boolean; columns?: number };
  stream.isTTY = isTTY;
  stream.columns = 60;
  return { stream: stream as unknown as NodeJS.WriteStream, written: () => written };
}

/** Shows progress until enough time has passed for something to be written. */
async function showing(show: () => void, written: () => string): Promise<void> {
  while (written() === '') {
    show();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a terminal has one bar, which lines of their own push on', async (t) => {
  const { stream, written } = output(true);
  const progress = progressTo(stream, false);
  await showing(() => progress.show(1, 2, 'text'), written);
  t.is(written(), `[${'#'.repeat(15)}${'-'.repeat(15)}]  50 %  text`);
  progress.line('a line');
  progress.end();
  t.is(written(), `[${'#'.repeat(15)}${'-'.repeat(15)}]  50 %  text\r\u{1b}[Ka line\n`);
});

test('a bar is as wide as the terminal at most', async (t) => {
  const { stream, written } = output(true);
  const progress = progressTo(stream, true);
  await showing(() => progress.show(7, 0, 'x'.repeat(100)), written);
  t.is(written().length, 59);
  t.regex(written(), /^\[#{30}\] 100 % {2}x+$/);
});

test('elsewhere lines are written, but for a program none', async (t) => {
  const { stream, written } = output(false);
  const quiet = output(false);
  const [loud, silent] = [progressTo(stream, false), progressTo(quiet.stream, true)];
  await showing(() => {
    loud.show(1, 3, 'text');
    silent.show(1, 3, 'text');
  }, written);
  t.is(written(), ' 33 %  text\n');
  t.is(quiet.written(), '');
  silent.line('a problem');
  t.is(quiet.written(), 'a problem\n');
});
