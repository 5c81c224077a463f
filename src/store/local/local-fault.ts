// The expected faults of the data directory and the embedded database. The message tells the operator what to do; the
// program shows the message without a stack.
import { StartFault } from '../../concurrency/start-fault.js';

export class LocalFault extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('data-unusable', message, options);
  }
}
