// Tests that need a program which npm does not bring along: skipped, and shown as such, where it is not installed.
import { spawnSync } from 'node:child_process';
import type { TestFn } from 'ava';
import { findProgram } from '../../dev/executables.js';
import test from './test.js';

/** The same, one after the other within the file: for tests that start many processes each. */
export function serialTestWith(...programs: readonly string[]): TestFn['serial'] | TestFn['skip'] {
  return programs.every(isUsable) ? test.serial : test.skip;
}

/** `C`: the context of the tests of the file. */
export function testWith<C = unknown>(...programs: readonly string[]): TestFn<C> | TestFn<C>['skip'] {
  const typed = test as TestFn<C>;
  return programs.every(isUsable) ? typed : typed.skip;
}

/** Swaks may be installed without what its TLS needs. */
function isUsable(program: string): boolean {
  if (findProgram(program) === undefined) return false;
  return program !== 'swaks' || spawnSync('perl', ['-MNet::SSLeay', '-e', '1']).status === 0;
}
