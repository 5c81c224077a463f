// Methods of the hub: what clients may call, in one table. A method gets the connection that calls and the call, and answers
// now or later; after the connection has closed, answers are dropped. What a method keeps for a connection is a part of the
// connection, and ends with it.
import type { HubProtocol } from './hub-protocol.js';
import { positionMessage } from './positioned-frames.js';
import type { Resumption } from './resumption.js';

export interface HubCall {
  readonly args: readonly unknown[];
  /** The first answer or refusal counts. */
  answer(result: unknown): void;
  /** The client gets the text as the error of its call. */
  refuse(error: string): void;
}

/** What follows a connection as long as it is open. */
export interface ConnectionPart {
  /** The client took some of what was waiting for it. */
  drained(): void;
  /** Called every few seconds. */
  visit(): void;
  /** The connection closes: nothing that is delivered from now on is sent. */
  end(): void;
}

/** The connection, as methods see it. */
export interface Caller {
  readonly id: string;
  /** Empty for a client without an account. */
  readonly accountId: string;
  readonly protocol: HubProtocol;
  /** Of a client that asked to resume. */
  readonly resumption: Resumption | undefined;
  /** Sends a frame of whole messages in the connection's protocol; connections may share the octets. */
  deliver(frame: Uint8Array): void;
  /** Octets that wait for the client. */
  bufferedBytes(): number;
  /** The part is notified until the connection closes; at once of the end when it has closed. */
  add(part: ConnectionPart): void;
}

/** What is thrown, or rejects the promise, is logged and refuses the call. */
export type HubMethod = (caller: Caller, call: HubCall) => void | Promise<void>;

/** By names. */
export type HubMethods = ReadonlyMap<string, HubMethod>;

export const RESUME_METHODS: HubMethods = new Map([['Resume', resume]]);

function resume(caller: Caller, call: HubCall): void {
  const { resumption, protocol } = caller;
  if (resumption === undefined) {
    call.refuse("'Resume' needs a connection whose URL has 'resume=true' in its query.");
    return;
  }
  const error = resumption.start(call.args, (resumed) => {
    // Sent before the answer, so that clients can take all cursors from this event.
    caller.deliver(protocol.encode(positionMessage(resumed.cursor)));
    call.answer(resumed);
  });
  if (error !== undefined) call.refuse(error);
}
