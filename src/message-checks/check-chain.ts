// Runs the content checks of a message one after another. The first check that refuses or defers ends the chain, since the message
// is not accepted then. Junk is remembered, and later checks may still refuse. Headers accumulate in the order of the checks. A
// check that fails or is late defers the message or is skipped, as it declares.
import type { Logger } from 'pino';
import { inTime } from '../concurrency/time-bounds.js';
import { encodeWords, field } from '../mail-format/reports/report-text.js';
import type {
  CheckedEnvelope,
  CheckedMessage,
  CheckedPeer,
  ContentCheck,
  RefusingJudgement,
  Verdict,
} from './content-check.js';

export interface AcceptingJudgement {
  readonly verdict: 'accept' | 'junk';
  /** Header fields, each with its line end; '' when there are none. */
  readonly headers: string;
  /** The first check that called the message junk. */
  readonly by: string | undefined;
}

/** The verdict of all checks. */
export type Judgement = AcceptingJudgement | RefusingJudgement;

/** Counts what checks say. */
export interface CheckMeter {
  /** `skipped`, `postponed`: the check failed or was late, and the message was accepted without it, or deferred. */
  judged(check: string, outcome: Verdict['verdict'] | 'skipped' | 'postponed', ms: number): void;
}

const NO_METER: CheckMeter = { judged: () => undefined };

/** RFC 5322 §3.6.8: printable ASCII without the colon. */
const FIELD_NAME = /^[!-9;-~]+$/;
const LATER = 'The message cannot be checked now, try again later';

export class CheckChain {
  readonly #checks: readonly ContentCheck[];
  readonly #log: Logger;
  readonly #meter: CheckMeter;

  constructor(checks: readonly ContentCheck[], log: Logger, meter = NO_METER) {
    this.#checks = checks;
    this.#log = log;
    this.#meter = meter;
  }

  /** Never rejects: a fault of a check is a verdict too. */
  async judge(
    message: Omit<CheckedMessage, 'isDoubtful'>,
    envelope: CheckedEnvelope,
    peer: CheckedPeer,
  ): Promise<Judgement> {
    let junkBy: string | undefined;
    let headers = '';
    let isDoubtful = false;
    for (const check of this.#checks) {
      const verdict = await this.#run(check, { isDoubtful, ...message }, envelope, peer);
      if (verdict === undefined) continue;
      const { name } = check;
      if ('reply' in verdict) return { ...verdict, by: name };
      if (verdict.verdict === 'junk') junkBy ??= name;
      isDoubtful ||= verdict.verdict === 'junk' || verdict.isDoubtful === true;
      for (const { name, value } of verdict.headers ?? []) headers += field(name, encodeWords(value));
    }
    return { verdict: junkBy === undefined ? 'accept' : 'junk', headers, by: junkBy };
  }

  /** Returns undefined when the check is skipped. */
  async #run(
    check: ContentCheck,
    message: CheckedMessage,
    envelope: CheckedEnvelope,
    peer: CheckedPeer,
  ): Promise<Verdict | undefined> {
    const { name, deadlineMs, onFault } = check;
    const late = new AbortController();
    const begunAt = performance.now();
    const count = (outcome: Parameters<CheckMeter['judged']>[1]) =>
      this.#meter.judged(name, outcome, performance.now() - begunAt);
    try {
      const verdict = check.check(message, envelope, peer, late.signal);
      const given = verdict instanceof Promise ? await inTime(verdict, deadlineMs, `the check ${name}`) : verdict;
      const wrong = namesIn(given).find((each) => !FIELD_NAME.test(each));
      if (wrong !== undefined) throw new Error(`not a name of a header field: ${JSON.stringify(wrong)}`);
      count(given.verdict);
      return given;
    } catch (error) {
      late.abort();
      this.#log.warn({ err: error, check: name, onFault }, 'a content check failed');
      count(onFault === 'defer' ? 'postponed' : 'skipped');
      return onFault === 'defer' ? { verdict: 'defer', reply: LATER } : undefined;
    }
  }
}

function namesIn(verdict: Verdict): readonly string[] {
  return 'headers' in verdict && verdict.headers !== undefined ? verdict.headers.map(({ name }) => name) : [];
}
