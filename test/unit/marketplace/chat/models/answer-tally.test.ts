import { describe, expect, it } from 'vitest'
import { AnswerTally } from '../../../../../marketplace/chat/models/answer-tally.ts'
import { estimatedTokens } from '../../../../../marketplace/chat/models/tokens.ts'

const WORDS = `data:image/png;base64,${'every word of it is counted. '.repeat(400)}`
const BYTES = Buffer.alloc(60_000, 'farthing').toString('base64')

function tokensOf(...said: readonly Readonly<Record<string, unknown>>[]): number {
  const tally = new AnswerTally()
  for (const one of said) tally.take(one)
  return tally.tokens
}

describe('the tokens of an answer', () => {
  it.each([
    ['content', { content: WORDS }],
    ['parts of its content', { content: [{ type: 'text', text: WORDS }] }],
    ['content that is a list of texts', { content: [WORDS] }],
    ['refusal', { refusal: WORDS }],
    ['thoughts', { reasoning_content: WORDS }],
    ['other thoughts', { reasoning: WORDS }],
    ['details of thoughts', { reasoning_details: [{ type: 'reasoning.text', text: WORDS }] }],
    ['arguments of a tool', { tool_calls: [{ index: 0, function: { arguments: WORDS } }] }],
    ['arguments of a tool as an object', { tool_calls: [{ index: 0, function: { arguments: { data: WORDS } } }] }],
    ['transcript of a sound', { audio: { transcript: WORDS } }],
    ['a field of its own', { house_words: WORDS }],
    ['an address that has no data', { images: [{ image_url: { url: `https://a.example/${WORDS}` } }] }],
    ['an address with words as data', { images: [{ image_url: { url: `data:,${WORDS}` } }] }],
  ])('see words that begin as data do: %s', (_, said) => {
    expect(tokensOf(said)).toBeGreaterThan(estimatedTokens(WORDS) * 0.9)
  })

  it('see words whose pieces begin so', () => {
    const pieces = Array.from({ length: 100 }, (_, i) => ({ content: `data: and then some more words of day ${i}. ` }))
    const text = pieces.map(({ content }) => content).join('')
    expect(tokensOf(...pieces)).toBe(estimatedTokens(text))
  })

  it.each([
    ['a sound', { audio: { id: 'sound', data: BYTES } }],
    ['a picture', { images: [{ b64_json: BYTES }] }],
    [
      'a picture at an address',
      { images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${BYTES}` } }] },
    ],
    ['in capitals', { images: [{ image_url: { url: `DATA:image/png;charset=x;BASE64,${BYTES}` } }] }],
    ['a picture of no kind', { images: [{ image_url: { url: `data:;base64,${BYTES}` } }] }],
  ])('are few where bytes come: %s', (_, said) => {
    expect(tokensOf(said)).toBeGreaterThanOrEqual(BYTES.length / 1_000)
    expect(tokensOf(said)).toBeLessThan(BYTES.length / 500)
  })
})
