// The line for a terminal that sends an email to an account by SMTP.

const LOOPBACK = /^(?:localhost|127\.[\d.]+|\[::1\])$/;

/**
 * `mx`: `host:port` of the server that accepts mail; undefined when none does. `pageHost`: where the page is. On the machine itself mail is
 * accepted there too, while the name of the machine may lead elsewhere.
 */
export function sendingLine(mx: string | undefined, email: string, pageHost: string): string | undefined {
  if (mx === undefined) return undefined;
  const address = LOOPBACK.test(pageHost) ? `${pageHost}${mx.slice(mx.lastIndexOf(':'))}` : mx;
  const header = `From: you@example.org\\r\\nTo: ${email}\\r\\nSubject: Hello\\r\\n`;
  return `printf '${header}\\r\\nIt works.\\r\\n' | curl -sS smtp://${address} --mail-from you@example.org --mail-rcpt ${quoted(email)} -T -`;
}

/** As one word of a shell. */
function quoted(text: string): string {
  return /^[\w@.+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
