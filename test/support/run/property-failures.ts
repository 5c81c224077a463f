// Loaded before every test file. A property that fails writes its counterexample to stderr: AVA shows only the assertion that failed first.
// The search for a smaller counterexample is bounded, because a property that asks a database would search for longer than a run waits.
import fc from 'fast-check';

const SHRINK_MS = 30_000;
const SHOWN_CHARACTERS = 20_000;

/** Searches for a smaller counterexample for this long; the smallest case until then is the result. */
export function shrinkingFor(ms: number): fc.Plugin<unknown> {
  return () => {
    let failedAt = Number.POSITIVE_INFINITY;
    const noted = <R extends object | null>(result: R): R => {
      if (result !== null && 'error' in result) failedAt = Math.min(failedAt, performance.now());
      return result;
    };
    return {
      decorateRun: (run) => (value) => {
        // fast-check takes null for a case that passes.
        if (performance.now() - failedAt >= ms) return null;
        const result = run(value);
        return result instanceof Promise ? result.then(noted) : noted(result);
      },
    };
  };
}

fc.installGlobalPlugin(shrinkingFor(SHRINK_MS));
fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  reporter(details) {
    if (!details.failed) return;
    const report = fc.defaultReportMessage(details);
    process.stderr.write(`${report.slice(0, SHOWN_CHARACTERS)}\n`);
    throw new Error(report, { cause: details.errorInstance });
  },
});
