// The addresses of this deployment: those that DNS has for the names that it tells clients and other servers.
import { addressesOf, type DoctorSubject, hostOfAddress, sendingHosts } from '../subject.js';

export async function ownAddresses(subject: DoctorSubject): Promise<ReadonlySet<string>> {
  const { connectionInfo, mxAddress, apiUrl } = subject.records.endpoints;
  const { smtp, imap, pop3 } = connectionInfo;
  const hosts = new Set([
    ...sendingHosts(subject),
    ...[smtp, imap, pop3].map(({ serverName }) => serverName),
    ...(mxAddress === undefined ? [] : [hostOfAddress(mxAddress)]),
    ...(apiUrl === undefined ? [] : [new URL(apiUrl).hostname]),
  ]);
  const answers = await Promise.all([...hosts].map((host) => addressesOf(subject.dns, host)));
  return new Set(answers.flatMap((answer) => (answer.kind === 'found' ? answer.records : [])));
}
