// What the result of rspamd's `/checkv2` means: one table from its actions to verdicts, and the fields that tell the verdict to users.
import type { Verdict } from '../content-check.js';

interface Result {
  readonly action: string;
  readonly score: number;
  readonly required: number;
  /** The names of the rules that matched and count, those that count most first. */
  readonly rules: readonly string[];
  readonly smtpMessage: string | undefined;
}

/**
 * `greylist` accepts: it only says that the score is doubtful. Where rspamd itself greylists, it says `soft reject` for as long as the peer
 * has to wait, and a deferral for every doubtful score would never end.
 */
const MEANINGS: Readonly<Record<string, 'accept' | 'junk' | 'defer' | 'refuse'>> = {
  'no action': 'accept',
  greylist: 'accept',
  'add header': 'junk',
  'rewrite subject': 'junk',
  quarantine: 'junk',
  'soft reject': 'defer',
  reject: 'refuse',
  discard: 'refuse',
};

const MOST_RULES = 20;
const REFUSED = 'The message is spam or harmful';
const LATER = 'Try again later';

/** @throws Error for a text that is no result */
export function verdictOf(text: string): Verdict {
  const result = readResult(text);
  const meaning = MEANINGS[result.action] ?? 'accept';
  // RFC 5321 §4.2.3: 554 is the reply to a transaction that failed, here by the contents of the message.
  if (meaning === 'refuse') return { verdict: 'refuse', reply: result.smtpMessage ?? REFUSED, code: 554 };
  if (meaning === 'defer') return { verdict: 'defer', reply: result.smtpMessage ?? LATER };
  return { verdict: meaning, headers: fieldsOf(result, meaning === 'junk') };
}

function fieldsOf({ score, required, rules }: Result, isJunk: boolean) {
  const tests = rules.length === 0 ? 'none' : rules.join(',');
  const status = `${isJunk ? 'Yes' : 'No'}, score=${score.toFixed(2)} required=${required.toFixed(2)} tests=${tests}`;
  return [
    { name: 'X-Spam-Status', value: status },
    { name: 'X-Spam-Score', value: score.toFixed(2) },
  ];
}

function readResult(text: string): Result {
  const { action, score, required_score: required, symbols, messages } = JSON.parse(text) as Record<string, unknown>;
  if (typeof action !== 'string' || !isNumber(score)) throw new Error('the answer of rspamd is no result of a check');
  return {
    action,
    score,
    required: isNumber(required) ? required : 0,
    rules: rulesIn(symbols),
    smtpMessage: memberOf(messages, 'smtp_message'),
  };
}

function rulesIn(symbols: unknown): readonly string[] {
  if (typeof symbols !== 'object' || symbols === null) return [];
  return Object.entries(symbols as Record<string, { readonly score?: unknown } | null>)
    .map(([name, symbol]) => ({ name, weight: isNumber(symbol?.score) ? Math.abs(symbol.score) : 0 }))
    .filter(({ name, weight }) => weight > 0 && /^\w{1,64}$/.test(name))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_RULES)
    .map(({ name }) => name);
}

function memberOf(messages: unknown, name: string): string | undefined {
  const message = typeof messages === 'object' && messages !== null ? (messages as Record<string, unknown>)[name] : '';
  return typeof message === 'string' && message !== '' ? message : undefined;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
