// The amounts of tests that repeat random cases: few by default, so that people run the tests; all of them in `npm run test:soak` and the
// last stage of `.ci/run`, which set TEST_AMOUNTS=all. TEST_AMOUNTS=5 means five times all of them, for a manual search.
//
// A property calls `fc.assert(…, { numRuns: runs(500) })`, with the number for all. A test that kills takes its number from KILLS, which
// has one line per test. Titles of tests contain no numbers, so that a test has one name.

const FEWEST_RUNS = 20;
/** The fraction of the cases that is drawn by default. */
const FEW = 1 / 10;

const asked = process.env['TEST_AMOUNTS'] ?? 'few';
const multiple = asked === 'all' ? 1 : Number(asked);
const factor = asked === 'few' ? undefined : multiple;
if (factor !== undefined && !(factor > 0)) throw new Error(`TEST_AMOUNTS is few, all or a factor of all, not ${asked}`);

/** True when a person searches for a fault. */
export const IS_SEARCH = factor !== undefined && asked !== 'all';

/** Returns `few` by default, otherwise `all`, times the factor. */
export function amount(few: number, all: number): number {
  return factor === undefined ? few : Math.ceil(all * factor);
}

/**
 * Returns the number of cases of a property that draws `all` where all are requested; `fewest` is for one that asserts on all its cases
 * together.
 */
export function runs(all: number, fewest = FEWEST_RUNS): number {
  return amount(Math.min(all, Math.max(fewest, Math.ceil(all * FEW))), all);
}

/** The number for a cluster whose nodes are killed, stopped and cut off: each fifth message goes to all accounts. */
export const CLUSTER_ACCOUNTS = amount(5, 12);

/** Returns how many of `all` messages a cluster must accept between two events. */
export function messages(all: number): number {
  return amount(Math.ceil(all / 3), all);
}

/** `scenarios/cluster/late-answers` interrupts an owner in each way this many times. */
export const INTERRUPTION_ROUNDS = amount(1, 5);

/** The numbers of kills (SIGKILL) per test. */
export const KILLS = {
  /** `scenarios/faults/kill` kills a node that accepts mail; the database of every fourth is killed as well. */
  incoming: amount(4, 20),
  /** `scenarios/faults/outbound-kill` kills a node while emails are in flight. */
  outbound: amount(3, 20),
  /** `scenarios/faults/forwarding-kill` kills a node that forwards mail. */
  forwarding: amount(2, 10),
  /** `scenarios/faults/vacation-kill` kills a node that answers mail. */
  vacation: amount(2, 6),
  /** `scenarios/faults/scripts-kill` kills a node whose scripts send on, answer and refuse mail. */
  scripts: amount(2, 8),
  /** `scenarios/faults/moves-kill` */
  moves: amount(2, 6),
  /** `scenarios/faults/flags-kill`: the database of every third dies as well. */
  flags: amount(3, 10),
  /** `scenarios/faults/import-kill` kills a node during an import. */
  imports: amount(3, 10),
  /** `scenarios/faults/backup-kill` kills backups, and then restores. */
  backups: amount(3, 12),
  /** `scenarios/mail/send-later` */
  sendLater: amount(2, 4),
  /** `scenarios/cluster/kill` kills nodes of a cluster under load. */
  cluster: amount(3, 30),
  /** `scenarios/cluster/processes`: two processes in turn. */
  processes: 2 * amount(1, 2),
  /** `scenarios/faults/cluster-people-kill` kills nodes of a cluster that answers mail and counts quotas. */
  clusterPeople: amount(2, 9),
  /** `scenarios/cluster/failover`: faults of the machine with the primary of PostgreSQL. */
  failover: amount(1, 4),
  /** `scenarios/cluster/imap` */
  clusterImap: amount(3, 20),
  /** `scenarios/cluster/pop3` kills after QUIT; every third time another node is killed. */
  clusterQuit: amount(3, 6),
} as const;
