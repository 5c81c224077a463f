// What TLS with a mail host resulted in, in the words of RFC 8460 §4.3, for the reports to its domain.
import type { ReportedPolicy, TlsResult, TlsResultType } from '../../store/feedback/own-tls-reports.js';
import type { StsPolicy } from '../../store/sts-policies.js';
import { allowsHost } from './sts-policy.js';

/** Counts results. It must not throw. */
export interface TlsResults {
  /** `domain`: the domain of the recipients, which has the policy. */
  add(domain: string, result: TlsResult): void;
}

/** How a connection to a host was encrypted. */
export interface TlsNegotiation {
  readonly host: string;
  readonly address: string;
  /** False when the connection is not encrypted, or not used because of that. */
  readonly isEncrypted: boolean;
  /** Code of the fault: of the certificate, or of the handshake; `NO_STARTTLS`; undefined where there is none, or it has no code. */
  readonly fault: string | undefined;
}

/** The host does not offer STARTTLS, or refuses it. */
export const NO_STARTTLS = 'NO_STARTTLS';

/** The reason for a host that the policy does not name. */
const NOT_IN_POLICY = 'mx-not-in-policy';
/** Reported patterns of MX hosts; a policy may have 1,000. */
const MOST_MX = 20;
/** Codes of OpenSSL and Node.js for certificates that are refused. */
const UNTRUSTED =
  /^(?:UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|CERT_(?:UNTRUSTED|REJECTED|REVOKED|SIGNATURE_FAILURE|CHAIN_TOO_LONG|NOT_YET_VALID)$|INVALID_(?:CA|PURPOSE)$)/;

/** `policy`: undefined without one. */
export function negotiated(policy: StsPolicy | undefined, negotiation: TlsNegotiation): TlsResult {
  const { host, address } = negotiation;
  const result = resultOf(policy, negotiation);
  const { fault } = negotiation;
  const isOwnWord = result === 'success' || fault === NO_STARTTLS;
  const reason = isOwnWord ? null : (fault ?? (negotiation.isEncrypted ? NOT_IN_POLICY : null));
  return { ...reported(policy), host, address, result, reason };
}

/** The result for a host that an enforced policy keeps from the mail. */
export function notInPolicy(policy: StsPolicy, host: string): TlsResult {
  return { ...reported(policy), host, address: null, result: 'validation-failure', reason: NOT_IN_POLICY };
}

/** `code`: of the connection to the host of the policy; undefined where a policy cannot be read. */
export function policyFault(result: 'sts-policy-invalid' | 'sts-policy-fetch-error', code?: string): TlsResult {
  const isCertificate = certificateResult(code) !== undefined;
  return {
    policyType: 'sts',
    policy: null,
    host: null,
    address: null,
    result: isCertificate ? 'sts-webpki-invalid' : result,
    reason: code ?? null,
  };
}

function resultOf(policy: StsPolicy | undefined, { host, isEncrypted, fault }: TlsNegotiation): TlsResultType {
  if (fault === NO_STARTTLS) return 'starttls-not-supported';
  if (!isEncrypted) return certificateResult(fault) ?? 'validation-failure';
  if (policy === undefined || policy.mode === 'none') return 'success';
  if (fault !== undefined) return certificateResult(fault) ?? 'validation-failure';
  return allowsHost(policy, host) ? 'success' : 'validation-failure';
}

function certificateResult(code: string | undefined): TlsResultType | undefined {
  if (code === 'CERT_HAS_EXPIRED') return 'certificate-expired';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH') return 'certificate-host-mismatch';
  return code !== undefined && UNTRUSTED.test(code) ? 'certificate-not-trusted' : undefined;
}

function reported(policy: StsPolicy | undefined): Pick<TlsResult, 'policyType' | 'policy'> {
  if (policy === undefined || policy.mode === 'none') return { policyType: 'no-policy-found', policy: null };
  const { mode, mx, maxAge = null } = policy;
  const text: ReportedPolicy = { mode, mx: mx.slice(0, MOST_MX), maxAge };
  return { policyType: 'sts', policy: text };
}
