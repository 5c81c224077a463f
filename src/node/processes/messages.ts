// The messages between a parent and its processes, over the channel that Node's cluster module opens between them.

import type { HealthReport } from '../../gateways/http/health.js';
import type { Config } from '../config/config.js';
import type { Demo } from '../demo.js';
import type { Listeners } from '../listeners/listeners.js';
import type { ProcessShare } from './process-share.js';

/** Ports that the parent has chosen, which override the configuration. */
export type ChosenPorts = Partial<
  Pick<
    Config,
    | 'httpPort'
    | 'httpsPort'
    | 'acmePort'
    | 'mxPort'
    | 'submissionPort'
    | 'submissionsPort'
    | 'imapPort'
    | 'imapsPort'
    | 'pop3Port'
    | 'pop3sPort'
    | 'sievePort'
  >
>;

/** The answer to `present`: it tells the process its identity. */
export interface StartMessage {
  readonly kind: 'start';
  readonly nodeId: string;
  readonly dataDir: string;
  readonly ports: ChosenPorts;
  readonly processShare: ProcessShare;
}

interface StopMessage {
  readonly kind: 'stop';
  /** Other processes continue to serve. */
  readonly portsStay: boolean;
}

/** The answers of a process by the kind of question. */
export interface Answers {
  readonly health: HealthReport;
  readonly metrics: string;
}

interface AskMessage {
  readonly kind: 'ask';
  readonly id: number;
  readonly about: keyof Answers;
}

export type ToProcess = StartMessage | StopMessage | AskMessage;

/** The process listens to its parent; earlier messages are lost. */
export interface PresentMessage {
  readonly kind: 'present';
}

export interface ReadyMessage {
  readonly kind: 'ready';
  readonly listeners: Listeners;
  readonly demo: Demo | undefined;
}

/** The process cannot start, or must not continue. */
export interface FailedMessage {
  readonly kind: 'failed';
  /** The message for the operator; undefined for a bug, which the process has logged. */
  readonly message: string | undefined;
  /** The same start may succeed later. */
  readonly isTemporary: boolean;
  /** Another start would repeat the harm. */
  readonly isFinal: boolean;
}

/** The process received a signal to end. */
interface SignalledMessage {
  readonly kind: 'signalled';
}

interface AnswerMessage {
  readonly kind: 'answer';
  readonly id: number;
  /** Undefined when there is no answer. */
  readonly answer: Answers[keyof Answers] | undefined;
}

export type ToParent = PresentMessage | ReadyMessage | FailedMessage | SignalledMessage | AnswerMessage;
