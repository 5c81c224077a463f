// The commands of imap4flags (RFC 5232 §3): they change the internal variable, or one that the script names.
import { Arguments } from '../arguments.js';
import type { Compilation } from '../compilation.js';
import { flagsIn, withoutFlags } from '../flag-lists.js';
import type { Call } from '../syntax.js';
import { nameOf } from '../variable-names.js';
import type { Commands, SieveCommand } from './command.js';

type Change = (before: readonly string[], named: readonly string[]) => readonly string[];

export const FLAG_COMMANDS: Commands = {
  setflag: changing((_, named) => named),
  addflag: changing((before, named) => flagsIn([...before, ...named])),
  removeflag: changing(withoutFlags),
};

function changing(change: Change): SieveCommand {
  return { needs: ['imap4flags'], compile: (call, compilation) => compileChange(call, compilation, change) };
}

function compileChange(call: Call, compilation: Compilation, change: Change): ReturnType<SieveCommand['compile']> {
  const given = new Arguments(call, compilation, {}, ['string', 'strings'], 'first');
  const isInternal = given.count === 1;
  const names = given.texts(isInternal ? 0 : 1);
  if (isInternal) {
    return (run) => {
      run.flags = change(run.flags, flagsIn(run.texts(names)));
      return undefined;
    };
  }
  compilation.needs(['variables'], call.at, `${call.name} with a variable`);
  const variable = nameOf(given.nodes(0)[0]!, compilation);
  return (run) => {
    run.setVariable(variable, change(flagsIn([run.variable(variable)]), flagsIn(run.texts(names))).join(' '));
    return undefined;
  };
}
