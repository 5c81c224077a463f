// Tests commands off the wire: their literals, their limits, and what follows a refused one.

import fc from 'fast-check';
import { type CommandReader, CommandSyntaxError } from '../../../../src/gateways/imap/wire/command-reader.js';
import type { CommandStream } from '../../../../src/gateways/imap/wire/command-source.js';
import { ConnectionEnd } from '../../../../src/net/tcp/connection-end.js';
import { FramingError } from '../../../../src/net/tcp/line-framer.js';
import { runs } from '../../../support/amounts.js';
import test from '../../../support/test.js';
import { MemoryPort } from './memory-port.js';
import { LIMITS, type Login, MAX_MESSAGE, octetsOf, shown, sourceOf, streamOf } from './sources.js';

/** Returns the rest of the arguments: octets up to the end of the command. */
function rest(reader: CommandReader): string {
  const from = reader.position;
  while (!reader.isAtEnd) if (!reader.accept(' ')) reader.astringOctets();
  return reader.textSince(from);
}

async function readAll(port: MemoryPort, login?: Login): Promise<string[]> {
  const source = sourceOf(port, login);
  const found: string[] = [];
  for (;;) {
    const received = await source.next();
    if (received === undefined) return found;
    found.push(shown(received));
    if (received.kind === 'lost') return found;
  }
}

for (const [title, wire, expected, invited] of [
  ['commands on their lines', 'a1 NOOP\r\na2 uid fetch 1 FLAGS\r\n', ['a1 NOOP', 'a2 UID FETCH'], 0],
  ['a line that a bare LF ends', 'a1 NOOP\na2 NOOP\r\n', ['a1 NOOP', 'a2 NOOP'], 0],
  ['a literal that waits to be asked for', 'a1 LOGIN {3}\r\nann {2}\r\npw\r\na2 NOOP\r\n', ['a1 LOGIN', 'a2 NOOP'], 2],
  ['a literal that does not wait', 'a1 LOGIN {3+}\r\nann {2+}\r\npw\r\na2 NOOP\r\n', ['a1 LOGIN', 'a2 NOOP'], 0],
  ['literal8', 'a1 X ~{3}\r\na\0b\r\na2 X ~{1+}\r\n\0\r\na3 NOOP\r\n', ['a1 X', 'a2 X', 'a3 NOOP'], 1],
  ['an empty literal', 'a1 LOGIN {0}\r\n {0+}\r\n\r\na2 NOOP\r\n', ['a1 LOGIN', 'a2 NOOP'], 1],
  ['lines within a literal', 'a1 LOGIN {9+}\r\na9 NOOP\r\n pw\r\na2 NOOP\r\n', ['a1 LOGIN', 'a2 NOOP'], 0],
  ['a line without a tag', '\r\n+ NOOP\r\n"a" NOOP\r\na2 NOOP\r\n', ['* BAD', '* BAD', '* BAD', 'a2 NOOP'], 0],
  [
    'a tag without a command',
    'a1\r\na2 \r\na3 (\r\na4 UID\r\na5 UID (\r\n',
    ['a1 BAD', 'a2 BAD', 'a3 BAD', 'a4 BAD', 'a5 BAD'],
    0,
  ],
  ['a literal that is too big and waits', 'a1 LOGIN {101}\r\na2 NOOP\r\n', ['a1 BAD TOOBIG', 'a2 NOOP'], 0],
  [
    'a literal that is too big and does not wait',
    `a1 LOGIN {101+}\r\n${'x'.repeat(101)} {1+}\r\ny\r\na2 NOOP\r\n`,
    ['a1 BAD TOOBIG', 'a2 NOOP'],
    0,
  ],
  [
    'a literal of absurd size that waits',
    `a1 LOGIN {${'9'.repeat(30)}}\r\na2 NOOP\r\n`,
    ['a1 BAD TOOBIG', 'a2 NOOP'],
    0,
  ],
  ['a literal of absurd size that does not wait', `a1 LOGIN {${'9'.repeat(30)}+}\r\na2 NOOP\r\n`, ['BYE TOOBIG'], 0],
  [
    'a command that is too long in all',
    `a1 X ${`{90+}\r\n${'x'.repeat(90)} `.repeat(4)}{3}\r\na2 NOOP\r\n`,
    ['a1 BAD LIMIT', 'a2 NOOP'],
    0,
  ],
  ['a line that is too long', `a1 X ${'x'.repeat(300)}\r\na2 NOOP\r\n`, ['a1 BAD LIMIT', 'a2 NOOP'], 0],
  ['a mark inside of quotes', 'a1 X "a {3}\r\na2 NOOP\r\n', ['a1 X', 'a2 NOOP'], 0],
  ['a mark behind a quoted string with quotes in it', 'a1 X "\\"" {1}\r\nx\r\na2 NOOP\r\n', ['a1 X', 'a2 NOOP'], 1],
  ['a mark in a word', 'a1 X a{3}\r\na2 NOOP\r\n', ['a1 X', 'a2 NOOP'], 0],
  ['braces that are no mark', 'a1 X {}\r\na2 X {a}\r\na3 X {+}\r\na4 X {1 }\r\n', ['a1 X', 'a2 X', 'a3 X', 'a4 X'], 0],
  ['octets behind a refused line', 'X{3+}\r\nabc\r\na2 NOOP\r\n', ['* BAD', 'a2 NOOP'], 0],
] as const) {
  test(`${title}, cut at every octet`, async (t) => {
    for (let cut = 0; cut <= wire.length; cut++) {
      const port = new MemoryPort([wire.slice(0, cut), wire.slice(cut)]);
      t.deepEqual(await readAll(port), expected, `cut at ${cut}`);
      t.is(port.written, '+ OK\r\n'.repeat(invited), `cut at ${cut}`);
    }
    t.deepEqual(await readAll(new MemoryPort(wire.split(''))), expected, 'octet by octet');
  });
}

