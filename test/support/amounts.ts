// How often tests repeat what is left to chance: few times by default, so that people run the tests; all times in `npm run test:soak`
// and the last stage of `.ci/run`, which set TEST_AMOUNTS=all. TEST_AMOUNTS=5 is five times all of them, for a search by hand.
//
// A property says `fc.assert(…, { numRuns: runs(500) })`, with the number for all. A test that kills takes its number from KILLS: a
// new one has its line there. Titles of tests hold no numbers, so that a test has one name.

const FEWEST_RUNS = 20;
/** Part of the cases that is drawn by default. */
const FEW = 1 / 10;

const asked = process.env['TEST_AMOUNTS'] ?? 'few';
const multiple = asked === 'all' ? 1 : Number(asked);
const factor = asked === 'few' ? undefined : multiple;
if (factor !== undefined && !(factor > 0)) throw new Error(`TEST_AMOUNTS is few, all or a factor of all, not ${asked}`);

/** Whether somebody looks for a fault by hand. */
export const IS_SEARCH = factor !== undefined && asked !== 'all';

/** `few` by default, else `all`, or as often as was asked for. */
export function amount(few: number, all: number): number {
  return factor === undefined ? few : Math.ceil(all * factor);
}

/** Cases of a property that draws `all` where all are asked for; `fewest` for one that asserts what its cases have shown together. */
export function runs(all: number, fewest = FEWEST_RUNS): number {
  return amount(Math.min(all, Math.max(fewest, Math.ceil(all * FEW))), all);
}

/** The number for a cluster whose nodes are killed, stopped and cut off: each fifth message goes to all of them. */
export const CLUSTER_ACCOUNTS = amount(5, 12);

/** Messages that a cluster is to take between two events, of `all`. */
export function messages(all: number): number {
  return amount(Math.ceil(all / 3), all);
}

/** Kills (SIGKILL) of one test. */
export const KILLS = {
  /** `e2e/kill`: of a node that takes mail; the database of every fourth dies as well. */
  incoming: amount(4, 20),
  /** `e2e/outbound-kill`: with emails in flight. */
  outbound: amount(3, 20),
  /** `e2e/moves-kill` */
  moves: amount(2, 6),
  /** `e2e/flags-kill`: the database of every third dies as well. */
  flags: amount(3, 10),
  /** `e2e/import-kill`: of an import. */
  imports: amount(3, 10),
  /** `e2e/send-later` */
  sendLater: amount(2, 4),
  /** `cluster/imap` */
  clusterImap: amount(3, 20),
  /** `cluster/pop3`: behind QUIT; of another node in every third. */
  clusterQuit: amount(3, 6),
} as const;
