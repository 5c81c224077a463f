// Names the variables that the configuration refuses.
import { readConfig } from '../../../src/node/config/config.js';
import { ConfigError } from '../../../src/node/config/error.js';

export const problemsOf = (env: Record<string, string>) => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ name }) => name);
  }
};
