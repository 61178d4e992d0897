const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  UND_ERR_SOCKET: 'the connection broke off',
  ETIMEDOUT: 'no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'the name system does not answer',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself alone',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by no authority that this machine knows',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by no authority that this machine knows',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
}

/** Why `fetch` or undici got no answer, in words. */
export function connectionWords(error: unknown): string {
  const { cause = error } = error as { readonly cause?: unknown }
  const { code = '' } = (cause ?? {}) as { readonly code?: string }
  return WORDS[code] ?? (code === '' ? 'the connection broke off' : code)
}
