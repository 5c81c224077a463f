// Executes the calls of clients: finds the method, and sends its first answer or refusal as the completion that the client waits for. A
// client that wants no answer gets none.
import type { Logger } from 'pino';
import type { Caller, HubCall, HubMethods } from './methods.js';
import { type CallCompletion, COMPLETION, type HubMessage, STREAM_INVOCATION } from './protocols/hub-messages.js';

type Called = Extract<HubMessage, { readonly target: string }>;

/** Refusals repeat at most this many characters of a name that the client chose. */
const SHOWN_LENGTH = 80;
const FAILED = 'The call could not be carried out.';

/** `complete` may be called later. */
export function carryOut(
  methods: HubMethods,
  caller: Caller,
  called: Called,
  complete: (completion: CallCompletion) => void,
  log: Logger,
): void {
  const { type, target, invocationId, arguments: args } = called;
  let isComplete = invocationId === undefined;
  const finish = (outcome: Pick<CallCompletion, 'result' | 'error'>): void => {
    if (isComplete || invocationId === undefined) return;
    isComplete = true;
    complete({ type: COMPLETION, invocationId, ...outcome });
  };
  const call: HubCall = { args, answer: (result) => finish({ result }), refuse: (error) => finish({ error }) };
  const failed = (err: unknown): void => {
    log.error({ err, connectionId: caller.id, accountId: caller.accountId, method: target }, 'hub method failed');
    call.refuse(FAILED);
  };
  const method = type === STREAM_INVOCATION ? undefined : methods.get(target);
  if (method === undefined) {
    const names = [...methods.keys()].map((name) => `'${name}'`).join(', ');
    call.refuse(`Unknown hub method '${target.slice(0, SHOWN_LENGTH)}': this hub has none to call but ${names}.`);
    return;
  }
  try {
    method(caller, call)?.catch(failed);
  } catch (err) {
    failed(err);
  }
}
