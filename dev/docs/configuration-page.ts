// Makes the tables of docs/configuration.md from the table of settings that `mansio config` prints.
import type { Variable } from '../../src/node/config/variable.js';
import { SECTIONS } from '../../src/node/config/variables.js';
import { code, table } from './markdown.js';

export const CONFIGURATION_PAGE = 'docs/configuration.md';

export function configurationTables(): string {
  return Object.entries(SECTIONS)
    .map(([title, variables]) => {
      const rows = Object.values(variables as Readonly<Record<string, Variable<unknown, unknown>>>).map(
        (variable) => [code(variable.name), defaultOf(variable), variable.meaning, variable.accepts] as const,
      );
      return `### ${title}\n\n${table(['Variable', 'Default', 'Meaning', 'Accepted'], rows)}`;
    })
    .join('\n');
}

function defaultOf({ name, initial, byDefault }: Variable<unknown, unknown>): string {
  if (byDefault !== undefined) return byDefault;
  if (Array.isArray(initial) && initial.length === 0) return 'none';
  if (initial === undefined) throw new Error(`${name} has no default in words`);
  return code(String(initial));
}
