// The names of variables as commands take them (RFC 5229 §4): a constant string.
import type { Compilation } from './compilation.js';
import { SieveError, type StringNode } from './syntax.js';
import { type Reference, variableName } from './text.js';

const NAME = /^(?:(global)\.)?([a-z_][a-z0-9_]*)$/i;

/** @throws SieveError */
export function nameOf(node: StringNode, compilation: Compilation): Reference {
  const name = compilation.constant(node, 'the name of a variable');
  const found = NAME.exec(name);
  if (found === null || (found[1] !== undefined && !compilation.has('include'))) {
    throw new SieveError(node.at, `"${name.slice(0, 80)}" cannot be the name of a variable`);
  }
  return { space: found[1] === undefined ? 'local' : 'global', name: variableName(found[2]!, node.at) };
}
