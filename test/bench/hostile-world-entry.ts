import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { WebWorld, type WorldHost } from '../support/web-world.ts'
import { KINDS, PER_KIND } from './hostile-kinds.ts'

/** Hostile servers in their own process. It writes their addresses to standard output as one line. */

const MIB = 1_048_576
const BOMB = gzipSync(Buffer.alloc(200 * MIB), { level: 9 })

function html(body: string): RequestListener {
  const page = gzipSync(`<!doctype html><title>a page</title><body>${body}`)
  return (_request, response) =>
    response.setHeader('content-type', 'text/html').setHeader('content-encoding', 'gzip').end(page)
}

const drip: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'text/html')
  const timer = setInterval(() => response.write('<p>a'), 5)
  response.once('close', () => clearInterval(timer))
}

const PAGES: Readonly<Record<(typeof KINDS)[number], RequestListener>> = {
  bomb: (_request, response) =>
    response.setHeader('content-type', 'text/html').setHeader('content-encoding', 'gzip').end(BOMB),
  drip,
  nested: html('<div>'.repeat(50_000)),
  tables: html('<table><tr><td>'.repeat(20_000)),
  flat: html('<i>a</i>'.repeat(212_000)),
  attributes: html(`<p ${Array.from({ length: 100_000 }, (_, index) => `a${index}=b`).join(' ')}>a`),
  unclosed: html(`<a href="${'x<'.repeat(500_000)}`),
  circle: (request, response) => response.writeHead(302, { location: `/${Number(request.url?.slice(1)) + 1}` }).end(),
  inner: (_request, response) => response.writeHead(302, { location: 'http://[::ffff:169.254.169.254]/' }).end(),
  robots: (request, response) =>
    response.end(request.url === '/robots.txt' ? `User-agent: *\n${'Disallow: /*a*b*c*d\n'.repeat(25_000)}` : 'a'),
}

const hosts: Record<string, WorldHost> = {}
for (const kind of KINDS) for (let i = 0; i < PER_KIND; i++) hosts[`${kind}-${i}.example`] = { pages: PAGES[kind] }
const world = await WebWorld.open(hosts)
process.stdout.write(`${JSON.stringify(world.plan)}\n`)
