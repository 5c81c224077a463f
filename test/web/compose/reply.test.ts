// Tests what a reply and a forward take from their original.
import type { Original } from '../../../web/src/compose/reply.js';
import {
  addressedAs,
  forwardSubject,
  replyRecipients,
  replySubject,
  threadHeaders,
} from '../../../web/src/compose/reply.js';
import test from '../../support/test.js';

const box = (address: string, displayName = '') => ({ address, displayName });
const to = (...addresses: readonly string[]) => addresses.map((address) => ({ ...box(address), type: 'To' as const }));
const cc = (...addresses: readonly string[]) => addresses.map((address) => ({ ...box(address), type: 'Cc' as const }));

const ORIGINAL: Original = {
  id: 'e1',
  fromAddress: 'mirjam@koehler.test',
  fromDisplayName: 'Mirjam Köhler 💌',
  subject: 'Contract',
  messageId: '<3@koehler.test>',
  inReplyTo: '<2@a.test>',
  references: '<1@koehler.test> <2@a.test>',
  replyTo: [],
  recipients: [...to('me+zoo@a.test', 'ann@a.test'), ...cc('office@a.test', 'ANN@a.test', 'sales@a.test')],
};
const OWN = ['me@a.test', 'sales@a.test'];

const shown = (of: Partial<Original>, all: boolean, own = OWN) => {
  const { To, Cc, Bcc } = replyRecipients({ ...ORIGINAL, ...of }, own, all);
  return [To, Cc, Bcc].map((list) => list.map(({ address }) => address).join(' '));
};

test('a reply goes to Reply-To or the author, a reply to all also to the others without oneself', (t) => {
  t.deepEqual(shown({}, false), ['mirjam@koehler.test', '', '']);
  t.is(replyRecipients(ORIGINAL, OWN, false).To[0]?.name, 'Mirjam Köhler 💌');
  t.deepEqual(shown({}, true), ['mirjam@koehler.test ann@a.test', 'office@a.test', '']);
  const replyTo = [box('list@koehler.test'), box('not an address')];
  t.deepEqual(shown({ replyTo }, false), ['list@koehler.test', '', '']);
  t.deepEqual(shown({ replyTo }, true), ['list@koehler.test ann@a.test', 'office@a.test', '']);
});

test('an answer to what one has sent goes to its recipients, and one to oneself to oneself', (t) => {
  t.deepEqual(shown({ fromAddress: 'Me@A.test' }, false), ['ann@a.test', '', '']);
  t.deepEqual(shown({ fromAddress: 'me@a.test', recipients: to('me@a.test') }, false), ['me@a.test', '', '']);
  t.deepEqual(shown({ fromAddress: 'me@a.test', recipients: [...to('me@a.test'), ...cc('ann@a.test')] }, true), [
    '',
    'ann@a.test',
    '',
  ]);
  t.deepEqual(shown({ fromAddress: '', recipients: [] }, true), ['', '', '']);
});

test('the answer comes from the address that was written to', (t) => {
  t.is(addressedAs(ORIGINAL, OWN), 'me@a.test');
  t.is(addressedAs({ ...ORIGINAL, recipients: cc('Sales@a.test') }, OWN), 'sales@a.test');
  t.is(addressedAs({ ...ORIGINAL, recipients: [] }, OWN), undefined);
});

test('marks of subjects do not pile up', (t) => {
  for (const [subject, reply, forward] of [
    ['Lunch', 'Re: Lunch', 'Fwd: Lunch'],
    ['RE: re:Re : Lunch', 'Re: Lunch', 'Fwd: RE: re:Re : Lunch'],
    ['AW: Sv: Re[2]: Lunch', 'Re: Lunch', 'Fwd: AW: Sv: Re[2]: Lunch'],
    ['Fwd: FW: WG: Lunch', 'Re: Fwd: FW: WG: Lunch', 'Fwd: Lunch'],
    ['', 'Re:', 'Fwd:'],
  ] as const) {
    t.is(replySubject(subject), reply);
    t.is(forwardSubject(subject), forward);
  }
  t.is(replySubject(`${'x'.repeat(993)}💌`).length, 997);
});

test('a reply names its ancestors, within a line that the server takes', (t) => {
  t.deepEqual(threadHeaders(ORIGINAL), [
    ['In-Reply-To', '<3@koehler.test>'],
    ['References', '<1@koehler.test> <2@a.test> <3@koehler.test>'],
  ]);
  t.deepEqual(threadHeaders({ ...ORIGINAL, references: '', messageId: '3@koehler.test' })[1], [
    'References',
    '<2@a.test> <3@koehler.test>',
  ]);
  t.deepEqual(threadHeaders({ ...ORIGINAL, references: '', inReplyTo: '', messageId: '' }), []);
  const many = Array.from({ length: 100 }, (_, i) => `<${i}-${'x'.repeat(40)}@a.test>`);
  const [, references] = threadHeaders({ ...ORIGINAL, references: many.join(' ') })[1]!;
  const ids = references!.split(' ');
  t.true(references!.length <= 1_900);
  t.is(ids[0], many[0]!);
  t.deepEqual(ids.slice(-2), [many.at(-1)!, '<3@koehler.test>']);
  t.true(ids.length > 25);
});
