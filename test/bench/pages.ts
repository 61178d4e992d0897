import type { PageBody } from '../../marketplace/ports/page-tasks.ts'
import { EnginePool } from '../../src/workers/engine-pool.ts'
import { type BenchRow, factRow, valueRow } from './report.ts'

const RUNS = 15
const WARM_UP = 5
const PAGE_GOAL_MS = 800
const PAGE_BYTES = 1_000_000
const FEED_ITEMS = 500
const SENTENCE =
  'The repairs took <b>eight months</b> longer than planned, said <a href="/people/quill">Jo Quill</a> of the works office, and cost nearly twice the first estimate. '

/** Work on pages as services order it: in warm processes, transport included. Each figure is a median. */
export async function benchPages(): Promise<readonly BenchRow[]> {
  const pool = new EnginePool(1)
  const signal = new AbortController().signal
  const page = body(articlePage(), 'text/html')
  const feed = { ...body(feedOf(FEED_ITEMS), 'application/rss+xml'), itemsMax: 50 }
  const head = body(articlePage().slice(0, 20_000), 'text/html')
  try {
    const article = await median(async () => (await pool.run('page/article', page, signal)).ok)
    const items = await median(async () => (await pool.run('page/feed', feed, signal)).ok)
    const meta = await median(async () => (await pool.run('page/meta', head, signal)).ok)
    return [
      valueRow('a page of 1 MB as text and markdown, warm', article, 'ms', { most: PAGE_GOAL_MS }),
      factRow(`a feed of ${FEED_ITEMS} items, warm`, `${items.toFixed(1)} ms`),
      factRow('metadata of a page, warm', `${meta.toFixed(1)} ms`),
    ]
  } finally {
    await pool.close()
  }
}

async function median(work: () => Promise<boolean>): Promise<number> {
  const tookMs: number[] = []
  for (let run = 0; run < RUNS + WARM_UP; run += 1) {
    const beganMs = performance.now()
    if (!(await work())) throw new Error('the work failed')
    if (run >= WARM_UP) tookMs.push(performance.now() - beganMs)
  }
  return tookMs.sort((a, b) => a - b)[Math.floor(RUNS / 2)] as number
}

function body(text: string, mediaType: string): PageBody {
  return { bytes: new Uint8Array(Buffer.from(text)), mediaType, charset: 'utf-8', url: 'https://news.example/a/' }
}

/** An article among a menu, scripts, teasers and comments. */
function articlePage(): string {
  const menu = Array.from(
    { length: 200 },
    (_, i) => `<li class="menu-item"><a href="/section/${i}">Section ${i}</a></li>`,
  )
  const teaser = '<div class="teaser"><a href="/x"><img src="/i.jpg" alt=""><span>Another story</span></a></div>'
  const article = Array.from(
    { length: 300 },
    (_, i) => `<p>${SENTENCE.repeat(4)}</p>${i % 10 === 0 ? '<h2>Part</h2>' : ''}`,
  )
  const comment = `<div class="comment"><div class="meta">A. Reader</div><p>${SENTENCE}</p></div>`
  const script = `<script>${'window.x = 1; '.repeat(15_000)}</script>`
  const head = `<head><title>Harbour bridge reopens</title><meta property="og:title" content="Bridge">${script}</head>`
  const frame = `<body><nav><ul>${menu.join('')}</ul></nav><article>${article.join('')}</article>${teaser.repeat(300)}`
  const page = `<!doctype html><html lang="en">${head}${frame}`
  const comments = Math.ceil((PAGE_BYTES - page.length) / comment.length)
  return `${page}${comment.repeat(Math.max(0, comments))}</body></html>`
}

function feedOf(items: number): string {
  const item = (n: number): string =>
    `<item><title>Story ${n}</title><link>https://news.example/${n}</link><guid>https://news.example/${n}</guid><pubDate>Thu, 19 Nov 2026 08:30:00 GMT</pubDate><description>${SENTENCE.replaceAll('<', '&lt;').repeat(3)}</description></item>`
  const all = Array.from({ length: items }, (_, n) => item(n)).join('')
  return `<rss version="2.0"><channel><title>News</title><link>https://news.example/</link>${all}</channel></rss>`
}
