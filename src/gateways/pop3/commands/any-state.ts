// CAPA (RFC 2449) and LANG (RFC 6856 §3).
import type { Pop3Command } from '../command.js';
import { err, list, ok } from '../replies.js';
import type { Pop3Session } from '../session.js';

const LANGUAGE = 'en English';

/** `capabilities` returns the lines that CAPA lists. */
export const anyStateCommands = (capabilities: (session: Pop3Session) => readonly string[]): readonly Pop3Command[] => [
  {
    name: 'CAPA',
    states: ['authorization', 'transaction'],
    takes: [0, 0],
    run: (session) => list('Capabilities follow', capabilities(session)),
  },
  {
    name: 'LANG',
    states: ['authorization', 'transaction'],
    takes: [0, 1],
    run(_, [tag]) {
      if (tag === undefined) return list('Languages follow', [LANGUAGE]);
      // `*` asks for the default. Texts of a wider range (`en-US`) are in English too.
      return tag === '*' || /^en(-|$)/i.test(tag) ? ok(LANGUAGE) : err('Texts are in English alone');
    },
  },
];
