// `mansio serve` in a process that a parent has started: one node, to which the parent tells its identity and when to stop. The parent
// decides about signals to end, because a terminal and a service manager send them to all processes at once.

import { Fault } from '../concurrency/fault.js';
import { readConfig } from '../node/config/config.js';
import { type LogOutput, openLog } from '../node/log.js';
import type { RunningNode, StopManner } from '../node/node.js';
import type { ParentLink } from '../node/processes/parent-link.js';
import { explain } from '../node/start-failure.js';
import { aborted, dieOfBugs } from './process-end.js';

const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export async function serveAsProcess(link: ParentLink): Promise<void> {
  for (const [signal, code] of Object.entries(CODES))
    process.on(signal, () => {
      if (link.isConnected) link.signalled();
      else process.exit(code);
    });
  const stop = new AbortController();
  let manner: StopManner = {};
  void link.stop.then((chosen) => {
    manner = chosen;
    stop.abort();
  });
  const isOver = aborted(stop.signal).then((): never => {
    throw stop.signal.reason;
  });
  isOver.catch(() => {});
  let output: LogOutput | undefined;
  let node: RunningNode | undefined;
  try {
    const { nodeId, dataDir, ports, processShare } = await Promise.race([link.started, isOver]);
    const config = { ...readConfig(), ...ports, nodeId, dataDir };
    output = openLog({ level: config.logLevel, process: processShare.number });
    dieOfBugs(output);
    const { startNode } = await import('../node/node.js');
    node = await startNode(config, output.log, stop.signal, processShare);
    link.ready(node);
  } catch (error) {
    const message = explain(error);
    const isStopped = stop.signal.aborted && node === undefined;
    if (!isStopped && message === undefined) output?.log.fatal({ err: error }, 'the process cannot start');
    await output?.flush();
    if (isStopped) process.exit(0);
    await link.failed({ message, isTemporary: error instanceof Fault && error.temporary, isFinal: false });
    process.exit(1);
  }
  const failure = await Promise.race([aborted(stop.signal), node.failed.catch((error: Error) => error)]);
  if (failure !== undefined) await link.failed({ message: failure.message, isTemporary: false, isFinal: true });
  output.log.info('stopping');
  const isClean = (await node.stop(manner)) && failure === undefined;
  output.log.info('stopped');
  await output.flush();
  process.exit(isClean ? 0 : 1);
}
