// An expected reason why the data directory or the embedded database cannot be used. The message is written for the
// operator and says what to do; whoever starts the node shows it without a stack.

export class LocalFault extends Error {
  override readonly name = 'LocalFault';
}
