// The faults of a configuration: all variables are reported at once, so that a start fails once instead of once per variable.
import { StartFault } from '../../concurrency/start-fault.js';

export interface ConfigProblem {
  readonly name: string;
  /** The given value, with secrets hidden. */
  readonly value: string;
  readonly accepted: string;
}

/** Names every wrong variable in one line. */
export class ConfigError extends StartFault {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const each = problems.map(({ name, value, accepted }) => `${name}=${JSON.stringify(value)}, accepted: ${accepted}`);
    super('wrong-configuration', `wrong configuration: ${each.join('; ')}`);
    this.problems = problems;
  }
}