test('before the login commands are shorter, and what is passed over is less', async (t) => {
  const short = `a1 X ${'x'.repeat(60)}\r\na2 LOGIN {61+}\r\n${'x'.repeat(61)} y\r\n`;
  t.deepEqual(await readAll(new MemoryPort([short])), ['a1 X', 'a2 LOGIN']);
  const wire = `${short}a3 LOGIN {61}\r\na4 APPEND x\r\na5 X {301+}\r\n${'x'.repeat(301)}`;
  const expected = ['a1 BAD LIMIT', 'a2 BAD TOOBIG', 'a3 BAD TOOBIG', 'a4 APPEND', 'BYE TOOBIG'];
  t.deepEqual(await readAll(new MemoryPort([wire]), { isLoggedIn: false }), expected);
});

test('spaces at the end of a command are dropped, but not those of a literal', async (t) => {
  for (const [wire, arguments_] of [
    ['a1 X A  \r\n', 'A'],
    ['a1 X   \r\n', ''],
    ['a1 X {2+}\r\n    \r\n', '{2+}\r\n  '],
    ['a1 X {3} \r\n', '{3}'],
  ] as const) {
    const received = await sourceOf(new MemoryPort([wire])).next();
    if (received?.kind !== 'command') return t.fail();
    for (const octet of arguments_) received.reader.expect(octet);
    t.true(received.reader.isAtEnd, wire);
  }
  const stream = await streamOf(sourceOf(new MemoryPort(['a1 APPEND x {1+}\r\ny  \r\n'])));
  await stream.text();
  t.is(await octetsOf(stream), 'y');
  t.true((await stream.text()).isAtEnd);
});

test('a line that is longer than the framer takes ends the reading', async (t) => {
  const port = new MemoryPort([`a1 X ${'x'.repeat(100)}\r\n`], 50);
  await t.throwsAsync(async () => sourceOf(port).next(), { instanceOf: FramingError });
});

test('a client that leaves within a command is no command', async (t) => {
  t.deepEqual(await readAll(new MemoryPort(['a1 NOOP'])), []);
  await t.throwsAsync(readAll(new MemoryPort(['a1 LOGIN {3}\r\nab'])), { instanceOf: ConnectionEnd });
  await t.throwsAsync(readAll(new MemoryPort(['a1 LOGIN {3}\r\nabc'])), { instanceOf: ConnectionEnd });
});

test('the reader has the literals in their place', async (t) => {
  const received = await sourceOf(new MemoryPort(['a1 X {3}\r\na\r\n "b" ~{1+}\r\n\0 c\r\n'])).next();
  if (received?.kind !== 'command') return t.fail();
  t.is(received.reader.astring(), 'a\r\n');
  received.reader.space();
  t.is(received.reader.string(), 'b');
  received.reader.space();
  t.deepEqual(received.reader.nstringOctets(), Buffer.from([0]));
  received.reader.space();
  t.is(received.reader.atom(), 'c');
  t.true(received.reader.isAtEnd);
});

