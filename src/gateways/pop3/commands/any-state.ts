// CAPA (RFC 2449) and LANG (RFC 6856 §3).
import type { Command } from '../command.js';
import { err, list, ok } from '../replies.js';
import type { Session } from '../session.js';

const LANGUAGE = 'en English';

/** `capabilities`: what CAPA lists. */
export const anyStateCommands = (capabilities: (session: Session) => readonly string[]): readonly Command[] => [
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
      // `*` is the default; texts of a wider range (`en-US`) are in English too.
      return tag === '*' || /^en(-|$)/i.test(tag) ? ok(LANGUAGE) : err('Texts are in English alone');
    },
  },
];
