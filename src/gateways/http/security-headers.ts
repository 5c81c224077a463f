// Header fields of every reply, whichever part of the server made it: nothing served here is to be sniffed, framed or, being an
// API, rendered. Routes that serve foreign bytes tighten them (routes/attachments).
import type { HeaderField } from './exchange.js';

export const SECURITY_HEADERS: readonly HeaderField[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

export const API_POLICY: HeaderField = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];
