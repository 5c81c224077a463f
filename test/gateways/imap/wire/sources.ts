// Makes a command source over a connection in memory, with small limits, and describes what it returns in words.
import { DEFAULT_LIMITS } from '../../../../src/gateways/imap/limits.js';
import {
  CommandSource,
  type CommandStream,
  type ReceivedCommand,
} from '../../../../src/gateways/imap/wire/command-source.js';
import type { MemoryPort } from './memory-port.js';

export const LIMITS = {
  ...DEFAULT_LIMITS,
  commandOctets: 300,
  unauthenticatedCommandOctets: 60,
  literalOctets: 100,
};
export const MAX_MESSAGE = 500;

export interface Login {
  isLoggedIn?: boolean;
}

export function sourceOf(port: MemoryPort, { isLoggedIn = true }: Login = {}): CommandSource {
  return new CommandSource(port, {
    limits: LIMITS,
    maxMessageSize: MAX_MESSAGE,
    isStream: (name) => isLoggedIn && (name === 'APPEND' || name === 'REPLACE'),
    isLoggedIn: () => isLoggedIn,
    isUtf8: () => false,
    hold: () => true,
  });
}

export function shown(received: ReceivedCommand): string {
  switch (received.kind) {
    case 'command':
      return `${received.tag} ${received.isUid ? 'UID ' : ''}${received.name}`;
    case 'stream':
      return `${received.tag} ${received.name} …`;
    case 'refused':
      return `${received.tag} ${received.completion.status} ${received.completion.code ?? ''}`.trimEnd();
    case 'lost':
      return `BYE ${received.code}`;
  }
}

export async function streamOf(source: CommandSource): Promise<CommandStream> {
  const received = await source.next();
  if (received?.kind !== 'stream') throw new Error(`got ${received?.kind}`);
  return received.stream;
}

export async function octetsOf(stream: CommandStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream.literal().chunks) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}
