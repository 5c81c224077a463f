// AVA's `test`, for every test file. A run of many files puts several into one process (`groups.ts`). There the title of a test begins with
// the file that declares it, as AVA shows it when each file has its own process, and the files take turns (`file-turns.ts`).
import ava, { type ExecutionContext, type TestFn } from 'ava';
import { declaringFile } from './run/declaring-file.js';
import { inTurn } from './run/file-turns.js';

type Chain = (...args: unknown[]) => unknown;
type Implementation = (t: ExecutionContext, ...args: unknown[]) => unknown;

export default declaringFile() === undefined ? ava : grouped();

function grouped(): TestFn {
  const { before, after, macro, meta, todo } = ava;
  return Object.assign(withTurns(ava, false), {
    ...variantsOf(ava, false),
    serial: Object.assign(withTurns(ava, true), variantsOf(ava, true)),
    before,
    after,
    macro,
    meta,
    todo,
  }) as unknown as TestFn;
}

function variantsOf({ failing, only, skip }: TestFn, isSerial: boolean): Record<string, Chain> {
  return { failing: withTurns(failing, isSerial), only: withTurns(only, isSerial), skip: withTurns(skip, isSerial) };
}

/** `isSerial` applies within the file. For AVA all tests of a group run at once. */
function withTurns(declare: unknown, isSerial: boolean): Chain {
  return (title, ...rest) => {
    const file = declaringFile()!;
    const name = `${file} › ${title}`;
    const [run, ...args] = rest;
    const waiting: Implementation = (t, ...given) =>
      inTurn(file, name, isSerial, async () => (run as Implementation)(t, ...given));
    return (declare as Chain)(name, waiting, ...args);
  };
}
