// Stand-in until the merge: the mail engineer's file of this path wins. Trace fields (RFC 5321 §4.4), each with its
// closing CRLF.

export interface Received {
  /** As the peer called itself. */
  readonly helo: string;
  readonly remoteAddress: string;
  readonly hostName: string;
  /** RFC 3848 keyword, for example ESMTPS. */
  readonly protocol: string;
  readonly id: string;
  /** The one recipient; absent when there are several. */
  readonly recipient?: string | undefined;
  readonly date: Date;
}

export function receivedLine(hop: Received): string {
  const to = hop.recipient === undefined ? '' : `\r\n\tfor <${hop.recipient}>`;
  const date = hop.date.toUTCString().replace('GMT', '+0000');
  const literal = hop.remoteAddress.includes(':') ? `IPv6:${hop.remoteAddress}` : hop.remoteAddress;
  return `Received: from ${hop.helo} ([${literal}])\r\n\tby ${hop.hostName} with ${hop.protocol} id ${hop.id}${to};\r\n\t${date}\r\n`;
}

export function returnPathLine(sender: string): string {
  return `Return-Path: <${sender}>\r\n`;
}
