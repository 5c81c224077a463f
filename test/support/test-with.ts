// Tests that need a program which npm does not install: they are skipped, and shown as skipped, where it is missing.
import { spawnSync } from 'node:child_process';
import type { TestFn } from 'ava';
import { findProgram } from '../../dev/executables.js';
import test from './test.js';

/** Declares tests that run one after the other within the file: for tests that start many processes each. */
export function serialTestWith(...programs: readonly string[]): TestFn['serial'] | TestFn['skip'] {
  return programs.every(isUsable) ? test.serial : test.skip;
}

/** `C` is the context of the file's tests. */
export function testWith<C = unknown>(...programs: readonly string[]): TestFn<C> | TestFn<C>['skip'] {
  const typed = test as TestFn<C>;
  return programs.every(isUsable) ? typed : typed.skip;
}

/** Swaks may be installed without the Perl module that its TLS needs. */
function isUsable(program: string): boolean {
  if (findProgram(program) === undefined) return false;
  return program !== 'swaks' || spawnSync('perl', ['-MNet::SSLeay', '-e', '1']).status === 0;
}
