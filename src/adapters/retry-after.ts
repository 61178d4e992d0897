const RETRY_AFTER_MS_MAX = 3_600_000

/** Milliseconds, at most an hour. The header holds seconds or a date (RFC 9110, 10.2.3). */
export function retryAfterMs(header: string | null): number {
  if (header === null) return 0
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.min(RETRY_AFTER_MS_MAX, Math.max(0, ms)) : 0
}
