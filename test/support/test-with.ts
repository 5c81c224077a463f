// Tests that need a program which npm does not bring along: skipped, and shown as such, where it is not installed.
import test, { type TestFn } from 'ava';
import { findProgram } from '../../dev/executables.js';

export function testWith(...programs: readonly string[]): TestFn | TestFn['skip'] {
  return programs.every((program) => findProgram(program) !== undefined) ? test : test.skip;
}
