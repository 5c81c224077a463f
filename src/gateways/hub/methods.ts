// The methods of the hub that clients may call, in one table. A method gets the calling connection and the call, and answers now or later;
// answers after the close are dropped. The state of a method for a connection is a part of the connection, and ends with it.

import { positionMessage } from './cursor-frames.js';
import type { HubProtocol } from './protocols/hub-protocol.js';
import type { Resumption } from './resumption.js';

export interface HubCall {
  readonly args: readonly unknown[];
  /** Answers the call; only the first answer or refusal counts. */
  answer(result: unknown): void;
  /** Refuses the call; the client gets the text as its error. */
  refuse(error: string): void;
}

/** An object that exists as long as the connection is open. */
export interface ConnectionPart {
  /** Called when the client has received some of the waiting data. */
  drained(): void;
  /** Called every few seconds. */
  visit(): void;
  /** Called when the connection closes: nothing that is delivered from now on is sent. */
  end(): void;
}

/** A connection as methods see it. */
export interface Caller {
  readonly id: string;
  /** Empty for a client without an account. */
  readonly accountId: string;
  readonly protocol: HubProtocol;
  /** Defined for a client that asked to resume. */
  readonly resumption: Resumption | undefined;
  /** Sends a frame of whole messages in the connection's protocol; connections may share the octets. */
  deliver(frame: Uint8Array): void;
  /** The number of octets that wait for the client. */
  bufferedBytes(): number;
  /** Adds a part, which is notified until the connection closes; if it has closed, the part ends at once. */
  add(part: ConnectionPart): void;
}

/** An error that it throws, or with which its promise rejects, is logged and refuses the call. */
export type HubMethod = (caller: Caller, call: HubCall) => void | Promise<void>;

/** The methods by their names. */
export type HubMethods = ReadonlyMap<string, HubMethod>;

export const RESUME_METHODS: HubMethods = new Map([['Resume', resume]]);

function resume(caller: Caller, call: HubCall): void {
  const { resumption, protocol } = caller;
  if (resumption === undefined) {
    call.refuse("'Resume' needs a connection whose URL has 'resume=true' in its query.");
    return;
  }
  const error = resumption.start(call.args, (resumed) => {
    // The event is sent before the answer, so that clients can take all cursors from this event.
    caller.deliver(protocol.encode(positionMessage(resumed.cursor)));
    call.answer(resumed);
  });
  if (error !== undefined) call.refuse(error);
}
