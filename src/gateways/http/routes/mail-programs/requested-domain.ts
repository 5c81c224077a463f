// The domain that the host of a request names, such as example.org in `mta-sts.example.org:443`.

/** The host in lower case, without port and final dot. */
export function requestedHost(host: string | undefined): string | undefined {
  return host?.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
}

/** Undefined when the host does not begin with the prefix. */
export function prefixedDomain(host: string | undefined, prefix: string): string | undefined {
  const name = requestedHost(host);
  return name?.startsWith(prefix) === true ? name.slice(prefix.length) : undefined;
}
