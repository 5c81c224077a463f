// Expected reasons why a node or a command cannot start. The message is written for the operator and says what to do, so the
// program shows the message without a stack.
import { Fault } from './fault.js';

export type StartFaultCode =
  | 'wrong-configuration'
  | 'data-unusable'
  | 'tls-unusable'
  | 'port-unusable'
  | 'server-library-missing'
  | 'database-unsafe'
  | 'schema-mismatch'
  | 'store-in-use'
  | 'process-failed'
  | 'bus-unavailable';

export abstract class StartFault extends Fault<StartFaultCode> {
  constructor(code: StartFaultCode, message: string, options: ErrorOptions = {}) {
    super(code, message, { temporary: code === 'store-in-use' || code === 'bus-unavailable', cause: options.cause });
  }
}
