// `mansio config`: the effective settings and their sources. `config.ts` hides secrets.
import type { Command } from 'commander';
import { type ConfigRow, describeConfig } from '../node/config/config.js';

export function registerConfig(program: Command): void {
  program
    .command('config')
    .description('print the effective settings and where each came from')
    .option('--json', 'as one JSON array')
    .action(({ json }: { json?: boolean }) => {
      const rows = describeConfig();
      process.stdout.write(json === true ? `${JSON.stringify(rows)}\n` : table(rows));
    });
}

function table(rows: readonly ConfigRow[]): string {
  const shown = rows.map(({ name, value, source }) => ({ name, value: value === '' ? '-' : value, source }));
  const width = (column: 'name' | 'source') => Math.max(...shown.map((row) => row[column].length));
  const [names, sources] = [width('name'), width('source')];
  const lines = shown.map((row) => `${row.name.padEnd(names)}  ${row.source.padEnd(sources)}  ${row.value}\n`);
  return lines.join('');
}
