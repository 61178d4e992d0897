import { afterAll, describe, expect, it } from 'vitest'
import type { EngineTasks } from '../../../marketplace/ports/engines.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'
import { HOSTILE_FEEDS, HOSTILE_PAGES } from '../../support/pages/hostile.ts'

const NEVER = new AbortController().signal
const ENDINGS = ['output', 'engine/refused', 'engine/killed']
const pool = new EnginePool(2)
afterAll(() => pool.close())

type PageTask = 'page/article' | 'page/meta' | 'page/feed'

async function endingOf(task: PageTask, text: string): Promise<string> {
  const bytes = new Uint8Array(Buffer.from(text))
  const input = { bytes, mediaType: 'text/html', charset: 'utf-8', url: 'https://a.example/', itemsMax: 50 }
  const result = await pool.run(task, input as EngineTasks[PageTask]['input'] as never, NEVER)
  return result.ok ? 'output' : result.fault.code
}

/** Reads a harmless page, to show that the engines still work. */
async function expectWork(): Promise<void> {
  expect(await endingOf('page/article', '<p>hello')).toBe('output')
}

describe('a hostile page', () => {
  it.each(Object.keys(HOSTILE_PAGES))('of %s ends, and the engines go on', async (name) => {
    const text = HOSTILE_PAGES[name]?.() ?? ''
    expect(ENDINGS).toContain(await endingOf('page/article', text))
    expect(ENDINGS).toContain(await endingOf('page/meta', text))
    expect(ENDINGS).toContain(await endingOf('page/feed', text))
    await expectWork()
  })

  it('does not fail its neighbours', async () => {
    const hostile = Object.values(HOSTILE_PAGES).slice(0, 8)
    const [endings, good] = await Promise.all([
      Promise.all(hostile.map((text) => endingOf('page/article', text()))),
      Promise.all(hostile.map(() => endingOf('page/article', '<title>t</title><p>hello'))),
    ])
    expect(endings.filter((ending) => !ENDINGS.includes(ending))).toEqual([])
    expect(good).toEqual(hostile.map(() => 'output'))
  })
})

describe('a hostile feed', () => {
  it.each(Object.keys(HOSTILE_FEEDS))('of %s ends, and the engines go on', async (name) => {
    expect(ENDINGS).toContain(await endingOf('page/feed', HOSTILE_FEEDS[name]?.() ?? ''))
    await expectWork()
  })

  it('reveals nothing about this machine', async () => {
    const text =
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>a&x;b</title></channel></rss>'
    const bytes = new Uint8Array(Buffer.from(text))
    const input = { bytes, mediaType: 'application/xml', charset: null, url: 'https://a.example/', itemsMax: 50 }
    expect(JSON.stringify(await pool.run('page/feed', input, NEVER))).not.toContain('root:')
  })
})
