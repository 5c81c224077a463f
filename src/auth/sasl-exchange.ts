// Runs a SASL exchange from the client's command to its end, over lines of base64, for protocols whose commands wait for lines. The
// protocol defines how a challenge looks and what each result is called; `sasl` defines what mechanisms ask.
import {
  beginExchange,
  decodeBase64,
  type Failure,
  failureChallenge,
  mechanismOf,
  type PresentedCredential,
} from './sasl.js';

/** Results without a credential. */
export type EmptyExchange = 'notOffered' | 'malformed' | 'cancelled';

export interface Judged {
  /** The failure that token mechanisms report first; absent when the credential is not the cause. */
  readonly failure?: Failure | undefined;
}

export interface ExchangeOptions<J extends Judged> {
  /** The name of the mechanism. */
  readonly name: string;
  /** The response in the command; undefined when there is none. */
  readonly initial: string | undefined;
  /** Sends the challenge, which is base64, and waits for the client's line. */
  readonly ask: (challenge: string) => Promise<string>;
  readonly judge: (presented: PresentedCredential) => Promise<J>;
  /** Whether the response to the report of a failure may cancel the exchange (RFC 4954 §4). */
  readonly cancelsAfterFailure: boolean;
}

const EMPTY = Buffer.alloc(0);

export async function exchange<J extends Judged>(options: ExchangeOptions<J>): Promise<J | EmptyExchange> {
  const { name, initial, judge, cancelsAfterFailure } = options;
  const mechanism = mechanismOf(name);
  if (mechanism === undefined) return 'notOffered';
  // RFC 4959 §3, RFC 5034 §4: `=` is an empty initial response.
  const first = initial === undefined ? undefined : initial === '=' ? EMPTY : decodeBase64(initial);
  if (initial !== undefined && first === undefined) return 'malformed';
  const ask = async (challenge: string) => responseIn(await options.ask(Buffer.from(challenge).toString('base64')));
  let step = beginExchange(mechanism, first);
  while (step.kind === 'challenge') {
    const response = await ask(step.text);
    if (typeof response === 'string') return response;
    step = step.next(response);
  }
  if (step.kind === 'malformed') return 'malformed';
  const judged = await judge(step.presented);
  const reason = judged.failure === undefined ? undefined : failureChallenge(mechanism, judged.failure);
  if (reason === undefined) return judged;
  // What the client responds has no meaning (RFC 7628 §3.2.3), but in SMTP it may cancel.
  const response = await ask(reason);
  return cancelsAfterFailure && typeof response === 'string' ? response : judged;
}

/** RFC 9051 §6.2.2, RFC 5034 §4, RFC 4954 §4. */
function responseIn(line: string): Buffer | 'cancelled' | 'malformed' {
  return line === '*' ? 'cancelled' : (decodeBase64(line) ?? 'malformed');
}
