// Tests how commands are read from the octets of a connection: any values come back, wherever the octets are split, and what is refused does
// not hide the next command.
import fc from 'fast-check';
import { type ReceivedSieveCommand, SieveCommandSource } from '../../../src/gateways/sieve/command-source.js';
import { LineFramer } from '../../../src/net/tcp/line-framer.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const COMMAND_OCTETS = 300;
const SKIPPED_OCTETS = 1_000;

/** Reads everything that these pieces have; the connection then ends. */
async function received(pieces: readonly Buffer[], memory = Number.POSITIVE_INFINITY): Promise<ReceivedSieveCommand[]> {
  const framer = new LineFramer({ maxLine: 2_000, bareLf: 'ends-line' });
  const left = [...pieces];
  const pull = () => {
    const piece = left.shift();
    if (piece !== undefined) framer.push(piece);
    return piece !== undefined;
  };
  const source = new SieveCommandSource(
    {
      readLine() {
        for (;;) {
          const line = framer.readLine();
          if (line !== undefined || !pull()) return line;
        }
      },
      async *readOctets(length) {
        for (let rest = length; rest > 0; ) {
          const octets = framer.readOctets(rest);
          if (octets !== undefined) {
            rest -= octets.length;
            yield octets;
          } else if (!pull()) throw new Error('the octets have ended');
        }
      },
    },
    { commandOctets: () => COMMAND_OCTETS, skippedOctets: SKIPPED_OCTETS, hold: (octets) => octets <= memory },
  );
  const all: ReceivedSieveCommand[] = [];
  for (;;) {
    const command = await source.next();
    if (command === undefined) return all;
    all.push(command);
    if (command.kind === 'lost') return all;
  }
}

const whole = (text: string, memory?: number) => received([Buffer.from(text)], memory);

/** Shows each command in one line. */
const shown = (commands: readonly ReceivedSieveCommand[]) =>
  commands.map((command) => {
    if (command.kind === 'lost') return 'lost';
    if (command.kind === 'refused') return `${command.name || '-'} ${command.reason}`;
    return [
      command.name,
      ...command.args.map(({ kind, text }) => (kind === 'number' ? text : JSON.stringify(text))),
    ].join(' ');
  });

const value = fc.oneof(
  fc.record({ kind: fc.constant('string' as const), text: fc.string({ unit: 'binary', maxLength: 20 }) }),
  fc.record({ kind: fc.constant('number' as const), text: fc.nat(2 ** 31 - 1).map(String) }),
);
const command = fc.record({
  name: fc.constantFrom('NOOP', 'PutScript', 'setactive'),
  args: fc.array(fc.record({ value, isLiteral: fc.boolean() }), { maxLength: 3 }),
});
type Drawn = typeof command extends fc.Arbitrary<infer T> ? T : never;

function octetsOf({ name, args }: Drawn): string {
  const values = args.map(({ value: { kind, text }, isLiteral }) => {
    if (kind === 'number') return text;
    if (isLiteral || /[\0\r\n]/.test(text)) return `{${Buffer.byteLength(text)}+}\r\n${text}`;
    return `"${text.replace(/["\\]/g, '\\$&')}"`;
  });
  return `${[name, ...values].join(' ')}\r\n`;
}

test('commands come back as they were written, however their octets are split', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 5 }), fc.infiniteStream(fc.nat(8)), async (drawn, lengths) => {
      const octets = Buffer.from(drawn.map(octetsOf).join(''));
      const pieces: Buffer[] = [];
      for (let at = 0; at < octets.length; ) {
        const end = at + 1 + lengths.next().value!;
        pieces.push(octets.subarray(at, end));
        at = end;
      }
      const expected = drawn.map(({ name, args }) => ({
        kind: 'command',
        name: name.toUpperCase(),
        args: args.map((arg) => arg.value),
      }));
      t.deepEqual(await received(pieces), expected as ReceivedSieveCommand[]);
    }),
    { numRuns: runs(200, 2_000) },
  );
});

