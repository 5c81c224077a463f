// Tests the MTA-STS policy over HTTP: one host for each hosted domain, and nothing elsewhere.
import { request } from 'node:http';
import type { ExecutionContext } from 'ava';
import test from '../../../../support/test.js';
import { startGateway } from '../../gateway.js';

const POLICY = 'version: STSv1\r\nmode: testing\r\nmx: mail.example.test\r\nmax_age: 86400\r\n';

async function answers(t: ExecutionContext, stsPolicy: string | undefined) {
  const { port } = await startGateway(t, { advertised: { stsPolicy } });
  return (host: string) =>
    new Promise<string>((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', path: '/.well-known/mta-sts.txt', headers: { host } });
      asked.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => {
          const { statusCode, headers } = response;
          resolve(statusCode === 200 ? `${headers['content-type']} ${text}` : String(statusCode));
        });
      });
      asked.on('error', reject).end();
    });
}

test('the policy is at the host of a hosted domain alone', async (t) => {
  const ask = await answers(t, POLICY);
  for (const host of ['mta-sts.example.test', 'MTA-STS.Example.Test:443', 'mta-sts.example.test.'])
    t.is(await ask(host), `text/plain; charset=utf-8 ${POLICY}`, host);
  for (const host of ['example.test', 'mta-sts.elsewhere.test', 'mta-sts.', 'autoconfig.example.test'])
    t.is(await ask(host), '404', host);
});

test('no policy, no document', async (t) => {
  const ask = await answers(t, undefined);
  t.is(await ask('mta-sts.example.test'), '404');
});
