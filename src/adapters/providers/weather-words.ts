/** https://open-meteo.com/en/docs, "WMO Weather interpretation codes". */
const WMO: Readonly<Record<number, string>> = {
  0: 'clear sky',
  1: 'mainly clear',
  2: 'partly cloudy',
  3: 'overcast',
  45: 'fog',
  48: 'depositing rime fog',
  51: 'light drizzle',
  53: 'moderate drizzle',
  55: 'dense drizzle',
  56: 'light freezing drizzle',
  57: 'dense freezing drizzle',
  61: 'slight rain',
  63: 'moderate rain',
  65: 'heavy rain',
  66: 'light freezing rain',
  67: 'heavy freezing rain',
  71: 'slight snowfall',
  73: 'moderate snowfall',
  75: 'heavy snowfall',
  77: 'snow grains',
  80: 'slight rain showers',
  81: 'moderate rain showers',
  82: 'violent rain showers',
  85: 'slight snow showers',
  86: 'heavy snow showers',
  95: 'thunderstorm',
  96: 'thunderstorm with slight hail',
  99: 'thunderstorm with heavy hail',
}

/** A weather code of the WMO in words. */
export function wmoWords(code: number): string {
  return WMO[code] ?? `weather code ${code}`
}

const SKIES: Readonly<Record<string, string>> = {
  clearsky: 'clear sky',
  fair: 'fair',
  partlycloudy: 'partly cloudy',
  cloudy: 'cloudy',
  fog: 'fog',
}
/** Two of the codes have a superfluous s. */
const FALLING = /^(?:(light|heavy)s?)?(rain|sleet|snow)(showers)?(andthunder)?$/

/**
 * MET Norway's symbol codes (https://github.com/metno/weathericons, "legends"). The suffix only tells day from night.
 */
export function symbolWords(code: string): string {
  const plain = code.replace(/_(day|night|polartwilight)$/, '')
  const sky = SKIES[plain]
  if (sky !== undefined) return sky
  const [, force = '', what = '', showers, thunder] = FALLING.exec(plain) ?? []
  if (what === '') return plain
  const words = [force, what, showers === undefined ? '' : 'showers', thunder === undefined ? '' : 'and thunder']
  return words.filter((word) => word !== '').join(' ')
}
