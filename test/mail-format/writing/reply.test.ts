// Tests the fields of replies and forwards that come from the original.

import fc from 'fast-check';
import type { IndexedAddress, IndexedEnvelope } from '../../../src/mail-format/message-index.js';
import {
  forwardSubject,
  ownAddressOf,
  replyAddressees,
  replySubject,
  threadFields,
} from '../../../src/mail-format/writing/reply.js';
import test from '../../support/test.js';

const box = (address: string, name = ''): IndexedAddress => ({ name, address });
const boxes = (...addresses: readonly string[]) => addresses.map((address) => box(address));

const EMPTY: IndexedEnvelope = {
  date: null,
  sentAt: null,
  subject: '',
  from: [],
  sender: [],
  replyTo: [],
  to: [],
  cc: [],
  bcc: [],
  messageId: null,
  inReplyTo: null,
  references: [],
};

const OWN = new Set(['me@a.test', 'sales@a.test']);

test('marks do not pile up, whatever program wrote them', (t) => {
  for (const [subject, reply, forward] of [
    ['Lunch', 'Re: Lunch', 'Fwd: Lunch'],
    ['Re: Lunch', 'Re: Lunch', 'Fwd: Re: Lunch'],
    ['RE: re:Re : Lunch', 'Re: Lunch', 'Fwd: RE: re:Re : Lunch'],
    ['AW: Sv: Antw: Lunch', 'Re: Lunch', 'Fwd: AW: Sv: Antw: Lunch'],
    ['Re[2]: Re (3): Lunch', 'Re: Lunch', 'Fwd: Re[2]: Re (3): Lunch'],
    ['Fwd: FW: WG: Lunch', 'Re: Fwd: FW: WG: Lunch', 'Fwd: Lunch'],
    ['Re: Fwd: Lunch', 'Re: Fwd: Lunch', 'Fwd: Re: Fwd: Lunch'],
    ['Regarding: lunch', 'Re: Regarding: lunch', 'Fwd: Regarding: lunch'],
    ['Forward', 'Re: Forward', 'Fwd: Forward'],
    ['  ', 'Re:', 'Fwd:'],
  ] as const) {
    t.is(replySubject(subject), reply);
    t.is(forwardSubject(subject), forward);
  }
  t.is(replySubject('x'.repeat(5000)).length, 998);
  t.is(replySubject(`${'x'.repeat(993)}\u{1f600}`), `Re: ${'x'.repeat(993)}`);
});

test('a subject made of marks takes no time', (t) => {
  const subject = 're '.repeat(20_000);
  t.is(replySubject(subject).length, 998);
  t.is(replySubject('Re:'.repeat(20_000)), 'Re:');
});

test('a reply goes to Reply-To, else From, and to all without the own addresses, each once', (t) => {
  const envelope: IndexedEnvelope = {
    ...EMPTY,
    from: [box('bob@b.test', 'Bob')],
    to: boxes('ME+shop@a.test', 'carol@c.test', 'bob@B.test', 'no address', ''),
    cc: [box('dan@d.test'), box('Carol@c.test'), box('sales@a.test')],
  };
  t.deepEqual(replyAddressees(envelope, OWN, false), [{ ...box('bob@b.test', 'Bob'), type: 'To' }]);
  t.deepEqual(replyAddressees(envelope, OWN, true), [
    { ...box('bob@b.test', 'Bob'), type: 'To' },
    { ...box('carol@c.test'), type: 'To' },
    { ...box('dan@d.test'), type: 'Cc' },
  ]);
  const list = { ...envelope, replyTo: boxes('list@l.test', 'me@a.test') };
  t.deepEqual(replyAddressees(list, OWN, false), [{ ...box('list@l.test'), type: 'To' }]);
  t.deepEqual(
    replyAddressees(list, OWN, true).map(({ address }) => address),
    ['list@l.test', 'carol@c.test', 'bob@B.test', 'dan@d.test'],
  );
  t.deepEqual(replyAddressees({ ...envelope, replyTo: boxes('broken') }, OWN, false)[0]?.address, 'bob@b.test');
  // Sender is not an author: DMARC ignores it.
  t.deepEqual(replyAddressees({ ...EMPTY, sender: boxes('s@s.test') }, OWN, false), []);
  t.deepEqual(replyAddressees(EMPTY, OWN, true), []);
});

