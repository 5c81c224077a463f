// What the result of rspamd's `/checkv2` means: one table from its actions to verdicts, its antivirus symbols, and the fields that tell the
// verdict to users.
import type { ContentCheck, Verdict } from '../content-check.js';

interface Result {
  readonly action: string;
  readonly score: number;
  readonly required: number;
  /** The names of the rules that matched and count, those that count most first. */
  readonly rules: readonly string[];
  readonly smtpMessage: string | undefined;
  /** The names of viruses; [] for one without a name. */
  readonly viruses: readonly string[] | undefined;
  /** An antivirus program gave no answer. */
  readonly isUnscanned: boolean;
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

/**
 * The symbols of rspamd's antivirus module under its usual names: `CLAM_VIRUS`, or the name of the section. Without `action` in its
 * configuration, the module gives them no score, and rspamd's action says nothing about a virus.
 */
const VIRUS = /^(?:CLAM|CLAMAV|FPROT|SOPHOS|SAVAPI|AVAST|KASPERSKY)(?:_VIRUS)?$/;
const UNSCANNED = /^(?:CLAM|CLAMAV|FPROT|SOPHOS|SAVAPI|AVAST|KASPERSKY)(?:_VIRUS)?_FAIL$/;

const MOST_RULES = 20;
const MOST_VIRUSES = 5;
const REFUSED = 'The message is spam or harmful';
const LATER = 'Try again later';

/**
 * `onFault`: what becomes of a message that no antivirus program has scanned because none answers. @throws Error for a text that is no
 * result, and for a message that may not pass unscanned
 */
export function verdictOf(text: string, onFault: ContentCheck['onFault'] = 'skip'): Verdict {
  const result = readResult(text);
  if (result.viruses !== undefined)
    return { verdict: 'refuse', reply: ['The message contains a virus', ...result.viruses].join(': '), code: 554 };
  if (result.isUnscanned && onFault === 'defer') throw new Error('the antivirus program of rspamd gives no answer');
  const meaning = MEANINGS[result.action] ?? 'accept';
  // RFC 5321 §4.2.3: 554 is the reply to a transaction that failed, here by the contents of the message.
  if (meaning === 'refuse') return { verdict: 'refuse', reply: result.smtpMessage ?? REFUSED, code: 554 };
  if (meaning === 'defer') return { verdict: 'defer', reply: result.smtpMessage ?? LATER };
  const headers = fieldsOf(result, meaning === 'junk');
  return { verdict: meaning, headers, ...(result.action === 'greylist' && { isDoubtful: true }) };
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
    viruses: virusesIn(symbols),
    isUnscanned: symbolsIn(symbols).some(([name]) => UNSCANNED.test(name)),
  };
}

type Symbols = readonly (readonly [name: string, symbol: Readonly<Record<string, unknown>> | null])[];

function symbolsIn(symbols: unknown): Symbols {
  return typeof symbols === 'object' && symbols !== null ? Object.entries(symbols) : [];
}

/** The options of the symbols are the names that the antivirus program gives. */
function virusesIn(symbols: unknown): readonly string[] | undefined {
  const found = symbolsIn(symbols).filter(([name]) => VIRUS.test(name));
  if (found.length === 0) return undefined;
  const names = found.flatMap(([, symbol]) => (Array.isArray(symbol?.['options']) ? symbol['options'] : []));
  return names.filter((name): name is string => typeof name === 'string').slice(0, MOST_VIRUSES);
}

function rulesIn(symbols: unknown): readonly string[] {
  return symbolsIn(symbols)
    .map(([name, symbol]) => ({ name, score: symbol?.['score'] }))
    .map(({ name, score }) => ({ name, weight: isNumber(score) ? Math.abs(score) : 0 }))
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
