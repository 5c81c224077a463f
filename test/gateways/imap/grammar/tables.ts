// Makes a test of each table of texts that a grammar function reads or refuses.

import { CommandSyntaxError } from '../../../../src/gateways/imap/wire/command-reader.js';
import test from '../../../support/test.js';
import { type Rule, readWhole } from './reading.js';

export function reads<T>(name: string, rule: Rule<T>, accepted: readonly (readonly [text: string, value: T])[]): void {
  for (const [text, value] of accepted) {
    test(`${name} reads ${JSON.stringify(text)}`, (t) => t.deepEqual(readWhole(rule, text), value));
  }
}

export function refuses(name: string, rule: Rule<unknown>, refused: readonly string[]): void {
  for (const text of refused) {
    test(`${name} refuses ${JSON.stringify(text)}`, (t) => {
      t.throws(() => readWhole(rule, text), { instanceOf: CommandSyntaxError, message: /^expected .+ at octet \d+$/ });
    });
  }
}
