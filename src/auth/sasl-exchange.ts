// An exchange of SASL from the client's command to its end, over lines of base64: for protocols whose commands wait for lines. How a
// challenge looks and what each end is called is the protocol's business, what mechanisms ask is that of sasl.
import { beginExchange, decodeBase64, type Failure, failureChallenge, mechanismOf, type Shown } from './sasl.js';

/** Ends in which nothing was shown. */
export type EmptyExchange = 'notOffered' | 'malformed' | 'cancelled';

interface Judged {
  /** What mechanisms with tokens say of the failure first; absent when the credential is not what failed. */
  readonly failure?: Failure;
}

export interface ExchangeOptions<J extends Judged> {
  /** Of the mechanism. */
  readonly name: string;
  /** The response that came with the command; undefined when none did. */
  readonly initial: string | undefined;
  /** Sends the challenge, which is base64, and waits for the client's line. */
  readonly ask: (challenge: string) => Promise<string>;
  readonly judge: (shown: Shown) => Promise<J>;
}

const EMPTY = Buffer.alloc(0);

export async function exchange<J extends Judged>(options: ExchangeOptions<J>): Promise<J | EmptyExchange> {
  const { name, initial, judge } = options;
  const mechanism = mechanismOf(name);
  if (mechanism === undefined) return 'notOffered';
  // RFC 4959 §3, RFC 5034 §4: `=` is an initial response that is empty.
  const first = initial === undefined ? undefined : initial === '=' ? EMPTY : decodeBase64(initial);
  if (initial !== undefined && first === undefined) return 'malformed';
  const ask = (challenge: string) => options.ask(Buffer.from(challenge).toString('base64'));
  let step = beginExchange(mechanism, first);
  while (step.kind === 'challenge') {
    const line = await ask(step.text);
    // RFC 9051 §6.2.2, RFC 5034 §4.
    if (line === '*') return 'cancelled';
    const response = decodeBase64(line);
    if (response === undefined) return 'malformed';
    step = step.next(response);
  }
  if (step.kind === 'malformed') return 'malformed';
  const judged = await judge(step.shown);
  const reason = judged.failure === undefined ? undefined : failureChallenge(mechanism, judged.failure);
  // The client's response to it has no meaning (RFC 7628 §3.2.3).
  if (reason !== undefined) await ask(reason);
  return judged;
}
