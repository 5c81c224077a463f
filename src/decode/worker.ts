// The thread that decodes bodies: takes one job at a time from BodyDecoder, answers it, knows nothing else. Its heap
// limit and its time are set from outside; when either runs out the whole thread goes.
import { parentPort } from 'node:worker_threads';
import { type Bodies, type BodyPart, composeBodies } from '../mail/decode/bodies.js';

export interface DecodeJob {
  readonly parts: readonly BodyPart[];
  readonly limit: number;
}

export type DecodeAnswer = Bodies | { readonly failed: string };

parentPort?.on('message', (job: DecodeJob) => {
  let answer: DecodeAnswer;
  try {
    answer = composeBodies(job.parts, job.limit);
  } catch (error) {
    answer = { failed: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(answer);
});
