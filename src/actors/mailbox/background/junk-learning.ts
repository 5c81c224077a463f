// Learns from the moves of users to and from Junk (decision 0106): the commit of a move has noted the lesson, so a node that ends loses none,
// and the lesson ends in the transaction that learns it. Where rspamd learns, each message goes to it before its lesson ends: it refuses a
// message that it knows, so a repetition counts once.
import type { Logger } from 'pino';
import { type WorkAttempt, WorkQueue } from '../../../concurrency/work-queue.js';
import { learnMessage } from '../../../mail-format/junk/junk-verdict.js';
import { JunkWords } from '../../../mail-format/junk/junk-words.js';
import type { BlobStore } from '../../../store/blobs.js';
import type {
  DueLesson,
  JunkLessonStore,
  KeptEmail,
  LearntWords,
  NewLesson,
} from '../../../store/feedback/junk-lessons.js';
import { storedTokens } from '../junk/junk-reads.js';
import type { KnownWords } from '../junk/known-words.js';
import type { JunkLearningNotes } from '../junk/mailbox-junk.js';
import { startLooks } from './account-looks.js';

/** Accounts that are processed at a time. */
const AT_ONCE = 2;
/** The most accounts that are remembered; the next look finds further ones. */
const MOST_WAITING = 50_000;
/** Lessons of an account before the others get a turn. */
const IN_A_ROW = 20;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5 * 60_000;
/** Failures of an account after which rspamd does not get its messages. */
const MOST_FAILURES = 10;

type LessonOutcome = 'learnt' | 'known' | 'gone' | 'failed';

/** Teaches a server that learns for all accounts. */
export interface Teacher {
  /** @throws when the server does not answer, or refuses to learn */
  teach(blob: string, isJunk: boolean, signal: AbortSignal): Promise<'learnt' | 'known'>;
}

export interface JunkLearningOptions {
  readonly store: Pick<JunkLessonStore, 'accountsDue' | 'due' | 'kept' | 'learn' | 'end'>;
  readonly blobs: Pick<BlobStore, 'index' | 'read'>;
  /** Who learns: the accounts' own words, or a server. */
  readonly learner: { readonly words: Pick<KnownWords, 'put'> } | { readonly teacher: Teacher };
  readonly owned: () => readonly number[];
  readonly meter: { taught(isJunk: boolean, outcome: LessonOutcome): void };
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly lookMs: number;
  readonly retryMs?: number;
}

export interface JunkLearning extends JunkLearningNotes {
  stop(): Promise<void>;
}

export function startJunkLearning(options: JunkLearningOptions): JunkLearning {
  const { store, learner, owned, lookMs, log, retryMs = RETRY_MS } = options;

  /** Resolves with 0 when the account has further lessons, which wait behind other accounts. */
  async function work(accountId: string, { failures, signal }: WorkAttempt): Promise<number | undefined> {
    const due = await store.due(accountId, IN_A_ROW);
    if (due.length === 0) return undefined;
    if ('words' in learner) await learnWords(options, learner.words, accountId, due);
    else await teachServer(options, learner.teacher, accountId, due, failures + 1 >= MOST_FAILURES, signal);
    return due.length < IN_A_ROW ? undefined : 0;
  }

  const queue = new WorkQueue({
    work,
    failed: (accountId, err) => log.warn({ accountId, err }, 'lessons of the junk filter wait'),
    workers: AT_ONCE,
    most: MOST_WAITING,
    backoff: { firstMs: retryMs, longestMs: LONGEST_RETRY_MS },
  });
  const find = async (limit: number) => {
    const shards = owned();
    return shards.length === 0 ? [] : store.accountsDue(shards, limit);
  };
  const failed = 'lessons of the junk filter could not be looked for';
  const looks = startLooks({ find, intervalMs: lookMs, failed }, queue, log);
  return {
    note: (accountId) => void queue.add(accountId),
    async stop() {
      await Promise.all([looks.stop(), queue.stop()]);
    },
  };
}

async function learnWords(
  { store, blobs, meter, log }: JunkLearningOptions,
  known: Pick<KnownWords, 'put'>,
  accountId: string,
  due: readonly DueLesson[],
): Promise<void> {
  // Users move junk to Junk, and hardly anything out of it: what they have read and kept are the examples of other mail.
  const kept: readonly KeptEmail[] = due.some(({ isJunk }) => isJunk) ? await store.kept(accountId, 2 * IN_A_ROW) : [];
  const tokens = new Map<string, Uint32Array>();
  for (const { blob } of [...due, ...kept]) {
    const read = blob === null || tokens.has(blob) ? undefined : await storedTokens(blobs, blob);
    if (read !== undefined) tokens.set(blob!, read);
  }
  let learnt: LearntWords | undefined;
  let counted: readonly NewLesson[] = [];
  await store.learn(accountId, due, kept, (stored, lessons) => {
    const examples = new Set(kept.map(({ blob }) => blob));
    const words = stored === undefined ? new JunkWords() : JunkWords.from(stored);
    counted = lessons.filter((lesson) => learnOne(words, tokens, lesson, examples.has(lesson.blob)));
    learnt = counted.length === 0 ? undefined : { words: words.stored(), taught: counted };
    return learnt;
  });
  if (learnt !== undefined) known.put(accountId, learnt.words);
  for (const { isJunk } of counted) meter.taught(isJunk, 'learnt');
  for (const { isJunk, blob } of due) if (blob === null || !tokens.has(blob)) meter.taught(isJunk, 'gone');
  log.info({ accountId, lessons: counted.length }, 'the junk filter has learnt');
}

/** Returns whether the words have changed. An example is learnt while there are fewer of them than junk. */
function learnOne(
  words: JunkWords,
  tokens: ReadonlyMap<string, Uint32Array>,
  { blob, isJunk, before }: NewLesson,
  isExample: boolean,
): boolean {
  const read = tokens.get(blob);
  if (read === undefined || (isExample && words.ham >= words.junk)) return false;
  if (before !== undefined) words.unlearn(read, before);
  learnMessage(read, isJunk, words);
  return true;
}

async function teachServer(
  { store, meter, log }: JunkLearningOptions,
  teacher: Teacher,
  accountId: string,
  due: readonly DueLesson[],
  isLastTry: boolean,
  signal: AbortSignal,
): Promise<void> {
  for (const lesson of due) {
    if (signal.aborted) return;
    const { blob, isJunk, emailId } = lesson;
    let outcome: LessonOutcome = 'gone';
    try {
      if (blob !== null) outcome = await teacher.teach(blob, isJunk, signal);
    } catch (err) {
      if (!isLastTry || signal.aborted) throw err;
      outcome = 'failed';
      log.warn({ accountId, emailId, err }, 'rspamd does not learn a message: it is given up');
    }
    await store.end(accountId, [lesson]);
    meter.taught(isJunk, outcome);
  }
}
