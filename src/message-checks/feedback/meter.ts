// Port: counts what becomes of feedback reports. It must not throw.

/** `counted`: its sums are added; `repeated`: they were before; `malformed`: it cannot be read within the bounds. */
export const READ_OUTCOMES = [
  'counted',
  'repeated',
  'malformed',
  'unhosted',
  'misdirected',
  'too_old',
  'too_many',
] as const;
export type ReadOutcome = (typeof READ_OUTCOMES)[number];

export interface FeedbackMeter {
  /** A report was read. `kind` is that of the report, or `unknown` when it is malformed. */
  read(kind: 'dmarc' | 'tls' | 'unknown', outcome: ReadOutcome): void;
  /** Messages of counted DMARC reports; `result`: whether DMARC passes. */
  messages(result: 'pass' | 'fail', count: number): void;
  /** Sessions of counted TLS reports. */
  sessions(result: 'success' | 'failure', count: number): void;
}

export const NO_METER: FeedbackMeter = { read: () => {}, messages: () => {}, sessions: () => {} };
