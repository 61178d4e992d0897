import { describe, expect, it } from 'vitest'
import {
  completed,
  historyChars,
  splitConversation,
  withoutCode,
} from '../../../../../marketplace/chat/ensemble/compression.ts'

const CODE = '```js\nconst rate = 3.14159\n```'
const turn = (role: string, content: unknown) => ({ role, content })

/** A conversation of turns with 1,000 characters each. */
function talk(turns: number) {
  return Array.from({ length: turns }, (_, i) => turn(i % 2 === 0 ? 'user' : 'assistant', `${i} `.padEnd(1_000, 'x')))
}

describe('a long conversation', () => {
  it('is measured without instructions and without the last question', () => {
    const messages = [turn('system', 's'.repeat(500)), ...talk(4), turn('user', 'q'.repeat(900))]
    expect(historyChars(messages)).toBe(4_000)
  })

  it('keeps instructions and the last turns as they are', () => {
    const system = turn('system', 'Be brief.')
    const question = turn('user', 'And now?')
    const messages = [system, ...talk(30), turn('developer', 'Use metres.'), question]
    const { fixed, pieces, kept } = splitConversation(messages, 24_000)
    expect(fixed).toEqual([system])
    expect(kept.at(-1)).toBe(question)
    expect(kept.length).toBeGreaterThanOrEqual(8)
    expect(kept).toEqual(messages.slice(-kept.length))
    expect(pieces[0]?.turns[0]).toEqual({ role: 'user', text: talk(1)[0]?.content })
    for (const { turns } of pieces) {
      const chars = turns.reduce((sum, { text }) => sum + text.length, 0)
      expect(chars).toBeLessThanOrEqual(6_000)
    }
  })

  it('keeps messages with images', () => {
    const image = turn('user', [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }])
    const { fixed } = splitConversation([image, ...talk(30), turn('user', 'What was on it?')], 24_000)
    expect(fixed).toEqual([image])
  })

  it('summarises in larger pieces where it is very long, and never larger than the model can read', () => {
    const piecesOf = (chars: number) => splitConversation([...talk(300), turn('user', 'So?')], chars).pieces
    expect(piecesOf(24_000)[0]?.turns.length).toBeGreaterThan(12)
    expect(piecesOf(3_000)[0]?.turns.length).toBeLessThanOrEqual(3)
  })

  it('cuts what is too long for a piece, and no character in two', () => {
    const long = '👋'.repeat(20_000)
    const { pieces, kept } = splitConversation([turn('user', long), ...talk(10), turn('user', 'So?')], 24_000)
    const texts = pieces.flatMap(({ turns }) => turns.map(({ text }) => text))
    expect(texts.every((text) => text.isWellFormed())).toBe(true)
    expect(texts.join('').startsWith(long)).toBe(true)
    expect(kept.some(({ content }) => content === long)).toBe(false)
  })

  it('is told from another one by every word', () => {
    const keys = (first: string) =>
      splitConversation([turn('user', first.padEnd(5_000, '.')), ...talk(20), turn('user', '?')], 24_000).pieces.map(
        ({ key }) => key,
      )
    const [one, other] = [keys('a'), keys('b')]
    expect(one.length).toBeGreaterThan(1)
    expect(one.some((key) => other.includes(key))).toBe(false)
    expect(keys('a')).toEqual(one)
  })
})

describe('what a summary must not lose', () => {
  const turns = [{ role: 'user', text: `Set the rate to 42,500 by 2026-11-05.\n${CODE}\nand mind port 8443` }]

  it('puts code back where the model left its sign', () => {
    const bare = withoutCode(turns)
    expect(bare.turns[0]?.text).toBe('Set the rate to 42,500 by 2026-11-05.\n[code 1]\nand mind port 8443')
    const whole = completed('Rate 42,500 by 2026-11-05: [code 1] port 8443 [code 1] [code 7]', bare)
    expect(whole).toBe(`Rate 42,500 by 2026-11-05: \n${CODE}\n port 8443 [code 1] [code 7]`)
  })

  it('adds code and numbers that the model left out', () => {
    const whole = completed('They spoke about a rate.', withoutCode(turns))
    expect(whole).toContain(CODE)
    for (const number of ['42,500', '2026-11-05', '8443']) expect(whole).toContain(number)
  })

  it('leaves code that is too long, or has no end, to the model', () => {
    const endless = [{ role: 'user', text: 'see\n```\nnever closed' }]
    expect(withoutCode(endless)).toEqual({ turns: endless, blocks: [] })
    const large = [{ role: 'user', text: `\`\`\`\n${'x'.repeat(20_000)}\n\`\`\`` }]
    expect(withoutCode(large)).toEqual({ turns: large, blocks: [] })
  })
})
