import type { WeatherReport } from '../../../marketplace/ports/providers.ts'

/** Where a forecast is for: degrees with two decimals, about a kilometre, and the timezone where that is known. */
export interface Spot {
  readonly lat: number
  readonly lon: number
  /** IANA name. */
  readonly timezone: string | null
}

/** Weather of a spot. */
export interface Forecast extends Omit<WeatherReport, 'place'> {
  /** IANA name; null where it is not told. */
  readonly timezone: string | null
  /** When the provider was asked for it: some want their answers to be used for a while. */
  readonly askedMs: number
}

/** Days of a forecast. */
export const DAYS = 3
/** Weather that is further from now than this is not that of now. */
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

/** With one decimal. */
export function tenths(value: number): number {
  return Number(value.toFixed(1))
}
