/** Key of the certificate below; it is worth nothing anywhere else. */
export const WORLD_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnlBQ3TdBAnk6V8VN
+YrQYhyNEloESDsFAZMjFm32xcGhRANCAATmi3Ettdb87TZw9Lr62krnEZ5Qbscf
k6sxch+yS452UtGnKMyxq4L1Kzd5aO/aCPmEbIlD1g5CKjVJfdOPVH9d
-----END PRIVATE KEY-----
`

/** Certificate for `news.example`, `safe.example`, `other.example`, `shop.example` and hosts below `web.example`, signed by itself. */
export const WORLD_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIB5TCCAYqgAwIBAgIUFF58Ayd57mhoFfZaVrGS3daDv1YwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRYSBsaXR0bGUgaW50ZXJuZXQwIBcNMjYxMTIyMDY0NzU1WhgP
MjEyNjEwMjkwNjQ3NTVaMBwxGjAYBgNVBAMMEWEgbGl0dGxlIGludGVybmV0MFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5otxLbXW/O02cPS6+tpK5xGeUG7HH5Or
MXIfskuOdlLRpyjMsauC9Ss3eWjv2gj5hGyJQ9YOQio1SX3Tj1R/XaOBpzCBpDAd
BgNVHQ4EFgQUvrlJVEcLuor7I4tUj3ZDLEZ4siswHwYDVR0jBBgwFoAUvrlJVEcL
uor7I4tUj3ZDLEZ4siswDwYDVR0TAQH/BAUwAwEB/zBRBgNVHREESjBIgg0qLndl
Yi5leGFtcGxlggxuZXdzLmV4YW1wbGWCDHNhZmUuZXhhbXBsZYINb3RoZXIuZXhh
bXBsZYIMc2hvcC5leGFtcGxlMAoGCCqGSM49BAMCA0kAMEYCIQDuS7c5/f5QaMt6
KWPOde0Huai9pjr6+1wZM615tzpZfAIhAKthdxhZhVFJMxdFPMLspRG6QZ9EnW3a
XPp0Rajs8S1t
-----END CERTIFICATE-----
`
