// `include`, `return` and `global` (RFC 6609). The caller of a run finds the scripts; each has variables of its own, besides the global ones.
import { Arguments, type Tags } from '../arguments.js';
import { runSteps } from '../run.js';
import { SieveError } from '../syntax.js';
import { nameOf } from '../variable-names.js';
import type { Commands } from './command.js';

const TAGS: Tags = {
  personal: { group: 'location' },
  global: { group: 'location' },
  once: {},
  optional: {},
};

export const INCLUDE_COMMANDS: Commands = {
  include: {
    needs: ['include'],
    compile(call, compilation) {
      const given = new Arguments(call, compilation, TAGS, ['string']);
      const name = compilation.constant(given.nodes(0)[0]!, 'the name of a script');
      const location = given.has('global') ? 'global' : 'personal';
      const [isOnce, isOptional] = [given.has('once'), given.has('optional')];
      compilation.includes.push({ location, name });
      return (run) => {
        const script = run.environment.include(location, name);
        if (script === undefined) return isOptional ? undefined : run.fail(`there is no ${location} script "${name}"`);
        const key = `${location} ${name}`;
        if (isOnce && run.isIncluded(key)) return undefined;
        const flow = run.include(key, () => runSteps(script.steps, run));
        return flow === 'stop' ? 'stop' : 'next';
      };
    },
  },
  return: {
    needs: ['include'],
    compile(call, compilation) {
      new Arguments(call, compilation, {}, []);
      return () => 'return';
    },
  },
  global: {
    needs: ['include'],
    compile(call, compilation) {
      compilation.needs(['variables'], call.at, 'global');
      const given = new Arguments(call, compilation, {}, ['strings']);
      const names = given.nodes(0).map((node) => {
        const { space, name } = nameOf(node, compilation);
        if (space === 'global') throw new SieveError(node.at, 'global takes names without a namespace');
        return name;
      });
      return (run) => {
        for (const name of names) run.declareGlobal(name);
        return undefined;
      };
    },
  },
};
