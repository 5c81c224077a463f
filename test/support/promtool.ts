// Prometheus' own tool reads a text of metrics as its server would, and lints names, types and help.
import { requireProgram } from '../../dev/executables.js';
import { runProgram } from './run-program.js';

/** Returns the report of `promtool check metrics`; '' when it finds nothing. @throws MissingProgram */
export async function reportOfPromtool(text: string): Promise<string> {
  const { code, output } = await runProgram(requireProgram('promtool'), ['check', 'metrics'], text);
  return code === 0 ? output : `exit code ${code}: ${output}`;
}
