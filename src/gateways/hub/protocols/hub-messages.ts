// The messages of the SignalR hub protocol in any encoding: their numbers and fields.
// https://github.com/dotnet/aspnetcore/blob/main/src/SignalR/docs/specs/HubProtocol.md

export const INVOCATION = 1;
export const STREAM_ITEM = 2;
export const COMPLETION = 3;
export const STREAM_INVOCATION = 4;
export const CANCEL_INVOCATION = 5;
export const PING = 6;
export const CLOSE = 7;
export const ACK = 8;
export const SEQUENCE = 9;

export type Headers = Readonly<Record<string, string>>;

export interface Invocation {
  readonly type: typeof INVOCATION;
  readonly headers?: Headers;
  /** Absent when the sender wants no answer. */
  readonly invocationId?: string;
  readonly target: string;
  readonly arguments: readonly unknown[];
  readonly streamIds?: readonly string[];
}

interface StreamItem {
  readonly type: typeof STREAM_ITEM;
  readonly headers?: Headers;
  readonly invocationId: string;
  readonly item: unknown;
}

/** Has a result or an error; for methods without a result, neither. */
export interface CallCompletion {
  readonly type: typeof COMPLETION;
  readonly headers?: Headers;
  readonly invocationId: string;
  readonly result?: unknown;
  readonly error?: string;
}

interface StreamInvocation {
  readonly type: typeof STREAM_INVOCATION;
  readonly headers?: Headers;
  readonly invocationId: string;
  readonly target: string;
  readonly arguments: readonly unknown[];
  readonly streamIds?: readonly string[];
}

interface CancelInvocation {
  readonly type: typeof CANCEL_INVOCATION;
  readonly headers?: Headers;
  readonly invocationId: string;
}

interface Ping {
  readonly type: typeof PING;
}

interface Close {
  readonly type: typeof CLOSE;
  /** Absent when the connection closes without a fault. */
  readonly error?: string;
  /** Whether a client with automatic reconnect may connect again. */
  readonly allowReconnect?: boolean;
}

/** A message of stateful reconnect, which is not negotiated: it is parsed and ignored. */
interface Ack {
  readonly type: typeof ACK;
  readonly sequenceId: number;
}

interface Sequence {
  readonly type: typeof SEQUENCE;
  readonly sequenceId: number;
}

export type HubMessage =
  | Invocation
  | StreamItem
  | CallCompletion
  | StreamInvocation
  | CancelInvocation
  | Ping
  | Close
  | Ack
  | Sequence;

/** An event for a client: its name, and the payload as the only argument. */
export function eventMessage(target: string, payload: unknown): Invocation {
  return { type: INVOCATION, target, arguments: [payload] };
}
