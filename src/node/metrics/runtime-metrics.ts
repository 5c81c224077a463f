// The runtime's meter on prom-client: asks and answers, actors, events, shards.
import type { Meter } from '../../actors/runtime/meter.js';
import type { Families } from './families.js';

export function runtimeMeter(families: Families): Meter {
  const answers = families.latency(
    'actor_request_duration_seconds',
    'Commands and queries that reached this node, until they were answered, by how they came out.',
    ['protocol', 'operation', 'outcome'],
  );
  const asks = families.latency(
    'ask_duration_seconds',
    'Asks of this node until they were answered; owner: this node (local) or another one (remote).',
    ['protocol', 'owner', 'outcome'],
  );
  const looks = families.counter(
    'ask_retries_total',
    'Requests to an actor that were sent again because no node answered for the account.',
  );
  const loads = families.counter('actor_loads_total', 'Actors loaded into memory.');
  const passivations = families.counter('actor_passivations_total', 'Idle actors removed from memory.');
  const fenced = families.counter(
    'actor_fenced_total',
    'Loads and commits refused because a later owner has the account.',
  );
  const published = families.counter('events_published_total', 'Events published after commits.');
  const received = families.counter('events_received_total', 'Events received from the bus for followed accounts.');
  const read = families.counter('events_read_total', 'Events read from the log by followers that were behind.');
  const taken = families.counter('shards_taken_total', 'Shards taken: free ones, or those of nodes that crashed.', [
    'reason',
  ]);
  const handedOver = families.counter('shards_handed_over_total', 'Shards given to other nodes.');
  const lost = families.counter('shards_lost_total', 'Shards that other nodes took before this node gave them up.');
  taken.inc({ reason: 'free' }, 0);
  taken.inc({ reason: 'vanished' }, 0);
  return {
    now: () => performance.now(),
    asked: (protocol, outcome, local, ms) =>
      asks.observe({ protocol, owner: local ? 'local' : 'remote', outcome }, ms / 1000),
    lookedAgain: () => looks.inc(),
    answered: (protocol, operation, outcome, ms) => answers.observe({ protocol, operation, outcome }, ms / 1000),
    loaded: () => loads.inc(),
    passivated: (actors) => passivations.inc(actors),
    fenced: () => fenced.inc(),
    published: (events) => published.inc(events),
    received: (events) => received.inc(events),
    readFromLog: (events) => read.inc(events),
    shardsTaken: (shards, vanished) => taken.inc({ reason: vanished ? 'vanished' : 'free' }, shards),
    shardsHandedOver: (shards) => handedOver.inc(shards),
    shardsLost: (shards) => lost.inc(shards),
  };
}
