// What a parent and its processes say to each other, over the channel that Node's cluster module opens between them.
import type { Config } from '../../config.js';
import type { HealthReport } from '../../gateways/http/health.js';
import type { Demo } from '../demo.js';
import type { Listeners } from '../listeners.js';
import type { ProcessShare } from './process-share.js';

/** Ports that the parent has chosen over those of the configuration. */
export type ChosenPorts = Partial<
  Pick<
    Config,
    'httpPort' | 'mxPort' | 'submissionPort' | 'submissionsPort' | 'imapPort' | 'imapsPort' | 'pop3Port' | 'pop3sPort'
  >
>;

/** The answer to `present`: who the process is. */
export interface StartMessage {
  readonly kind: 'start';
  readonly nodeId: string;
  readonly dataDir: string;
  readonly ports: ChosenPorts;
  readonly processShare: ProcessShare;
}

interface StopMessage {
  readonly kind: 'stop';
  /** Other processes serve on. */
  readonly portsStay: boolean;
}

/** What a process is asked for. */
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

/** The process listens to its parent: what was said before has not been heard. */
export interface PresentMessage {
  readonly kind: 'present';
}

export interface ReadyMessage {
  readonly kind: 'ready';
  readonly listeners: Listeners;
  readonly demo: Demo | undefined;
}

/** The process cannot start, or must not go on. */
export interface FailedMessage {
  readonly kind: 'failed';
  /** For the operator; undefined for a bug, which the process has logged. */
  readonly message: string | undefined;
  /** The same start may succeed later. */
  readonly isTemporary: boolean;
  /** Another start would only repeat the harm. */
  readonly isFinal: boolean;
}

/** The process got a signal to end. */
interface SignalledMessage {
  readonly kind: 'signalled';
}

interface AnswerMessage {
  readonly kind: 'answer';
  readonly id: number;
  /** Undefined when there is none. */
  readonly answer: Answers[keyof Answers] | undefined;
}

export type ToParent = PresentMessage | ReadyMessage | FailedMessage | SignalledMessage | AnswerMessage;
