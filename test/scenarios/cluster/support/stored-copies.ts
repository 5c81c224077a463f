// Reads all messages of the load back by IMAP, and compares them with what its senders were told.
import { setTimeout as delay } from 'node:timers/promises';
import type { TestAccount } from '../../../../dev/node-accounts.js';
import { imapFlow } from '../../../support/clients/imap-programs.js';
import type { TestNode } from '../../../support/node.js';
import type { Attempt, Copy, Mailing } from './mailing.js';
import { isWhole } from './numbered-message.js';

export interface StoredCopy extends Copy {
  readonly id: string;
  readonly source: Buffer;
  readonly isFlagged: boolean;
}

const FOLDERS = ['INBOX', 'Sent', 'Archive'] as const;

export async function* storedCopies(node: TestNode, accounts: readonly TestAccount[]): AsyncGenerator<StoredCopy> {
  for (const account of accounts) {
    const client = imapFlow(node, account, false);
    await client.connect();
    for (const folder of FOLDERS) {
      const { exists } = await client.mailboxOpen(folder, { readOnly: true });
      if (exists === 0) continue;
      for await (const { envelope, source, flags } of client.fetch('1:*', {
        envelope: true,
        source: true,
        flags: true,
      })) {
        const [id, isFlagged] = [envelope?.subject ?? '', flags?.has('\\Flagged') === true];
        yield { email: account.email, folder, id, source: source!, isFlagged };
      }
    }
    await client.logout();
  }
}

export interface Findings {
  readonly lost: string[];
  readonly doubled: string[];
  /** There for an account, or in a folder, that it was not sent to. */
  readonly astray: string[];
  /** Not acknowledged, and there for some of its accounts: its repetition would double it for these. */
  readonly partly: string[];
  /** Another body, the sender of another envelope, or without the flag that APPEND has set. */
  readonly broken: string[];
}

const placeOf = ({ email, folder }: Copy) => `${email} ${folder}`;

/** Messages that the load has not sent are passed over. */
export async function compare(
  mailing: Pick<Mailing, 'tried' | 'accepted'>,
  stored: AsyncIterable<StoredCopy>,
): Promise<Findings> {
  const findings: Findings = { lost: [], doubled: [], astray: [], partly: [], broken: [] };
  const found = new Map<Attempt, Map<string, number>>();
  for await (const copy of stored) {
    const attempt = mailing.tried.get(copy.id);
    if (attempt === undefined) continue;
    const places = found.get(attempt) ?? new Map<string, number>();
    found.set(attempt, places.set(placeOf(copy), (places.get(placeOf(copy)) ?? 0) + 1));
    const what = `${copy.id}: ${placeOf(copy)}`;
    if (!attempt.copies.some((expected) => placeOf(expected) === placeOf(copy))) findings.astray.push(what);
    if (!(await isWhole(attempt, copy.source)) || !hasItsData(attempt, copy)) findings.broken.push(what);
  }
  for (const attempt of mailing.tried.values()) {
    const places = found.get(attempt) ?? new Map<string, number>();
    for (const [place, count] of places) if (count > 1) findings.doubled.push(`${attempt.id}: ${place}`);
    const missing = attempt.copies.map(placeOf).filter((place) => !places.has(place));
    const what = missing.map((place) => `${attempt.id}: ${place}`);
    if (mailing.accepted.has(attempt.id)) findings.lost.push(...what);
    else if (places.size > 0) findings.partly.push(...what);
  }
  return findings;
}

/** In ms, between two comparisons. */
const AGAIN_MS = 500;

/**
 * Compares again for `withinMs` while a message is missing somewhere. The delivery queue brings mail to accounts whose addresses could not be
 * looked up when it was sent, and a node goes on with a message after its sender has stopped waiting: it may commit it while the accounts are
 * read one after the other. What the last comparison found counts, which is never the first when that misses something: one reading may
 * take longer than `withinMs`. `read`: returns all copies each time.
 */
export async function compareSettled(
  mailing: Pick<Mailing, 'tried' | 'accepted'>,
  read: () => AsyncIterable<StoredCopy>,
  withinMs: number,
): Promise<Findings> {
  for (let deadline = Number.POSITIVE_INFINITY; ; await delay(AGAIN_MS)) {
    const findings = await compare(mailing, read());
    if (findings.lost.length + findings.partly.length === 0 || Date.now() > deadline) return findings;
    deadline = Math.min(deadline, Date.now() + withinMs);
  }
}

/** Whether what came with the message is that of the message too. */
function hasItsData({ way, from }: Attempt, { source, isFlagged }: StoredCopy): boolean {
  if (way === 'append') return isFlagged;
  return way !== 'mx' || source.includes(`Return-Path: <${from}>\r\n`);
}
