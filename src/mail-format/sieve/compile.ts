// The compiler of Sieve scripts: `require` first, then commands and tests by their tables. A fault in one command does not hide those of the
// next.
import { Arguments, expectShape } from './arguments.js';
import { COMMANDS } from './commands/table.js';
import { Compilation } from './compilation.js';
import { parseSieve } from './parser.js';
import { type Check, type Flow, type Run, runSteps, type SieveScript, type SieveStep } from './run.js';
import { type Call, SieveError, type SieveFault } from './syntax.js';
import { TESTS } from './tests/table.js';

/** The most faults that are told. */
const MOST_FAULTS = 20;

type Compiled = { readonly script: SieveScript } | { readonly faults: readonly SieveFault[] };

/** Never throws. Faults are in the order of the script; a fault of the syntax is the only one. */
export function compileSieve(text: string): Compiled {
  const faults: SieveFault[] = [];
  try {
    refuseNul(text);
    const calls = parseSieve(text);
    const compilation = new Compilation({ block: (block, within) => blockOf(block, within, faults), test: testOf });
    const required = requireAll(calls, compilation, faults);
    const steps = blockOf(calls.slice(required), compilation, faults);
    const { extensions, readsBody, includes } = compilation;
    return faults.length > 0 ? { faults } : { script: { steps, extensions, readsBody, includes } };
  } catch (error) {
    if (!(error instanceof SieveError)) throw error;
    return { faults: [...faults, error.fault] };
  }
}

/** RFC 5228 §8.1; PostgreSQL stores none. @throws SieveError */
function refuseNul(text: string): void {
  const at = text.indexOf('\0');
  if (at < 0) return;
  const before = text.slice(0, at).split('\n');
  throw new SieveError({ line: before.length, column: before.at(-1)!.length + 1 }, 'a script has no NUL');
}

/** Takes the `require` commands, which stand before all others (RFC 5228 §3.2). Returns their number. */
function requireAll(calls: readonly Call[], compilation: Compilation, faults: SieveFault[]): number {
  let count = 0;
  for (const call of calls) {
    if (call.name !== 'require') break;
    attempt(faults, () => {
      expectShape(call, {});
      for (const node of new Arguments(call, compilation, {}, ['strings']).nodes(0)) {
        attempt(faults, () => compilation.require(node));
      }
    });
    count++;
  }
  return count;
}

/** Runs `compile` and keeps its fault. @throws SieveError after the last fault that is told */
function attempt(faults: SieveFault[], compile: () => void): void {
  try {
    compile();
  } catch (error) {
    if (!(error instanceof SieveError) || faults.length >= MOST_FAULTS - 1) throw error;
    faults.push(error.fault);
  }
}

function blockOf(calls: readonly Call[], compilation: Compilation, faults: SieveFault[]): readonly SieveStep[] {
  const steps: SieveStep[] = [];
  for (let i = 0; i < calls.length; ) {
    const count = calls[i]!.name === 'if' ? branchesAt(calls, i) : 1;
    const commands = calls.slice(i, i + count);
    attempt(faults, () =>
      steps.push(
        count > 1 || commands[0]!.name === 'if' ? choiceOf(commands, compilation) : stepOf(commands[0]!, compilation),
      ),
    );
    i += count;
  }
  return steps;
}

/** The number of commands of the `if` at this index: with its `elsif` and `else`. */
function branchesAt(calls: readonly Call[], from: number): number {
  let end = from + 1;
  while (calls[end]?.name === 'elsif') end++;
  return (calls[end]?.name === 'else' ? end + 1 : end) - from;
}

function stepOf(call: Call, compilation: Compilation): SieveStep {
  if (call.name === 'require') throw new SieveError(call.at, 'require stands before all other commands');
  if (call.name === 'elsif' || call.name === 'else') throw new SieveError(call.at, `${call.name} follows no if`);
  const command = Object.hasOwn(COMMANDS, call.name) ? COMMANDS[call.name] : undefined;
  if (command === undefined) throw new SieveError(call.at, `there is no command ${call.name.slice(0, 40)}`);
  compilation.needs(command.needs ?? [], call.at, call.name);
  expectShape(call, {});
  const step = command.compile(call, compilation);
  return (run) => {
    run.begin(call.at);
    return step(run) ?? 'next';
  };
}

function testOf(call: Call, compilation: Compilation): Check {
  const test = Object.hasOwn(TESTS, call.name) ? TESTS[call.name] : undefined;
  if (test === undefined) throw new SieveError(call.at, `there is no test ${call.name.slice(0, 40)}`);
  compilation.needs(test.needs ?? [], call.at, call.name);
  if (test.takesTests === undefined) expectShape(call, {});
  const check = test.compile(call, compilation);
  return (run) => {
    run.begin(call.at);
    return check(run);
  };
}

interface Branch {
  readonly check: Check;
  readonly steps: readonly SieveStep[];
}

function choiceOf(calls: readonly Call[], compilation: Compilation): SieveStep {
  const branches = calls.map((call): Branch => {
    const isElse = call.name === 'else';
    expectShape(call, { tests: isElse ? 0 : 1, block: true });
    // Takes no argument.
    new Arguments(call, compilation, {}, []);
    const check = isElse ? () => true : compilation.test(call.tests[0]!);
    return { check, steps: compilation.block(call.block!) };
  });
  return (run) => chosen(branches, run);
}

function chosen(branches: readonly Branch[], run: Run): Flow {
  for (const { check, steps } of branches) if (check(run)) return runSteps(steps, run);
  return 'next';
}
