// `mansio serve`: runs a node, or the parent of several, until a signal ends it. It owns the process: ready line, signals, exit code, last
// words. `serve-process.ts` handles a process that a parent has started.
import type { Command } from 'commander';
import { processCountOf, readConfig } from '../node/config/config.js';
import { ConfigError } from '../node/config/error.js';
import { demoBanner } from '../node/demo.js';
import { type LogOutput, openLog } from '../node/log.js';
import { type RunningProcesses, startProcesses } from '../node/processes/parent.js';
import { linkToParent } from '../node/processes/parent-link.js';
import { explain } from '../node/start-failure.js';
import { letHeapGrow } from './heap-growth.js';
import { aborted, dieOfBugs } from './process-end.js';
import { programName } from './program-name.js';
import { serveAsProcess } from './serve-process.js';

type Stop = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
// npm forwards the Ctrl-C that the terminal has already sent to its child: this echo is not a second request.
const ECHO_MS = 250;

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('run a node until SIGINT or SIGTERM; settings are environment variables, see "mansio config"')
    .action(serve);
}

async function serve(): Promise<void> {
  letHeapGrow();
  const link = linkToParent();
  if (link !== undefined) return serveAsProcess(link);
  const stop = new AbortController();
  const asked = onSignal(() => stop.abort());
  let output: LogOutput | undefined;
  let node: RunningProcesses | undefined;
  try {
    const config = readConfig();
    output = openLog({ level: config.logLevel });
    dieOfBugs(output);
    const processes = processCountOf(config);
    // A closed terminal ends a single node at once; several processes must end with their parent.
    if (processes > 1) process.on('SIGHUP', () => asked('SIGHUP'));
    node =
      processes > 1
        ? await startProcesses(config, processes, output.log, stop.signal)
        : // The parent of processes starts without loading the modules of a node.
          await (await import('../node/node.js')).startNode(config, output.log, stop.signal);
    output.print(JSON.stringify({ event: 'ready', nodeId: node.nodeId, listeners: node.listeners }));
    if (node.demo !== undefined) {
      const program = programName(process.argv[1] ?? '');
      output.print(demoBanner(node.demo, node.listeners, program));
    }
  } catch (error) {
    await output?.flush();
    // A signal during the start leads to a clean stop.
    if (stop.signal.aborted && node === undefined) process.exit(0);
    complain(error);
    process.exit(1);
  }
  const failure = await Promise.race([aborted(stop.signal), node.failed.catch((error: Error) => error)]);
  output.log.info('stopping');
  const clean = (await node.stop()) && failure === undefined;
  output.log.info('stopped');
  await output.flush();
  process.exit(clean ? 0 : 1);
}

/** The first signal requests a clean stop; a second one ends the process at once. */
function onSignal(first: () => void): (signal: Stop) => void {
  let asked: { readonly signal: Stop; readonly at: number } | undefined;
  const handle = (signal: Stop) => {
    if (asked === undefined) {
      asked = { signal, at: performance.now() };
      first();
    } else if (signal !== 'SIGINT' || asked.signal !== signal || performance.now() - asked.at > ECHO_MS) {
      process.exit(CODES[signal]);
    }
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return handle;
}

function complain(error: unknown): void {
  const { log } = openLog({ level: 'info', fd: 2, sync: true });
  const message = explain(error);
  if (message === undefined) log.fatal({ err: error }, 'Mansio cannot start');
  else if (error instanceof ConfigError) log.fatal({ problems: error.problems }, `Mansio cannot start: ${message}`);
  else log.fatal(`Mansio cannot start: ${message}`);
}
