import type { NodeApi } from '../node/node-api.ts'
import { escapeMarkup, urlInText } from './plain-text.ts'

/** What is closed changes all the time and is not worth a crawl. */
export function robotsText(baseUrl: string): string {
  return [
    'User-agent: *',
    'Allow: /',
    'Allow: /api/v1/info',
    'Disallow: /api/v1/',
    'Disallow: /api/tx',
    'Disallow: /metrics',
    '',
    `Sitemap: ${urlInText(baseUrl)}/sitemap.xml`,
    '',
  ].join('\n')
}

/** Lists unavailable services, too. */
export function sitemap({ market, chat }: NodeApi, baseUrl: string): string {
  const services = market?.shop.offers.map(({ definition }) => `/agents/${definition.serviceId}`) ?? []
  const pages = ['/', '/agents', ...(chat == null ? [] : ['/chat'])]
  const urls = [...pages, ...services].map((path) => `<url><loc>${escapeMarkup(baseUrl + path)}</loc></url>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('\n')}
</urlset>
`
}
