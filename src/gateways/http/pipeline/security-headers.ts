// Header fields of every reply, whichever part of the server makes it: browsers must not sniff or frame anything served here and, because
// it is an API, not render it. Routes that serve foreign bytes add stricter fields (routes/attachment-reply).
import type { HeaderField } from '../exchange.js';

export const SECURITY_HEADERS: readonly HeaderField[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

export const API_POLICY: HeaderField = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];
