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
  const retries = families.counter('ask_retries_total', 'Attempts of asks that found no owner and were repeated.');
  const loads = families.counter('actor_loads_total', 'Actors brought to life.');
  const passivations = families.counter('actor_passivations_total', 'Idle actors that left the memory.');
  const fenced = families.counter(
    'actor_fenced_total',
    'Loads and commits refused because a later owner has the account.',
  );
  const published = families.counter('events_published_total', 'Events published after commits.');
  const received = families.counter('events_received_total', 'Events received from the bus for followed accounts.');
  const read = families.counter('events_read_total', 'Events followers read from the log, to catch up.');
  const taken = families.counter('shards_taken_total', 'Shards taken, free ones or of owners that crashed.', [
    'reason',
  ]);
  const handedOver = families.counter('shards_handed_over_total', 'Shards given to other nodes.');
  const lost = families.counter('shards_lost_total', 'Shards that others took while this node was not looking.');
  taken.inc({ reason: 'free' }, 0);
  taken.inc({ reason: 'crashed' }, 0);
  return {
    now: () => performance.now(),
    asked: (protocol, outcome, local, ms) =>
      asks.observe({ protocol, owner: local ? 'local' : 'remote', outcome }, ms / 1000),
    askRetried: () => retries.inc(),
    answered: (protocol, operation, outcome, ms) => answers.observe({ protocol, operation, outcome }, ms / 1000),
    loaded: () => loads.inc(),
    passivated: (actors) => passivations.inc(actors),
    fenced: () => fenced.inc(),
    published: (events) => published.inc(events),
    received: (events) => received.inc(events),
    readFromLog: (events) => read.inc(events),
    shardsTaken: (shards, crashed) => taken.inc({ reason: crashed ? 'crashed' : 'free' }, shards),
    shardsHandedOver: (shards) => handedOver.inc(shards),
    shardsLost: (shards) => lost.inc(shards),
  };
}
