/** Attributions that licences require, by the type in a database. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^GeoLite2/i, 'This product includes GeoLite2 data created by MaxMind, available from https://www.maxmind.com'],
  [/^GeoIP2/i, 'GeoIP2 data by MaxMind, https://www.maxmind.com'],
  [/^DBIP/i, 'IP Geolocation by DB-IP, https://db-ip.com'],
  [/ipinfo/i, 'IP address data powered by IPinfo, https://ipinfo.io'],
  [
    / ipv(4|6|All)$/i,
    'ip-location-db, https://github.com/sapics/ip-location-db, made from data of the NRO, https://www.nro.net (CC BY 4.0)',
  ],
]

/** An unknown database is named by its type. */
export function attributionOf(types: readonly string[]): string {
  const words = types.map((type) => WORDS.find(([pattern]) => pattern.test(type))?.[1] ?? `database "${type}"`)
  return [...new Set(words)].join('; ')
}