/** An argument; before a literal, the client may wait for the server's request. */
const argument = fc.oneof(
  fc.constantFrom('atom', '"quoted"', '"a {3}"', '"\\" {9}"', '""'),
  fc.record({
    octets: fc.string({ unit: fc.constantFrom('a', '\r', '\n', '}', ' ', '\xff'), maxLength: 130 }),
    waits: fc.boolean(),
  }),
);
const command = fc.record({ tag: fc.constantFrom('a', 'b7', 'Z.1'), args: fc.array(argument, { maxLength: 5 }) });

/** Computes what the client sends, by the definition of the limits; it stops where the server refuses a literal it waits for. */
function model({ tag, args }: { tag: string; args: readonly (string | { octets: string; waits: boolean })[] }) {
  let wire = `${tag} X`;
  let refusal: string | undefined;
  for (const arg of args) {
    if (typeof arg === 'string') {
      wire += ` ${arg}`;
      continue;
    }
    const mark = `{${arg.octets.length}${arg.waits ? '' : '+'}}`;
    const before = wire.length + 1 + mark.length;
    if (before > LIMITS.commandOctets) refusal ??= 'LIMIT';
    if (arg.octets.length > LIMITS.literalOctets) refusal ??= 'TOOBIG';
    if (before + arg.octets.length > LIMITS.commandOctets) refusal ??= 'LIMIT';
    wire += ` ${mark}\r\n`;
    if (refusal !== undefined && arg.waits) return { wire, expected: `${tag} BAD ${refusal}` };
    wire += arg.octets;
  }
  if (wire.length > LIMITS.commandOctets) refusal ??= 'LIMIT';
  return { wire: `${wire}\r\n`, expected: refusal === undefined ? `${tag} X` : `${tag} BAD ${refusal}` };
}

/** Random places at which the octets are cut. */
const cuts = fc.array(fc.nat(2_000), { maxLength: 8 });

function inPieces(wire: string, at: readonly number[]): string[] {
  const sorted = [0, ...at.filter((cut) => cut < wire.length).sort((a, b) => a - b), wire.length];
  return sorted.slice(1).map((end, i) => wire.slice(sorted[i], end));
}

test('sequences of commands are read or refused as the definition has it, wherever they are cut', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 6 }), cuts, async (commands, at) => {
      const modelled = commands.map(model);
      const wire = modelled.map((each) => each.wire).join('');
      const expected = modelled.map((each) => each.expected);
      t.deepEqual(await readAll(new MemoryPort(inPieces(wire, at))), expected);
    }),
    { numRuns: runs(500) },
  );
});

const PROBE = 'probe NOOP\r\n';
/** These commands are longer than any damage can swallow. */
const PROBES = PROBE.repeat(400);

test('after any damage the next commands are read, or the connection is given up', async (t) => {
  const piece = fc.constantFrom(
    'a1 ', 'APPEND ', 'REPLACE 1 ', 'UID ', 'LOGIN ', 'x ', '{3}\r\n', '{3+}\r\n', '~{3}\r\n', '~{2+}\r\n', '{400}\r\n', '{99+}\r\n',
    '{9999+}\r\n', 'abc', '(', ')', 'URL ', 'CATENATE ', '"', '\\', '\0', '\r', '\n', '\r\n', '{', '}', '+', '\xff', 'TEXT ',
  ); // biome-ignore format: a list of pieces
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 25 }), cuts, fc.array(fc.boolean()), async (pieces, at, wanted) => {
      const port = new MemoryPort(inPieces(`${pieces.join('')}\r\n${PROBES}`, at));
      const source = sourceOf(port);
      let last = '';
      for (let i = 0; ; i++) {
        const received = await source.next();
        if (received === undefined) break;
        last = shown(received);
        if (received.kind === 'lost') break;
        if (received.kind === 'stream' && wanted[i % wanted.length] === true) await useStream(received.stream);
        if (received.kind === 'command' && received.name !== 'NOOP') attempt(received.reader);
      }
      t.true(last === 'probe NOOP' || last === 'BYE TOOBIG', last);
    }),
    { numRuns: runs(1_000) },
  );
});

async function useStream(stream: CommandStream): Promise<void> {
  try {
    for (;;) {
      attempt(await stream.text());
      if (stream.next === undefined) return;
      if (stream.next.size > MAX_MESSAGE) return;
      await octetsOf(stream);
    }
  } catch (error) {
    if (!(error instanceof CommandSyntaxError) && (error as Error).name !== 'Refused') throw error;
  }
}

function attempt(reader: CommandReader): void {
  try {
    rest(reader);
  } catch (error) {
    if (!(error instanceof CommandSyntaxError)) throw error;
  }
}
