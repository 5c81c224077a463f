// The domain whose subdomains share a bound.

/**
 * Names the registered domain, nearly: subdomains of one owner share a bound. A country's second level, such as `co.uk`, is taken for a
 * suffix when it is short.
 */
export function ownerDomain(domain: string): string {
  const labels = domain.split('.');
  const [second = '', top = ''] = labels.slice(-2);
  return labels.slice(top.length === 2 && second.length <= 3 ? -3 : -2).join('.');
}
