// A self-signed certificate of mx.example.test for tests that need TLS; its private key is public, so it proves nothing.

import { CertificateSource } from '../src/net/tcp/certificate-source.js';

export const certificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBjDCCATGgAwIBAgIUK0Eo0t8viT6322JRj83RpxxsoHYwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPbXguZXhhbXBsZS50ZXN0MCAXDTI2MTEyMTEzMjc0OFoYDzIx
MjYxMDI4MTMyNzQ4WjAaMRgwFgYDVQQDDA9teC5leGFtcGxlLnRlc3QwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQ5olSjm/z5CbVtREanKaLyoKA0tYukUtuFEZ8G
zx62FiRxaTve2CKRESpb4Xu4XFzIa7mLiZtx+IDmQL94srvTo1MwUTAdBgNVHQ4E
FgQUWp31JwYFp8FkcQf2I4NcDtY6iXUwHwYDVR0jBBgwFoAUWp31JwYFp8FkcQf2
I4NcDtY6iXUwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA35SU
65t+BQMpMyYI82A6XVKpT939LqXsiIyFkus+sOICIQDUNHHza5JfxLjj7ZrNhppc
6qb2O50/7gf4yZP5x9hF3A==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgg9LHmf5UEuWPUOu3
TeVX2r+JqLZz6OR+AVgTh+oc6DihRANCAAQ5olSjm/z5CbVtREanKaLyoKA0tYuk
UtuFEZ8Gzx62FiRxaTve2CKRESpb4Xu4XFzIa7mLiZtx+IDmQL94srvT
-----END PRIVATE KEY-----
`,
};

/** The certificate source of listeners. */
export const certificates = new CertificateSource([certificate]);
