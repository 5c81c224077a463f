// Actions that answer the sender: `reject` and `ereject` (RFC 5429), `vacation` (RFC 5230).
import { createHash } from 'node:crypto';
import { parseAddress } from '../../address.js';
import { addressList } from '../../mime-index/address-list.js';
import { WordDecoder } from '../../mime-index/header-text.js';
import type { VacationAction } from '../actions.js';
import { Arguments, type Tags } from '../arguments.js';
import type { Run } from '../run.js';
import { type Position, SieveError } from '../syntax.js';
import type { Text } from '../text.js';
import type { Commands, SieveCommand } from './command.js';

const VACATION_TAGS: Tags = {
  days: { value: 'number' },
  subject: { value: 'string' },
  from: { value: 'string' },
  addresses: { value: 'strings' },
  mime: {},
  handle: { value: 'string' },
};

const FEWEST_DAYS = 1;
const MOST_DAYS = 30;

export const REPLY_COMMANDS: Commands = {
  reject: rejecting('reject'),
  ereject: rejecting('ereject'),
  vacation: {
    needs: ['vacation'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, VACATION_TAGS, ['string']);
      const [reason, subject, from, handle] = [
        given.text(0),
        ...['subject', 'from', 'handle'].map((tag) => given.textOf(tag)),
      ];
      const addresses = given.textsOf('addresses') ?? [];
      const days = given.numberOf('days');
      const isMime = given.has('mime');
      if (typeof from === 'string') checkSender(from, given.positionOf('from'));
      return (run) => {
        if (run.actions.some(({ type }) => type === 'vacation')) run.fail('the script answers with vacation twice');
        if (run.actions.some(({ type }) => type === 'reject'))
          run.fail('the message is rejected: vacation cannot follow');
        const text = (given: Text | undefined) => (given === undefined ? undefined : run.text(given));
        const shown = { reason: run.text(reason!), isMime, subject: text(subject), from: text(from) };
        if (shown.from !== undefined) checkSender(shown.from, run.at);
        const own = run.texts(addresses);
        checkOctets(run, [shown.reason, shown.subject ?? '', shown.from ?? '', ...own]);
        run.add({
          type: 'vacation',
          ...shown,
          days: days === undefined ? undefined : Math.min(MOST_DAYS, Math.max(FEWEST_DAYS, days)),
          addresses: own,
          handle: text(handle) ?? handleOf(shown),
        });
        return undefined;
      };
    },
  },
};

function rejecting(command: 'reject' | 'ereject'): SieveCommand {
  return {
    needs: [command],
    compile(call, compilation) {
      const reason = new Arguments(call, compilation, {}, ['string']).text(0);
      return (run) => {
        if (run.actions.length > 0) run.fail(`${command} cannot follow other actions`);
        run.isImplicitKeep = false;
        const told = run.text(reason);
        checkOctets(run, [told]);
        run.add({ type: 'reject', command, reason: told });
        return undefined;
      };
    },
  };
}

/** @throws SieveError */
function checkOctets(run: Run, texts: readonly string[]): void {
  const octets = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (octets > run.bounds.replyOctets)
    run.fail(`what the sender is told has more than ${run.bounds.replyOctets} octets`);
}

/** @throws SieveError */
function checkSender(text: string, at: Position): void {
  const { addresses } = addressList(text.trim(), 2, new WordDecoder());
  if (addresses.length !== 1 || parseAddress(addresses[0]!.address) === undefined) {
    throw new SieveError(at, ':from takes one mail address');
  }
}

/** Vacations without a handle count together when they say the same (RFC 5230 §4.2). */
function handleOf({
  reason,
  isMime,
  subject,
  from,
}: Pick<VacationAction, 'reason' | 'isMime' | 'subject' | 'from'>): string {
  const said = JSON.stringify([reason, isMime, subject ?? null, from ?? null]);
  return createHash('sha256').update(said).digest('base64url');
}
