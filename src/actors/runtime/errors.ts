// Faults of the runtime: the actor could not be reached or could not do its work. Expected outcomes are refusals instead.
import { Fault } from '../../concurrency/fault.js';

export type ActorFaultCode =
  /** No node owns the account right now, or its owner did not answer before the deadline. */
  | 'unreachable'
  /** The actor's command queue is full. */
  | 'overloaded'
  /** The account does not exist (any more). */
  | 'no-such-account'
  /** The store could not be used. */
  | 'store-unavailable'
  /**
   * The owner runs another version: it does not know the operation, or this node does not know its refusal (decision 0082). Or what the request
   * carries is damaged.
   */
  | 'unsupported'
  /** A folder has used up all its UIDs (RFC 9051 §2.3.1.1). */
  | 'no-uid-left'
  /** A bug: the handler threw. */
  | 'failed';

export class ActorFault extends Fault<ActorFaultCode> {
  constructor(code: ActorFaultCode, message: string, cause?: unknown) {
    super(code, message, { temporary: code !== 'no-such-account' && code !== 'failed', cause });
  }
}
