// Tests the comparison on which the tests of clusters rest: it names each way in which what is stored may differ from what was answered.
import test from '../../../support/test.js';
import { type Attempt, Mailing } from './mailing.js';
import { isWhole, messageOf, octetsOf } from './numbered-message.js';
import { compare, compareSettled, type StoredCopy } from './stored-copies.js';

const [A, B] = ['a@example.test', 'b@example.test'] as const;

function attempt(id: string, ...emails: readonly string[]): Attempt {
  const copies = emails.map((email) => ({ email, folder: 'INBOX' as const }));
  return { id, octets: 2_000, way: 'mx', at: 'node-1', from: `${id}@remote.test`, copies };
}

const copyOf = (of: Attempt, email: string, changed: Partial<StoredCopy> = {}): StoredCopy => ({
  id: of.id,
  email,
  folder: 'INBOX',
  source: Buffer.from(`Return-Path: <${of.from}>\r\n${messageOf(of, of.from, [email])}`),
  isFlagged: false,
  ...changed,
});

async function findings(accepted: readonly Attempt[], open: readonly Attempt[], stored: readonly StoredCopy[]) {
  const mailing = new Mailing();
  for (const each of [...accepted, ...open]) mailing.tried.set(each.id, each);
  for (const each of accepted) mailing.accepted.set(each.id, each);
  const found = await compare(
    mailing,
    (async function* () {
      yield* stored;
    })(),
  );
  return Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0));
}

test('what is stored as it was answered has no finding', async (t) => {
  const [taken, lostAnswer, neverArrived] = [attempt('one', A, B), attempt('two', A), attempt('three', B)];
  const stored = [copyOf(taken, A), copyOf(taken, B), copyOf(lostAnswer, A)];
  t.deepEqual(await findings([taken], [lostAnswer, neverArrived], stored), {});
  t.deepEqual(await findings([], [], [copyOf(attempt('of somebody else'), A)]), {});
});

test('a message that is lost, doubled, astray, there in part, or broken is named', async (t) => {
  const [taken, open] = [attempt('taken', A, B), attempt('open', A, B)];
  const both = [copyOf(taken, A), copyOf(taken, B)];
  t.deepEqual(await findings([taken], [], [copyOf(taken, A)]), { lost: [`taken: ${B} INBOX`] });
  t.deepEqual(await findings([taken], [], [...both, copyOf(taken, A)]), { doubled: [`taken: ${A} INBOX`] });
  t.deepEqual(await findings([], [open], [copyOf(open, A), copyOf(open, A), copyOf(open, B)]), {
    doubled: [`open: ${A} INBOX`],
  });
  const inSent = copyOf(taken, A, { folder: 'Sent' });
  t.deepEqual(await findings([taken], [], [...both, inSent]), { astray: [`taken: ${A} Sent`] });
  t.deepEqual(await findings([], [open], [copyOf(open, B)]), { partly: [`open: ${A} INBOX`] });
  const cut = copyOf(taken, B, { source: copyOf(taken, B).source.subarray(0, -200) });
  t.deepEqual(await findings([taken], [], [copyOf(taken, A), cut]), { broken: [`taken: ${B} INBOX`] });
  const envelope = copyOf(taken, B, { source: Buffer.from(messageOf(taken, taken.from, [B])) });
  t.deepEqual(await findings([taken], [], [copyOf(taken, A), envelope]), { broken: [`taken: ${B} INBOX`] });
  const appended: Attempt = { ...attempt('appended', A), way: 'append' };
  t.deepEqual(await findings([appended], [], [copyOf(appended, A)]), { broken: [`appended: ${A} INBOX`] });
  t.deepEqual(await findings([appended], [], [copyOf(appended, A, { isFlagged: true })]), {});
  const foreign = copyOf(taken, B, { source: copyOf(open, B).source });
  t.deepEqual(await findings([taken], [], [copyOf(taken, A), foreign]), { broken: [`taken: ${B} INBOX`] });
});

test('a message that is placed during the comparison is there for all; one that stays missing is named', async (t) => {
  const message = attempt('message', A, B);
  const [part, whole] = [[copyOf(message, B)], [copyOf(message, A), copyOf(message, B)]];
  for (const kind of ['lost', 'partly'] as const) {
    const mailing = new Mailing();
    mailing.tried.set(message.id, message);
    if (kind === 'lost') mailing.accepted.set(message.id, message);
    let readings = 0;
    const found = async (copies: () => readonly StoredCopy[], withinMs: number) => {
      readings = 0;
      const read = async function* () {
        readings++;
        yield* copies();
      };
      return (await compareSettled(mailing, read, withinMs))[kind];
    };
    t.deepEqual(await found(() => (readings === 1 ? part : whole), 60_000), []);
    t.is(readings, 2);
    t.deepEqual(await found(() => part, 1), [`message: ${A} INBOX`]);
    t.deepEqual(await found(() => whole, 60_000), []);
    t.is(readings, 1);
  }
});

test('a message is whole in any transfer encoding, and not without its last line', async (t) => {
  const message = { id: 'rest 1', octets: 400 };
  const [, body] = messageOf(message, A, [B]).split('\r\n\r\n');
  const encoded = (text: string) =>
    Buffer.from(
      `Subject: rest 1\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(text).toString('base64')}\r\n`,
    );
  t.true(await isWhole(message, encoded(body!)));
  t.false(await isWhole(message, encoded(body!.replace(/[^\n]+\r\n$/, ''))));
});

test('the sizes of a sender lie below, around and above the bound of messages that travel with a command', (t) => {
  for (const sender of [0, 1, 2]) {
    const sizes = Array.from({ length: 400 }, (_, i) => octetsOf(sender, i));
    const around = sizes.filter((size) => Math.abs(size - 262_144) < 3_001);
    t.true(Math.min(...sizes) <= 1_000 && Math.max(...sizes) >= 300_000);
    t.true(around.some((size) => size < 261_000) && around.some((size) => size > 262_500));
  }
});
