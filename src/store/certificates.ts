// Port: the certificates that the cluster has obtained by ACME from one directory, the account there, and the lease of the node that requests.
// One node at a time requests; its lease has an epoch, and a write with an old epoch does nothing (as for shards, decision 0003).

/** A certificate that nodes serve. */
export interface ServedCertificate {
  /** Undefined: the certificate of the deployment's own names. */
  readonly domain: string | undefined;
  readonly names: readonly string[];
  /** PEM. */
  readonly chain: string;
  readonly privateKey: string;
}

/** Times are ms since the epoch, by the clock of the database. */
export interface CertificateState {
  /** Undefined: the deployment's own names. */
  readonly domain: string | undefined;
  /** The names of the certificate; none while there is no certificate. */
  readonly names: readonly string[];
  readonly notAfter: number | undefined;
  readonly renewalId: string | undefined;
  readonly renewAt: number | undefined;
  /** When the authority may be asked about the renewal again. */
  readonly askAt: number;
  /** When the certificate is looked at next. */
  readonly nextAt: number;
  /** Failed requests in a row. */
  readonly failures: number;
  /** The last failure, while there has been no success after it. */
  readonly error: { readonly type: string; readonly detail: string } | undefined;
  /** The names of the last request. */
  readonly tried: readonly string[];
}

/** What a node looks at often. */
export interface CertificateLook {
  /** Rises with each new certificate. */
  readonly revision: number;
  readonly isDue: boolean;
  /** The number of certificates whose last request failed. */
  readonly failing: number;
  /** The type of the failure for the deployment's own names. */
  readonly ownFailure: string | undefined;
  /** When the first certificate of a domain ends; undefined without one. */
  readonly domainsEnd: number | undefined;
}

export interface RequestLease {
  readonly nodeId: string;
  readonly epoch: number;
  /** The key of the account: PKCS #8, PEM. */
  readonly privateKey: string;
  /** The URL of the account; undefined before it is registered. */
  readonly account: string | undefined;
}

/** The certificate that a request gave. */
export interface ObtainedCertificate extends Omit<ServedCertificate, 'domain'> {
  readonly notAfter: number;
  readonly renewalId: string | undefined;
  readonly renewAt: number;
  readonly askAt: number;
  readonly nextAt: number;
}

export interface RequestFailure {
  readonly type: string;
  readonly detail: string;
  readonly tried: readonly string[];
  readonly nextAt: number;
}

export interface CertificateStore {
  look(now: number): Promise<CertificateLook>;
  /** The certificates that came after this revision. */
  changed(revision: number): Promise<readonly ServedCertificate[]>;
  /** All certificates, the deployment's own first. */
  states(): Promise<readonly CertificateState[]>;
  /** Certificates to look at now, the deployment's own first; a domain without a row is due. */
  due(now: number, most: number): Promise<readonly CertificateState[]>;
  /**
   * A node starts, for which operators mend what has failed: requests that have failed three times are due at once, unless the authority wants
   * a pause. So are the deployment's own names if the last request was for others.
   */
  nodeStarts(names: readonly string[], now: number): Promise<void>;
  /** The answers to open challenges by token. */
  authorizations(): Promise<ReadonlyMap<string, string>>;

  /** `newKey` is the key of the account if there is none yet. Returns undefined while another node has the lease. */
  acquire(nodeId: string, ttlMs: number, newKey: () => string): Promise<RequestLease | undefined>;
  /** The following return false when the lease is lost. */
  extend(lease: RequestLease, ttlMs: number): Promise<boolean>;
  release(lease: RequestLease): Promise<boolean>;
  keepAccount(lease: RequestLease, url: string): Promise<boolean>;
  publish(lease: RequestLease, token: string, authorization: string): Promise<boolean>;
  keep(lease: RequestLease, domain: string | undefined, certificate: ObtainedCertificate): Promise<boolean>;
  failed(lease: RequestLease, domain: string | undefined, failure: RequestFailure): Promise<boolean>;
  schedule(
    lease: RequestLease,
    domain: string | undefined,
    times: { readonly nextAt: number; readonly renewAt?: number | undefined; readonly askAt?: number | undefined },
  ): Promise<boolean>;
}