test('what the account itself sent is replied to its recipients, a note to oneself to oneself', (t) => {
  const sent: IndexedEnvelope = {
    ...EMPTY,
    from: boxes('Me@a.test'),
    replyTo: boxes('me@a.test'),
    to: boxes('bob@b.test', 'sales@a.test'),
    cc: boxes('carol@c.test', 'me@a.test'),
  };
  const addresses = (envelope: IndexedEnvelope, all: boolean) =>
    replyAddressees(envelope, OWN, all).map(({ type, address }) => `${type} ${address}`);
  t.deepEqual(addresses(sent, false), ['To bob@b.test']);
  t.deepEqual(addresses(sent, true), ['To bob@b.test', 'Cc carol@c.test']);
  t.deepEqual(addresses({ ...sent, to: boxes('me@a.test'), cc: [] }, false), ['To me@a.test']);
  t.deepEqual(addresses({ ...sent, to: boxes('me@a.test'), cc: [] }, true), ['To me@a.test']);
  t.deepEqual(addresses({ ...sent, to: boxes('me@a.test') }, true), ['Cc carol@c.test']);
  t.deepEqual(addresses({ ...sent, to: [], cc: [] }, true), ['To me@a.test']);
});

test('a reply is sent from the own address that the original names', (t) => {
  const of = (envelope: Partial<IndexedEnvelope>, deliveredTo: readonly string[] = []) =>
    ownAddressOf({ envelope: { ...EMPTY, from: boxes('bob@b.test'), ...envelope }, deliveredTo }, OWN);
  t.is(of({ to: boxes('x@x.test', 'Sales+tag@A.test'), cc: boxes('me@a.test') }), 'sales@a.test');
  t.is(of({ cc: boxes('me@a.test') }), 'me@a.test');
  t.is(of({}, ['other@a.test', 'sales@a.test']), 'sales@a.test');
  t.is(of({ from: boxes('sales@a.test'), to: boxes('me@a.test') }), 'sales@a.test');
  t.is(of({ to: boxes('x@x.test') }), undefined);
});

test('a reply refers to its parent and what that refers to', (t) => {
  const of = (envelope: Partial<IndexedEnvelope>) => threadFields({ ...EMPTY, ...envelope });
  t.deepEqual(of({ messageId: '<c@x>', references: ['<a@x>', '<b@x>'], inReplyTo: '<b@x>' }), {
    inReplyTo: '<c@x>',
    references: ['<a@x>', '<b@x>', '<c@x>'],
  });
  t.deepEqual(of({ messageId: '<c@x>', inReplyTo: '<b@x>' }).references, ['<b@x>', '<c@x>']);
  t.deepEqual(of({ messageId: '<c@x>', references: ['<c@x>'] }).references, ['<c@x>']);
  t.deepEqual(of({ references: ['<a@x>'] }), { inReplyTo: null, references: ['<a@x>'] });
  t.deepEqual(of({}), { inReplyTo: null, references: [] });
  t.deepEqual(of({ messageId: '<ü@x>', references: ['<a@x>', `<${'y'.repeat(990)}>`] }), {
    inReplyTo: null,
    references: ['<a@x>'],
  });
});

test('references are bounded, and keep the start of the thread and the nearest', (t) => {
  const id = fc.nat(1_000_000).map((n) => `<${n}@${'h'.repeat(n % 700)}>`);
  fc.assert(
    fc.property(fc.uniqueArray(id, { maxLength: 120 }), id, (references, messageId) => {
      const all = [...new Set([...references, messageId])];
      const { references: kept } = threadFields({ ...EMPTY, references, messageId });
      const lastFits = `${all[0]}${all.at(-1)}`.length < 8192;
      t.true(kept.length <= 50 && kept.join(' ').length <= 8 * 1024);
      t.is(kept[0], all[0]);
      if (lastFits) t.is(kept.at(-1), all.at(-1));
      t.deepEqual(kept.slice(1), all.slice(1).slice(all.length - kept.length));
    }),
  );
});
