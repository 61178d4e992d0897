import { describe, expect, it } from 'vitest'
import { CHUNK_CHARS_MAX, chunksOf } from '../../../../../marketplace/chat/voice/chunks.ts'

const WORDS = 'of some words that say nothing '

describe('a text in pieces', () => {
  it('is one where it is short, and none where there is nothing', () => {
    expect(chunksOf('A sentence. Another.')).toEqual(['A sentence. Another.'])
    expect(chunksOf('x'.repeat(CHUNK_CHARS_MAX))).toHaveLength(1)
    expect(chunksOf('')).toEqual([])
  })

  it('is cut where the last sentence ends that fits', () => {
    const first = `${'A sentence here. '.repeat(50)}And one more? `
    const second = `This one, ${WORDS.repeat(10)}ends here.`
    expect(chunksOf(first + second)).toEqual([first, second])
  })

  it('is cut where a clause ends where no sentence does', () => {
    const clause = `${WORDS.repeat(20)}and more, `
    const rest = WORDS.repeat(20).trim()
    expect(chunksOf(clause + rest)).toEqual([clause, rest])
  })

  it('is cut where a word ends where no clause does', () => {
    const [first, second] = chunksOf(WORDS.repeat(40)) as [string, string]
    expect(first.endsWith(' ')).toBe(true)
    expect(first.length).toBeGreaterThan(CHUNK_CHARS_MAX - 10)
    expect(second.startsWith(' ')).toBe(false)
  })

  it('is cut between words that have no blanks between them', () => {
    const thai = 'ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน'.repeat(60)
    const chunks = chunksOf(thai)
    const words = new Set(
      Array.from(new Intl.Segmenter('th', { granularity: 'word' }).segment(thai), ({ index }) => index),
    )
    let at = 0
    for (const chunk of chunks.slice(0, -1)) {
      at += chunk.length
      expect(words.has(at)).toBe(true)
    }
    expect(chunks.length).toBeGreaterThan(2)
  })

  it('is cut where sentences end in other scripts', () => {
    const first = '这是一个句子。'.repeat(146)
    expect(chunksOf(`${first}还有一个句子。`)).toEqual([first, '还有一个句子。'])
  })

  it('keeps letters of several parts whole', () => {
    const family = '👩‍👩‍👧‍👦'
    for (const chunk of chunksOf(family.repeat(300))) expect(chunk.length % family.length).toBe(0)
  })

  it('keeps pairs whole even in a letter that is longer than a piece', () => {
    const chunks = chunksOf(`a${'\u{1D165}'.repeat(2_000)}`)
    expect(chunks.every((chunk) => chunk.isWellFormed() && chunk.length <= CHUNK_CHARS_MAX)).toBe(true)
  })
})
