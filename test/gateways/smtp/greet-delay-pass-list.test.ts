// Tests which clients get their banner at once: those of networks that mail was accepted from. The timers of the delay are those of the test,
// so that no busy machine decides who is first.
import type { ExecutionContext } from 'ava';
import { GreetDelayPassList } from '../../../src/gateways/smtp/greet-delay-pass-list.js';
import { DEFAULT_LIMITS } from '../../../src/gateways/smtp/limits.js';
import { TrustedNetworks } from '../../../src/net/tcp/trusted-networks.js';
import { SmtpClient } from '../../support/clients/smtp-client.js';
import { v1 } from '../../support/proxy-protocol.js';
import test from '../../support/test.js';
import { until } from '../../support/until.js';
import { listen } from './listener.js';

/** No other timer has this duration. */
const GREET_DELAY_MS = 654_321;

/** Holds the timers of the delay back until `end`; other timers run as ever. */
function heldDelays(t: ExecutionContext) {
  const { setTimeout: run } = globalThis;
  const waiting: (() => void)[] = [];
  const held = (...timer: Parameters<typeof run>) => {
    const [callback, ms] = timer;
    if (ms !== GREET_DELAY_MS) return run(...timer);
    waiting.push(callback);
    return { unref() {} };
  };
  Object.assign(globalThis, { setTimeout: held });
  t.teardown(() => Object.assign(globalThis, { setTimeout: run }));
  return {
    get count() {
      return waiting.length;
    },
    end() {
      for (const callback of waiting.splice(0)) callback();
    },
  };
}

/** Asserts that the first client has its banner while the second one waits for the end of the delay. */
async function assertAtOnce(
  t: ExecutionContext,
  delays: ReturnType<typeof heldDelays>,
  known: SmtpClient,
  unknown: SmtpClient,
): Promise<void> {
  await until(() => known.pending + unknown.pending + delays.count === 2);
  t.deepEqual([known.pending, unknown.pending, delays.count], [1, 0, 1]);
  t.is((await known.reply()).code, 220);
  delays.end();
  t.is((await unknown.reply()).code, 220);
}

test.serial('a network that mail was accepted from has no delay, one whose message was refused has it', async (t) => {
  const delays = heldDelays(t);
  const { address } = await listen(t, { limits: { greetDelayMs: GREET_DELAY_MS } });
  const greeted = [SmtpClient.greeted(address), SmtpClient.greeted(address, '127.0.0.2')];
  await until(() => delays.count === 2);
  delays.end();
  const [accepted, refused] = await Promise.all(greeted);
  t.is((await accepted!.send('', ['alice@example.test'], 'x: y\r\n')).code, 250);
  t.is((await refused!.send('', ['alice@example.test'], 'x: y\n\r\n')).code, 550);
  const unknown = await SmtpClient.connect(address, '127.0.0.2');
  await assertAtOnce(t, delays, await SmtpClient.connect(address), unknown);
});

test.serial('mail that was accepted of one client behind a proxy lets that client alone have no delay', async (t) => {
  const delays = heldDelays(t);
  const trusted = new TrustedNetworks(['127.0.0.0/8']);
  const limits = { greetDelayMs: GREET_DELAY_MS, proxyHeaderMs: 60_000 };
  const { address } = await listen(t, { trusted, limits });
  const connect = async (clientAddress: string) => {
    const client = await SmtpClient.connect(address);
    client.write(v1(clientAddress));
    return client;
  };
  const first = await connect('203.0.113.7');
  await until(() => delays.count === 1);
  delays.end();
  await first.reply();
  await first.command('EHLO client.test');
  t.is((await first.send('a@peer.test', ['alice@example.test'], 'Subject: x\r\n\r\nhi')).code, 250);
  const unknown = await connect('203.0.113.8');
  await assertAtOnce(t, delays, await connect('203.0.113.7'), unknown);
});

test.serial('networks that mail was accepted from: a bounded number, for a bounded time', async (t) => {
  const limits = { ...DEFAULT_LIMITS, greetDelayMs: 100, passListNetworks: 2 };
  const passList = new GreetDelayPassList(limits);
  t.is(passList.delayOf('192.0.2.1'), 100);
  for (const address of ['192.0.2.1', '192.0.2.2', '2001:db8::1']) passList.add(address);
  t.deepEqual(
    ['192.0.2.1', '192.0.2.2', '2001:db8::2'].map((address) => passList.delayOf(address)),
    [100, 0, 0],
  );
  t.is(new GreetDelayPassList({ ...limits, greetDelayMs: 0 }).delayOf('192.0.2.1'), 0);
  const forgetful = new GreetDelayPassList({ ...limits, passListMs: 5 });
  forgetful.add('192.0.2.1');
  await until(() => forgetful.delayOf('192.0.2.1') > 0);
});
