// Tests how messages that are sent on are written: octet by octet, with new fields of any length before them, and few at a time in memory.

import { indexMessage } from '../../../src/mail-format/mime-index/indexer.js';
import { SenderRewriting } from '../../../src/mail-format/srs.js';
import { forwardWriter } from '../../../src/node/engine/forward-writer.js';
import type { DueMail } from '../../../src/store/mailbox-rows.js';
import test from '../../support/test.js';
import { turns } from '../../support/turns.js';

const HOST = 'mx.example.test';
const FIELDS = `Return-Path: <ann@far.test>\r\nAuthentication-Results: ${HOST}; spf=pass\r\n`;
const REST = 'From: ann@far.test\r\nSubject: s\r\n\r\nhello\r\n';

function writer(stored: Buffer, seal = 'ARC-Seal: x\r\n') {
  const index = { ...indexMessage(stored) };
  const read = { count: 0 };
  const write = forwardWriter({
    blobs: {
      index: async () => index,
      async *stream() {
        read.count++;
        for (let at = 0; at < stored.length; at += 100_000) yield stored.subarray(at, at + 100_000);
      },
    },
    directory: {
      hosts: async (domain) => domain === 'example.test',
      mayForwardTo: async (_, a) => ['to@else.test', 'from@else.test', 'colleague@example.test'].includes(a),
      isAddressOf: async (_, a) => ['to@else.test', 'from@else.test', 'own@example.test'].includes(a),
    },
    addressOf: async () => 'me@example.test',
    rewriting: new SenderRewriting('secret'),
    seal: async (message) => {
      read.count += Number(!message.toString('latin1', 0, 13).startsWith('Delivered-To:')) * 1000;
      return seal;
    },
    hostname: HOST,
    now: () => 0,
  });
  return { write, read };
}

const due = (further?: DueMail['further'], target = 'to@else.test'): DueMail => ({
  ...{ id: 'd', kind: 'forward', blob: 'b', receivedAt: 0, sender: 'ann@far.test', recipient: 'me@example.test' },
  ...{ targets: [target], copy: null, isChecked: true, isQueued: false, further },
});

for (const length of [10, 200_000])
  test(`the message stays as it is behind ${length} octets of new fields`, async (t) => {
    const seal = `ARC-Seal: ${'x'.repeat(length)}\r\n`;
    const body = FIELDS.slice(FIELDS.indexOf('\n') + 1) + REST + 'x'.repeat(300_000);
    const { write } = writer(Buffer.from(`Return-Path: <ann@far.test>\r\n${body}`), seal);
    const written = await write('a', due());
    t.true('message' in written);
    if (!('message' in written)) return;
    t.is(Buffer.from(written.message).toString(), `${seal}Delivered-To: me@example.test\r\n${body}`);
    t.is(written.arrived, undefined);
    t.is(written.reportTo, 'ann@far.test');
  });

test('large messages of two accounts are not in memory at the same time', async (t) => {
  const { write, read } = writer(Buffer.from(FIELDS + REST + 'x'.repeat(30 * 1024 * 1024)));
  const first = await write('one', due());
  const second = write('two', due());
  await turns(20);
  t.is(read.count, 1, 'the second one waits');
  if ('message' in first) first.release?.();
  const other = await second;
  t.is(read.count, 2);
  if ('message' in other) other.release?.();
});

test('mail of which the account has no email comes with the summary of what arrived', async (t) => {
  const { write } = writer(Buffer.from(FIELDS + REST));
  const written = await write('a', due({ isOnward: true, isPlaced: false }));
  t.is('message' in written && written.arrived?.subject, 's');
});

const passed = (address: string) => Buffer.from(`${FIELDS}Delivered-To: ${address}\r\n${REST}`);

test('a message that was at an address elsewhere is sent on, unless that is the target', async (t) => {
  const written = await writer(passed('from@else.test')).write('a', due());
  t.deepEqual('to' in written && written.to, ['to@else.test']);
  t.like(await writer(passed('to@else.test')).write('a', due()), { skip: 'no target is left' });
});

test('an account that the operator allows as a target gets the message, unless it has had it', async (t) => {
  const target = 'colleague@example.test';
  const written = await writer(Buffer.from(FIELDS + REST)).write('a', due(undefined, target));
  t.deepEqual('to' in written && written.to, [target]);
  t.is('sender' in written && written.sender, 'ann@far.test', 'the sender stays: nobody checks SPF');
  t.like(await writer(passed('from@else.test')).write('a', due(undefined, 'stranger@example.test')), {
    skip: 'no target is left',
  });
  t.like(await writer(passed('Colleague@example.test')).write('a', due(undefined, target)), {
    skip: 'no target is left',
  });
});

test('a message that was at an address of the account here is not sent on again', async (t) => {
  for (const address of ['me@example.test', 'own@example.test'])
    t.like(await writer(passed(address)).write('a', due()), { skip: 'the message has passed this account' });
});
