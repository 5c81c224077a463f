// The worker thread that decodes bodies. It reads parts with mailparser, or only with our own decoders when the job says so, and
// answers one job at a time. Its owner bounds its heap and its time; the whole thread ends when either runs out.
import { parentPort } from 'node:worker_threads';
import { type Bodies, BodiesBuilder, type BodyPart, composeBodies } from '../../mail-format/decode/bodies.js';
import { textOf } from '../../mail-format/decode/part-text.js';
import { mailparserText } from './mailparser-text.js';
import { renderedHtml } from './rendered-html.js';

export interface DecodeJob {
  readonly parts: readonly BodyPart[];
  readonly limit: number;
  readonly withMailparser: boolean;
}

type DecodeAnswer = Bodies | { readonly failed: string };

/** The thread sends `ready` once, when it has loaded its code. */
export type WorkerMessage = 'ready' | DecodeAnswer;

/** mailparser reads at most this many parts of a job: each takes about 0.2 ms, however short it is. */
const MOST_PARTS = 64;

async function answerTo({ parts, limit, withMailparser }: DecodeJob): Promise<DecodeAnswer> {
  try {
    return withMailparser ? await parsedBodies(parts, limit) : composeBodies(parts, limit);
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

async function parsedBodies(parts: readonly BodyPart[], limit: number): Promise<Bodies> {
  const builder = new BodiesBuilder(limit, renderedHtml);
  for (const [i, part] of parts.entries()) {
    if (!builder.hasRoom()) break;
    const text = i < MOST_PARTS ? await mailparserText(part, part.bytes) : undefined;
    builder.add(part, text ?? textOf(part, part.bytes));
  }
  return builder.bodies;
}

function send(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (job: DecodeJob) => void answerTo(job).then(send));
send('ready');
