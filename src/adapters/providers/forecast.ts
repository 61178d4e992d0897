import type { WeatherReport } from '../../../marketplace/ports/providers.ts'

/** Degrees with two decimals (about a kilometre). */
export interface Spot {
  readonly lat: number
  readonly lon: number
  /** IANA name. */
  readonly timezone: string | null
}

/** Weather at a spot. */
export interface Forecast extends Omit<WeatherReport, 'place'> {
  /** IANA name; null if the provider does not say. */
  readonly timezone: string | null
  /** Some providers require that an answer is reused for a while: this is when they were asked. */
  readonly askedMs: number
}

/** Days of a forecast. */
export const DAYS = 3
/** Data further from now is not current weather. */
export const NOW_MS_MAX = 2 * 3_600_000
/** Most bytes of a provider's answer. */
export const FORECAST_BYTES_MAX = 1_048_576

/** Whether this machine knows the timezone. */
export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** Rounds to one decimal. */
export function tenths(value: number): number {
  return Number(value.toFixed(1))
}
