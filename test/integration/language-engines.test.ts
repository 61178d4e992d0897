import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guessLanguage } from '../../marketplace/services/texts/language.ts'
import { usableSentences } from '../../marketplace/services/texts/sentences.ts'
import { EnginePool } from '../../src/workers/engine-pool.ts'

const never = new AbortController().signal

const of = (length: number, make: (i: number) => string): string => Array.from({ length }, (_, i) => make(i)).join('')

/** Texts that cost a careless engine the most, each as long as a service takes. */
const WORST: readonly (readonly [string, (chars: number) => string])[] = [
  ['one word', (chars) => 'a'.repeat(chars)],
  ['no punctuation', (chars) => of(chars / 10, (i) => `word${i % 977} `).slice(0, chars)],
  ['every word another one', (chars) => of(chars / 4, (i) => `w${i} `).slice(0, chars)],
  ['sentences of one letter', (chars) => 'A.'.repeat(chars / 2)],
  ['sentences of one letter and space', (chars) => 'A. '.repeat(chars / 3)],
  ['short sentences, all different', (chars) => of(chars / 12, (i) => `Go see n${i}. `).slice(0, chars)],
  [
    'long sentences, all alike',
    (chars) => of(chars / 300, (i) => `${'The ba da ga ka la ma '.repeat(13)}${i}. `).slice(0, chars),
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
    // Texts without sentences are refused, which is not the end of the process.
    if (!summary.ok)
      expect(summary.fault).toMatchObject({
        code: 'engine/refused',
        detail: { reason: expect.stringContaining('sentences') },
      })
    expect(mood).toMatchObject({ ok: true })
    expect(subjects).toMatchObject({ ok: true })
  })

  it('are looked at before a quote without the whole of them being read', () => {
    for (const [, make] of WORST) {
      const text = make(100_000)
      expect(guessLanguage(text)).toEqual(guessLanguage(text.slice(0, 2_000)))
      expect(usableSentences(text, 3).length).toBeLessThanOrEqual(3)
    }
  })

  it('tell what they find', async () => {
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
})
