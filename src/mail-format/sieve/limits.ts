// The bounds of a run, so that no script takes much time or memory, whatever it does.

export interface SieveBounds {
  /** Commands, tests and comparisons; long texts count as several. */
  readonly steps: number;
  /** The octets of one value of a variable; longer ones are cut (RFC 5229 §6). */
  readonly variableOctets: number;
  /** The octets of all variables. */
  readonly variablesOctets: number;
  readonly variables: number;
  readonly actions: number;
  readonly redirects: number;
  /** The octets of a text for the sender, with its subject and addresses. */
  readonly replyOctets: number;
  /** The scripts that are included, in all and within each other. */
  readonly includes: number;
  readonly includeDepth: number;
  /** The edits of the header. */
  readonly edits: number;
  /** The octets of the fields that are added to the header. */
  readonly addedOctets: number;
  /** The different headers with which the message is stored or sent on, as well as the one that it came with. */
  readonly editedHeaders: number;
  /** The keys that one run tracks. */
  readonly trackedKeys: number;
}

export const SIEVE_BOUNDS: SieveBounds = {
  steps: 100_000,
  variableOctets: 65_536,
  variablesOctets: 1_048_576,
  variables: 128,
  actions: 32,
  redirects: 4,
  replyOctets: 16_384,
  includes: 64,
  includeDepth: 10,
  edits: 100,
  addedOctets: 32_768,
  editedHeaders: 4,
  trackedKeys: 16,
};

/** The octets of a script. */
export const MOST_SCRIPT_OCTETS = 64 * 1024;
