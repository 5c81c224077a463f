// Tests the rules of the simulation: what one part takes bounds the rate, nothing is free, and more machines never accept less.
import fc from 'fast-check';
import type { Constants } from '../../../bench/scaling/constants.js';
import { CONSTANTS, OBSERVED } from '../../../bench/scaling/measured.js';
import { type Setting, simulate } from '../../../bench/scaling/simulation.js';
import { runs } from '../../support/amounts.js';
import test from '../../support/test.js';

const NOTHING: Constants = {
  ...CONSTANTS,
  message: { node: 0, database: 0 },
  statement: { node: 0, database: 0 },
  words: { node: 0, database: 0 },
  remote: { gateway: 0, owner: 0, nats: 0, database: 0, isStoredFirst: false },
  client: 0,
  flush: 0,
  heartbeats: [{ nodes: 1, node: 0, database: 0 }],
  idle: { node: 0, database: 0 },
  ping: { node: 0, nats: 0 },
};
const ONE: Setting = { nodes: 1, clients: 10, messages: 5_000, databaseCores: 4, natsCores: 2 };

const rate = (constants: Partial<Constants>, setting: Partial<Setting> = {}) =>
  simulate({ ...NOTHING, ...constants }, { ...ONE, ...setting }).rate;

const isNear = (actual: number, expected: number) => Math.abs(actual / expected - 1) < 0.03;

test('an event loop does one thing at a time, PostgreSQL one on each core', (t) => {
  t.true(isNear(rate({ message: { node: 100, database: 0 } }), 10_000));
  const database = { message: { node: 0, database: 400 } };
  // A node has one statement under way, so one node keeps one core busy.
  t.true(isNear(rate(database), 2_500));
  t.true(isNear(rate(database, { nodes: 4, clients: 200 }), 10_000));
  t.true(isNear(rate(database, { nodes: 8, clients: 400 }), 10_000));
});

test('programs of one machine share its cores', (t) => {
  const constants = { message: { node: 100, database: 100 }, words: { node: 50, database: 50 }, client: 20 };
  const outcome = simulate({ ...NOTHING, ...constants }, { ...ONE, nodes: 3, clients: 60, sharedCores: 2 });
  t.true(isNear(outcome.rate, (2 / 320) * 1e6));
});

test('what arrives during a statement and its flush shares the next one', (t) => {
  const constants = { flush: 1_000, message: { node: 1, database: 1 } };
  const alone = simulate({ ...NOTHING, ...constants }, { ...ONE, clients: 1, messages: 500 });
  t.is(alone.statements, 1);
  t.true(isNear(alone.rate, 1e6 / 1_002));
  const many = simulate({ ...NOTHING, ...constants }, { ...ONE, clients: 40 });
  t.true(many.statements < 1 / 15 && many.statements >= 1 / 128);
});

test('a message whose mailbox is on another node takes what crossing takes, (N − 1) of N times', (t) => {
  const remote = { gateway: 100, owner: 100, nats: 0, database: 0, isStoredFirst: false };
  const constants = { message: { node: 100, database: 0 }, remote };
  t.true(isNear(rate(constants, { nodes: 1 }), 10_000));
  t.true(isNear(rate(constants, { nodes: 2, clients: 400, messages: 20_000 }), (2 / 200) * 1e6));
  t.true(isNear(rate(constants, { nodes: 4, clients: 800, messages: 40_000 }), (4 / 250) * 1e6));
  const bus = { message: { node: 1, database: 0 }, remote: { ...remote, gateway: 0, owner: 0, nats: 100 } };
  t.true(isNear(rate(bus, { nodes: 2, clients: 100, messages: 20_000 }), 2 * (2 / 100) * 1e6));
});

test('a message that is stored first takes a statement more', (t) => {
  const remote = { gateway: 0, owner: 0, nats: 0, database: 0, isStoredFirst: true };
  const constants = { statement: { node: 0, database: 500 }, remote };
  const setting = { nodes: 2, clients: 1, messages: 1_000 };
  // Every other message is for the node that takes it in.
  t.true(isNear(simulate({ ...NOTHING, ...constants }, { ...ONE, ...setting }).statements, 1.5));
});

test('heartbeats and pings take their share', (t) => {
  const heartbeats = [{ nodes: 1, node: 250_000, database: 0 }];
  const setting = { messages: 40_000 };
  t.true(isNear(rate({ message: { node: 100, database: 0 }, heartbeats }, setting), 7_500));
});

test('nobody accepts more than the busiest part allows, and no part works more than all the time', (t) => {
  const cost = fc.integer({ min: 1, max: 500 });
  const constants = fc.record({
    message: fc.record({ node: cost, database: cost }),
    statement: fc.record({ node: cost, database: cost }),
    remote: fc.record({ gateway: cost, owner: cost, nats: cost, database: cost, isStoredFirst: fc.boolean() }),
    flush: cost,
  });
  const property = fc.property(constants, fc.integer({ min: 1, max: 5 }), (some, nodes) => {
    const { rate, busy } = simulate({ ...NOTHING, ...some }, { ...ONE, nodes, clients: nodes * 8, messages: 2_000 });
    const all = Object.values(busy).every((share) => share >= 0 && share <= 1.000_001);
    // The first measured messages may have been in work before.
    return all && rate <= (nodes / some.message.node) * 1e6 * 1.1;
  });
  t.notThrows(() => fc.assert(property, { numRuns: runs(40) }));
});

test('the same setting has the same outcome', (t) => {
  const setting = { ...ONE, nodes: 3, clients: 60 };
  t.deepEqual(simulate(CONSTANTS, setting), simulate(CONSTANTS, setting));
});

test('the simulation reproduces what a message was measured to take with one and three nodes, within 20 %', (t) => {
  t.true(OBSERVED.length >= 2);
  for (const { name, setting, micros: measured } of OBSERVED) {
    const simulated = simulate(CONSTANTS, setting).micros;
    t.true(Math.abs(simulated / measured - 1) <= 0.2, `${name}: ${simulated.toFixed(0)}, measured ${measured}`);
  }
});