test('any octets are read to the same commands, however they are split', async (t) => {
  const token = fc.constantFrom(
    ...[
      'NOOP',
      ' ',
      '"',
      '\\',
      '"a"',
      '{2+}',
      '{2}',
      '{900+}',
      '{2000+}',
      '\r\n',
      '\n',
      'ab',
      '7',
      '\u00ff',
      'x'.repeat(300),
    ],
  );
  const split = async (text: string, size: number) => {
    const octets = Buffer.from(text, 'latin1');
    const pieces = Array.from({ length: Math.ceil(octets.length / size) }, (_, i) =>
      octets.subarray(i * size, (i + 1) * size),
    );
    return received(pieces).catch((error: Error) => error.message);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(token, { maxLength: 30 }), fc.integer({ min: 1, max: 20 }), async (tokens, size) => {
      const text = tokens.join('');
      t.deepEqual(await split(text, size), await split(text, Math.max(1, text.length)));
    }),
    { numRuns: runs(300, 3_000) },
  );
});

test('strings are quoted or literals, with escapes, and spaces are passed over', async (t) => {
  const text = 'a\r\nPutScript  "x \\"y\\\\" {3+}\r\nkep \r\nHAVESPACE "" 12\r\nLISTSCRIPTS  \r\nNOOP {0+}\r\n\r\n';
  t.deepEqual(shown(await whole(text)), [
    'A',
    'PUTSCRIPT "x \\"y\\\\" "kep"',
    'HAVESPACE "" 12',
    'LISTSCRIPTS',
    'NOOP ""',
  ]);
  t.deepEqual(shown(await whole('NOOP {6+}\r\nä\r\nü\r\n')), ['NOOP "ä\\r\\nü"']);
});

test('what is refused is passed over, with its literals', async (t) => {
  for (const [bad, reason] of [
    ['', '- malformed'],
    [' NOOP', '- malformed'],
    ['NOOP "a', 'NOOP malformed'],
    ['NOOP a', 'NOOP malformed'],
    ['NOOP "a""b"', 'NOOP malformed'],
    ['NOOP "\\a"', 'NOOP malformed'],
    ['NOOP 12345678901', 'NOOP malformed'],
    ['NOOP {3+} x', 'NOOP malformed'],
    ['NOOP "a {4+}\r\nNOOP', 'NOOP malformed'],
    ['?? {4+}\r\nNOOP {4+}\r\nNOOP', '- malformed'],
    ['NOOP {3+}\r\nabc"x"', 'NOOP malformed'],
    [`NOOP {400+}\r\n${'NOOP\r\n'.repeat(66)}NOOP "x"`, 'NOOP too-large'],
    [`NOOP {200+}\r\n${'x'.repeat(200)} {200+}\r\n${'x'.repeat(200)}`, 'NOOP too-large'],
    [`NOOP${' 1'.repeat(20)}`, 'NOOP malformed'],
  ] as const) {
    t.deepEqual(shown(await whole(`${bad}\r\nLOGOUT\r\n`)), [reason, 'LOGOUT'], bad);
  }
  const notUtf8 = Buffer.concat([Buffer.from('NOOP "'), Buffer.of(0xff), Buffer.from('"\r\nNOOP {1+}\r\n')]);
  t.deepEqual(shown(await received([notUtf8, Buffer.of(0x80, 13, 10)])), ['NOOP malformed', 'NOOP malformed']);
  t.deepEqual(shown(await whole(`NOOP {40+}\r\n${'x'.repeat(40)}\r\nNOOP\r\n`, 20)), ['NOOP no-memory', 'NOOP']);
});

test('a literal that the server would have to ask for, or that is too long to pass over, ends the connection', async (t) => {
  t.deepEqual(shown(await whole('NOOP {3}\r\nNOOP\r\n')), ['lost']);
  t.deepEqual(shown(await whole('NOOP {1001+}\r\nNOOP\r\n')), ['lost']);
  t.deepEqual(shown(await whole('NOOP "a {9999999999+}\r\nNOOP\r\n')), ['lost']);
});
