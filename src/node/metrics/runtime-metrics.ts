// Implements the runtime's meter with prom-client: requests and replies, actors, events, shards.
import type { Meter } from '../../actors/runtime/meter.js';
import type { Families } from './families.js';

export function runtimeMeter(families: Families): Meter {
  const answers = families.latency(
    'actor_request_duration_seconds',
    'Commands and queries that reached actors of this node, until their reply.',
    ['protocol', 'operation', 'outcome'],
  );
  const asks = families.latency(
    'ask_duration_seconds',
    'Requests of this node to actors, until the reply; owner: local (this node) or remote.',
    ['protocol', 'owner', 'outcome'],
  );
  const retries = families.counter(
    'ask_retries_total',
    'Requests that found no owner and looked for it again; rises while shards move.',
  );
  const loads = families.counter('actor_loads_total', 'Actors activated.');
  const passivations = families.counter('actor_passivations_total', 'Idle actors that were passivated.');
  const fenced = families.counter(
    'actor_fenced_total',
    'Activations and commits refused because a later owner has the account.',
  );
  const published = families.counter('events_published_total', 'Events published after commits.');
  const received = families.counter(
    'events_received_total',
    'Events received from NATS or the process for followed accounts.',
  );
  const read = families.counter(
    'events_read_total',
    'Events that followers read from the log because they had missed them.',
  );
  const taken = families.counter(
    'shards_taken_total',
    'Shards taken; reason: free, or crashed for those of a crashed owner.',
    ['reason'],
  );
  const handedOver = families.counter('shards_handed_over_total', 'Shards handed over to other nodes.');
  const lost = families.counter(
    'shards_lost_total',
    'Shards that other nodes took because the lease of this node had run out.',
  );
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
