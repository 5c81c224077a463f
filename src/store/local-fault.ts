// An expected reason why the data directory or the embedded database cannot be used. The message is written for the
// operator and says what to do; whoever starts the node shows it without a stack.
import { StartFault } from '../errors/start-fault.js';

export class LocalFault extends StartFault {
  constructor(message: string, options?: ErrorOptions) {
    super('data-unusable', message, options);
  }
}
