import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ok } from '../../../consensus/primitives/result.ts'
import type { WebPage, WebReader } from '../../../marketplace/ports/web.ts'
import { guessLanguage } from '../../../marketplace/services/text/language.ts'
import { usableSentences } from '../../../marketplace/services/text/sentences.ts'
import { EnginePool } from '../../../src/workers/engine-pool.ts'
import { outsideOf } from '../../support/outside.ts'
import { emptyServiceChain } from '../../support/service-chain.ts'
import { resultOf } from '../../support/service-results.ts'
import { webPage } from '../../support/text-services.ts'

function webOf(page: WebPage): WebReader {
  return {
    readiness: () => ({ available: true, engine: 'web' }),
    check: (text) => ok(new URL(text)),
    read: async () => ok(page),
  }
}

const never = new AbortController().signal

const of = (length: number, make: (i: number) => string): string => Array.from({ length }, (_, i) => make(i)).join('')

/** Texts that are most expensive for a careless engine, each as long as a service accepts. */
const WORST: readonly (readonly [string, (chars: number) => string])[] = [
  ['one word', (chars) => 'a'.repeat(chars)],
  ['no punctuation', (chars) => of(chars / 7, (i) => `word${i % 977} `).slice(0, chars)],
  ['every word another one', (chars) => of(chars / 4, (i) => `w${i} `).slice(0, chars)],
  ['sentences of one letter', (chars) => 'A.'.repeat(chars / 2)],
  ['sentences of one letter and space', (chars) => 'A. '.repeat(chars / 3)],
  ['short sentences, all different', (chars) => of(chars / 12, (i) => `Go see n${i}. `).slice(0, chars)],
  [
    'long sentences, all alike',
    (chars) => of(chars / 250, (i) => `${'The ba da ga ka la ma '.repeat(13)}${i}. `).slice(0, chars),
  ],
  ['names', (chars) => 'Tim Berlin Google '.repeat(chars / 18)],
  ['full stops', (chars) => '.'.repeat(chars)],
  ['brackets', (chars) => '('.repeat(chars)],
  ['a letter after brackets', (chars) => `${'('.repeat(chars - 1)}a`],
  ['apostrophes', (chars) => "a'".repeat(chars / 2)],
  ['dashes', (chars) => '-a'.repeat(chars / 2)],
  ['broken lines', (chars) => 'a\nb'.repeat(chars / 3)],
  ['empty lines', (chars) => '\n'.repeat(chars)],
  ['flames', (chars) => '\u{1f525}'.repeat(chars / 2)],
  ['marks on one letter', (chars) => `a${'\u0301'.repeat(chars - 1)}`],
  [
    'initials without spaces, then a name',
    (chars) => `${'AA.'.repeat(chars / 3 - 20)} Tim. ${'The river rose. It fell. '.repeat(2)}`,
  ],
  ['titles', (chars) => 'Dr. '.repeat(chars / 4)],
  ['short forms of streets', (chars) => 'St '.repeat(chars / 3)],
  ['short forms that hyphens join', (chars) => 'st St-'.repeat(chars / 6)],
  ['numbers', (chars) => '12.5 '.repeat(chars / 5)],
]

describe('engines for texts, in a process of their own', () => {
  let pool: EnginePool
  beforeAll(() => {
    pool = new EnginePool(1)
  })
  afterAll(() => pool.close())

  it.for(WORST)('get done within their limits: %s', async ([, make]) => {
    const [summary, mood, subjects] = [
      await pool.run('text/summary', { text: make(100_000) }, never),
      await pool.run('text/mood', { text: make(10_000) }, never),
      await pool.run('text/subjects', { text: make(50_000) }, never),
    ]
    // Texts without sentences are refused, but the process survives.
    if (!summary.ok)
      expect(summary.fault).toMatchObject({
        code: 'engine/refused',
        detail: { reason: expect.stringContaining('sentences') },
      })
    expect(mood).toMatchObject({ ok: true })
    expect(subjects).toMatchObject({ ok: true })
  })

  it('are checked before a quote without reading them whole', () => {
    for (const [, make] of WORST) {
      const text = make(100_000)
      expect(guessLanguage(text)).toEqual(guessLanguage(text.slice(0, 2_000)))
      expect(usableSentences(text, 3).length).toBeLessThanOrEqual(3)
    }
  })

  it('return what they find', async () => {
    const text = 'Farthing is a wonderful chain. Agents in Berlin pay in its coin. A service that fails is refunded.'
    expect(await pool.run('text/summary', { text }, never)).toMatchObject({
      ok: true,
      value: { keyPoints: { length: 3 } },
    })
    expect(await pool.run('text/mood', { text }, never)).toMatchObject({ ok: true, value: { sentiment: 'positive' } })
    expect(await pool.run('text/subjects', { text }, never)).toMatchObject({
      ok: true,
      value: { entities: [{ text: 'Berlin', type: 'place' }] },
    })
  })
  it('shorten a page to sentences of the page', async () => {
    const sentences = [
      'The river flooded the old town of Aller on Monday night.',
      'Firefighters pumped the water out of two hundred cellars.',
      'The mayor said that the flood was the worst in forty years.',
      'Experts say that the flood came so quickly because the river was narrowed.',
    ]
    const html = `<!doctype html><title>Flood</title><nav><a href="/">Home of the daily news</a></nav><article><h1>Flood</h1>
      ${sentences.map((sentence) => `<p>${sentence}</p>`).join('')}</article><script>alert('The script is not to be read.')</script>`
    const page = webPage({ body: new TextEncoder().encode(html) })
    const { context } = await emptyServiceChain()
    const outside = outsideOf({ engines: pool, web: webOf(page) })
    const result = await resultOf<{ readonly tldr: string; readonly keyPoints: readonly string[] }>(
      'node-summarize',
      page.url,
      { ...context, outside },
    )
    expect(result).toMatchObject({ engine: 'extractive-textrank', source: { url: page.finalUrl } })
    for (const sentence of [result.tldr, ...result.keyPoints]) expect(sentences).toContain(sentence)
  })
})
