// The line for a terminal that sends an email to an account by SMTP.

const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/**
 * `mx`: `host:port` of the server that accepts mail; undefined when none does. `pageHost`: where the page is. On the machine itself mail is
 * accepted there too, while the name of the machine may lead elsewhere.
 */
export function sendingLine(mx: string | undefined, email: string, pageHost: string): string | undefined {
  if (mx === undefined) return undefined;
  const address = LOOPBACK.test(pageHost) ? `${pageHost}${mx.slice(mx.lastIndexOf(':'))}` : mx;
  // printf has its own meaning for % and \.
  const to = email.replaceAll(/[%\\]/g, '$&$&');
  const message = `From: you@example.org\\r\\nTo: ${to}\\r\\nSubject: Hello\\r\\n\\r\\nIt works.\\r\\n`;
  return `printf ${quoted(message)} | curl -sS smtp://${address} --mail-from you@example.org --mail-rcpt ${quoted(email)} -T -`;
}

/** As one word of a shell. */
function quoted(text: string): string {
  return /^[\w@.+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
