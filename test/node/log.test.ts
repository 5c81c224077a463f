import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { temporaryDirectory } from '../../dev/temporary-directory.js';
import { inert, openLog } from '../../src/node/log.js';
import test from '../support/test.js';

function written(pretty: boolean, write: (log: Logger, print: (line: string) => void) => void): string {
  const path = join(temporaryDirectory('mansio-log-'), 'out');
  const fd = openSync(path, 'w');
  const { log, print } = openLog({ level: 'info', fd, pretty, sync: true });
  write(log, print);
  closeSync(fd);
  return readFileSync(path, 'utf8');
}

test('JSON lines, and printed lines as they are', (t) => {
  const text = written(false, (log, print) => {
    log.info({ from: 'a@b.c' }, 'one');
    print('{"event":"ready"}');
    log.debug('not shown');
  });
  const lines = text.trimEnd().split('\n');
  t.is(lines.length, 2);
  t.like(JSON.parse(lines[0]!), { level: 'info', from: 'a@b.c', msg: 'one' });
  t.is(lines[1], '{"event":"ready"}');
});

test('credentials stay out, and the record of the caller as it was', (t) => {
  const record = { apiKey: 'SECRET', headers: { authorization: 'Bearer SECRET', host: 'h' }, password: 'SECRET' };
  for (const pretty of [false, true]) {
    const text = written(pretty, (log) => log.info(record, 'request'));
    t.false(text.includes('SECRET'));
    t.true(text.includes('host'));
  }
  t.is(record.headers.authorization, 'Bearer SECRET');
});

test('nothing a peer says acts on a terminal', (t) => {
  const hostile = '\u001b]0;pwned\u0007\u001b[2J\r\u0008\u009b31m\u202eabc\u007f';
  const error = new Error(hostile, { cause: new Error(hostile) });
  const text = written(true, (log) =>
    log.error({ err: error, from: hostile, [hostile]: 1, in: { x: hostile } }, hostile),
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  t.notRegex(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  t.true(text.includes('\\u001b[2J'));
});

test('making a line inert keeps it JSON', (t) => {
  for (const value of ['\\u001b', '\\', '\\\u001b', 'a\nb', '"\\"', '\u0000\\b', 'plain']) {
    t.notThrows(() => JSON.parse(inert(JSON.stringify({ value }))), value);
  }
  t.is(JSON.parse(inert(JSON.stringify({ v: 'a\nb\\' }))).v, 'a\nb\\');
});
