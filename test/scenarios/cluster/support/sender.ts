// One sender of the load: it sends messages of all sizes to the nodes in turn, by one way, and repeats a message until it is acknowledged.
import type { TestAccount } from '../../../../dev/node-accounts.js';
import type { Channel } from './channel.js';
import type { Target } from './load.js';
import { Goodbye, type Mailing, Refused } from './mailing.js';
import { bodyOf, messageOf, octetsOf } from './numbered-message.js';
import { WAYS, type WayName } from './ways.js';

export interface Work {
  readonly targets: () => readonly Target[];
  readonly accounts: readonly TestAccount[];
  readonly pauseMs: () => number;
  readonly answerMs: number;
  readonly patienceMs: number;
  readonly perConnection: number;
  readonly stopping: () => boolean;
}

const RETRY_MS = 50;

/** A channel to a target for an account. */
interface Open {
  readonly channel: Channel;
  readonly target: string;
  readonly account: TestAccount;
  sent: number;
}

export async function sender(number: number, way: WayName, work: Work, mailing: Mailing): Promise<void> {
  let turn = number;
  let open: Open | undefined;
  const next = async (): Promise<Open> => {
    const targets = work.targets();
    const target = targets[turn % targets.length]!;
    const account = work.accounts[turn++ % work.accounts.length]!;
    const options = { node: target.name, answerMs: work.answerMs };
    try {
      const channel = await WAYS[way].open(WAYS[way].at(target)!, options, account);
      return { channel, target: target.name, account, sent: 0 };
    } catch (error) {
      throw error instanceof Refused || error instanceof Goodbye ? error : new Error(`${way} ${target.name}: ${error}`);
    }
  };
  for (let message = 1; !work.stopping(); message++) {
    const began = performance.now();
    // A sender completes a started message, as an MTA does; the end of the load is the limit.
    for (let attempt = 1; !work.stopping(); attempt++) {
      try {
        if (open !== undefined && open.sent >= (WAYS[way].isKept ? work.perConnection : 1)) {
          open.channel.close();
          open = undefined;
        }
        open ??= await next();
        open.sent++;
        await send(open, { number, way, message, attempt }, work, mailing);
        mailing.slowestMs = Math.max(mailing.slowestMs, performance.now() - began);
        break;
      } catch (error) {
        const isRefused = error instanceof Refused && error.isForGood;
        note(mailing, error, open && `${way} ${open.target}`);
        open?.channel.close();
        open = undefined;
        if (isRefused) break;
        await pause(RETRY_MS);
      }
    }
    await pause(work.pauseMs());
  }
  open?.channel.close();
}

interface Numbered {
  readonly number: number;
  readonly way: WayName;
  readonly message: number;
  readonly attempt: number;
}

async function send(
  { channel, target: at, account }: Open,
  { number, way, message, attempt }: Numbered,
  { accounts }: Work,
  mailing: Mailing,
): Promise<void> {
  const numbered = {
    id: `${way} ${number} message ${message} attempt ${attempt}`,
    octets: octetsOf(number, message),
  };
  const to = recipients(accounts, number + message);
  const from = way === 'mx' ? `load+${number}.${message}.${attempt}@remote.test` : account.email;
  const tried = { ...numbered, way, at, from, copies: WAYS[way].copies(account, to) };
  mailing.tried.set(numbered.id, tried);
  mailing.underWay.add(numbered.id);
  try {
    await channel.send({ id: numbered.id, from, to, body: bodyOf(numbered), text: messageOf(numbered, from, to) });
    mailing.accepted.set(numbered.id, tried);
  } finally {
    mailing.underWay.delete(numbered.id);
  }
}

/** `at`: the way and the target of an open channel. */
function note(mailing: Mailing, error: unknown, at: string | undefined): void {
  if (error instanceof Goodbye) mailing.goodbyes++;
  else if (error instanceof Refused) (error.isForGood ? mailing.refused : mailing.temporary).push(error.refusal);
  else if (at === undefined) mailing.unreachable.push(String(error));
  else mailing.interrupted.push(`${at}: ${error} ${(error as Error).cause ?? ''}`);
}

/** Returns one account, three for every third message, and all of them for every fifth. Neighbours are on different nodes, mostly. */
function recipients(accounts: readonly TestAccount[], number: number): readonly string[] {
  const count = number % 5 === 0 ? accounts.length : number % 3 === 0 ? Math.min(3, accounts.length) : 1;
  return Array.from({ length: count }, (_, i) => accounts[(number + i) % accounts.length]!.email);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
