const RETRY_AFTER_MS_MAX = 3_600_000

/**
 * The pause in a `Retry-After` header, in seconds or as a date (RFC 9110, 10.2.3), at most an hour; 0 if there is none.
 */
export function retryAfterMs(header: string | null): number {
  if (header === null) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.min(RETRY_AFTER_MS_MAX, Math.max(0, ms)) : 0
}
