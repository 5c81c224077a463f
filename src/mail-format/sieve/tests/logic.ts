// The tests of RFC 5228 §5 that look at no text: constants, combinations of tests, and the size of the message.
import { Arguments, expectShape } from '../arguments.js';
import type { Compilation } from '../compilation.js';
import type { Check } from '../run.js';
import { type Call, SieveError } from '../syntax.js';
import type { SieveTests } from './sieve-test.js';

export const LOGIC_TESTS: SieveTests = {
  true: constant(true),
  false: constant(false),
  not: {
    takesTests: true,
    compile(call, compilation) {
      expectShape(call, { tests: 1 });
      new Arguments(call, compilation, {}, []);
      const check = compilation.test(call.tests[0]!);
      return (run) => !check(run);
    },
  },
  allof: {
    takesTests: true,
    compile(call, compilation) {
      const checks = checksOf(call, compilation);
      return (run) => checks.every((check) => check(run));
    },
  },
  anyof: {
    takesTests: true,
    compile(call, compilation) {
      const checks = checksOf(call, compilation);
      return (run) => checks.some((check) => check(run));
    },
  },
  size: {
    compile(call, compilation) {
      const tags = { over: { group: 'limit' }, under: { group: 'limit' } };
      const given = new Arguments(call, compilation, tags, ['number']);
      const limit = given.number(0);
      const side = given.oneOf(['over', 'under']);
      if (side === undefined) throw new SieveError(call.at, 'size takes :over or :under');
      return ({ message }) => (side === 'over' ? message.size > limit : message.size < limit);
    },
  },
};

function constant(value: boolean): SieveTests[string] {
  return {
    compile(call, compilation) {
      new Arguments(call, compilation, {}, []);
      return () => value;
    },
  };
}

function checksOf(call: Call, compilation: Compilation): readonly Check[] {
  expectShape(call, { tests: 'list' });
  new Arguments(call, compilation, {}, []);
  return call.tests.map((test) => compilation.test(test));
}
